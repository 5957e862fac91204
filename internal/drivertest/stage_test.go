//go:build e2e

package drivertest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

const (
	schema = "shop"
	other  = "warehouse"
	// poolSize is small enough for two noisy clients to take every backend connection from a script between any two
	// of its statements.
	poolSize = 2
)

// Users whose clients must log in with caching_sha2_password at the proxy. The proxy knows the password of the first and
// of the second only a hash, so the second has to send the whole password, encrypted.
const (
	sha2User   = "sha2"
	hashedUser = "hashed"
	sha2Secret = "pa'ss wörd"
	// sha2Hash is the authentication_string of sha2Secret with the salt "0123456789abcdefghij".
	sha2Hash = "$A$005$0123456789abcdefghijCquLTFWEirBWI3nPClyymIJVqIpmfimHV16iIapicfB"
)

var server *mariadbtest.Instance

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	server, err = mariadbtest.Start(mariadbtest.WithTLS(), mariadbtest.WithDatabase("noise"),
		mariadbtest.WithUser(sha2User, sha2Secret), mariadbtest.WithUser(hashedUser, sha2Secret),
		mariadbtest.WithSQL("CREATE TABLE noise.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT=70000"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = server.Stop() }()
	code := m.Run()
	for _, wrong := range checkReadme() {
		fmt.Fprintln(os.Stderr, wrong)
		code = 1
	}
	return code
}

// raise gives a script the schemas it expects, as they are before anybody has touched them.
func raise(t *testing.T) {
	t.Helper()
	db, err := sql.Open("mysql", server.DSN("")+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	text, err := os.ReadFile("testdata/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatalf("schema.sql: %v", err)
	}
}

// startProxy returns a proxy over the shared server.
func startProxy(t *testing.T) *proxy.Server {
	t.Helper()
	tls := server.TLSFiles()
	o := proxy.Options{
		Config: proxy.DefaultConfig(),
		Users: []proxy.User{
			{Name: server.User, Password: server.Password},
			{Name: sha2User, Password: sha2Secret, AuthPlugin: "caching_sha2_password"},
			{Name: hashedUser, AuthString: sha2Hash, AuthPlugin: "caching_sha2_password",
				BackendUser: hashedUser, BackendPassword: sha2Secret},
		},
		Backend:     proxy.DefaultBackendConfig(),
		Pool:        pool.DefaultConfig(),
		Attribution: attribution.DefaultConfig(),
		Log:         slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if testing.Verbose() {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	o.Config.Listen = "127.0.0.1:0"
	o.Config.TLS = proxy.ClientTLS{Mode: "preferred", CertFile: tls.Cert, KeyFile: tls.Key}
	o.Backend.Address = server.Addr()
	o.Pool.Size = poolSize
	s, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s
}
