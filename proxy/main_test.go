package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

// server is the MariaDB that all tests of this package share; each test has a schema of its own.
var server *mariadbtest.Instance

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if server, err = mariadbtest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	_ = server.Stop()
	// Every goroutine is awaited by what started it, so none may be left.
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// house is a proxy under test and the schema behind it.
type house struct {
	*proxy.Server
	schema string
}

// options are the choices that tests bend.
type options struct {
	proxy.Options
}

func newHouse(t testing.TB, size int, bend ...func(*options)) *house {
	t.Helper()
	schema := schemaName(t)
	direct := open(t, server.DSN(""))
	exec(t, direct, "CREATE DATABASE "+schema)
	t.Cleanup(func() { exec(t, open(t, server.DSN("")), "DROP DATABASE IF EXISTS "+schema) })
	o := options{proxy.Options{
		Config:      proxy.DefaultConfig(),
		Users:       []proxy.User{{Name: mariadbtest.User, Password: mariadbtest.Password}},
		Backend:     proxy.DefaultBackendConfig(),
		Pool:        pool.DefaultConfig(),
		Attribution: attribution.DefaultConfig(),
		Log:         slog.New(slog.NewTextHandler(io.Discard, nil)),
	}}
	if testing.Verbose() {
		o.Log = slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	o.Config.Listen = "127.0.0.1:0"
	o.Backend.Address = server.Addr()
	o.Pool.Size = size
	for _, b := range bend {
		b(&o)
	}
	s, err := proxy.New(o.Options)
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
	return &house{s, schema}
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	return len(p), nil
}

var schemas int

func schemaName(testing.TB) string {
	schemas++
	return fmt.Sprintf("t%d", schemas)
}

// dsn is how go-sql-driver connects through the proxy.
func (h *house) dsn(bend ...func(*mysql.Config)) string {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = mariadbtest.User, mariadbtest.Password, "tcp", h.Addr().String(), h.schema
	c.AllowNativePasswords = true
	for _, b := range bend {
		b(c)
	}
	return c.FormatDSN()
}

func open(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// client is one connection through the proxy.
func (h *house) client(t testing.TB, bend ...func(*mysql.Config)) *sql.Conn {
	t.Helper()
	return conn(t, open(t, h.dsn(bend...)))
}

func conn(t testing.TB, db *sql.DB) *sql.Conn {
	t.Helper()
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// backendIDSQL tells the server's own id of the connection that it runs on, if nobody else asks.
const backendIDSQL = "SELECT ID FROM information_schema.processlist WHERE INFO LIKE 'SELECT ID FROM%'"

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

type queryer interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func exec(t testing.TB, c execer, q string, args ...any) sql.Result {
	t.Helper()
	r, err := c.ExecContext(context.Background(), q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return r
}

func value(t testing.TB, c queryer, q string, args ...any) string {
	t.Helper()
	var v sql.NullString
	if err := c.QueryRowContext(context.Background(), q, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	if !v.Valid {
		return "NULL"
	}
	return v.String
}

func expect(t testing.TB, c queryer, want, q string, args ...any) {
	t.Helper()
	if got := value(t, c, q, args...); got != want {
		t.Errorf("%s: got %q, want %q", q, got, want)
	}
}

// closeHard closes the connection itself, where Close only gives it back to its sql.DB.
func closeHard(t testing.TB, c any) {
	t.Helper()
	err := c.(*sql.Conn).Raw(func(driver any) error { return driver.(io.Closer).Close() })
	if err != nil {
		t.Fatal(err)
	}
}
