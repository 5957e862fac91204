package mariadbtest

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func scalar(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var s string
	if err := db.QueryRow(query).Scan(&s); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return s
}

func TestRunGivesWhatTheOptionsAskFor(t *testing.T) {
	i := Run(t,
		WithFlags("--max-connections=33"),
		WithDatabase("shop", "odd`name"),
		WithUser("buyer", `pa'ss\word`),
		WithSQL("CREATE TABLE shop.cart (id INT PRIMARY KEY)", "INSERT INTO shop.cart VALUES (7)"),
	)
	if got := scalar(t, open(t, i.DSN("shop")), "SELECT id FROM cart"); got != "7" {
		t.Errorf("cart holds %s, want 7", got)
	}
	for query, want := range map[string]string{
		"SELECT @@max_connections":    "33",
		"SELECT @@max_allowed_packet": "67108864",
		"SELECT @@local_infile":       "1",
		"SELECT @@skip_name_resolve":  "1",
		"SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'odd`name'": "1",
	} {
		if got := scalar(t, open(t, i.DSN("")), query); got != want {
			t.Errorf("%s = %s, want %s", query, got, want)
		}
	}
	buyer := mysql.NewConfig()
	buyer.User, buyer.Passwd, buyer.Net, buyer.Addr = "buyer", `pa'ss\word`, "unix", i.Socket()
	if got := scalar(t, open(t, buyer.FormatDSN()), "SELECT CURRENT_USER()"); got != "buyer@%" {
		t.Errorf("logged in as %s, want buyer@%%", got)
	}
}

func TestLargeValuesFitThroughTheSmallLog(t *testing.T) {
	i := Run(t, WithDatabase("shop"))
	db := open(t, i.DSN("shop")+"?maxAllowedPacket=67108864")
	mustExec(t, db, "CREATE TABLE b (v LONGBLOB)")
	const size = 40 << 20
	if _, err := db.Exec("INSERT INTO b VALUES (?)", make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if got := scalar(t, db, "SELECT LENGTH(v) FROM b"); got != "41943040" {
		t.Errorf("length %s, want %d", got, size)
	}
}

func TestCommittedRowsSurviveKillAndRestart(t *testing.T) {
	i := Run(t, WithDatabase("shop"))
	db := open(t, i.DSN("shop"))
	mustExec(t, db, "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
	addr, pid := i.Addr(), i.Pid()

	i.Kill()
	if got := i.Pid(); got != 0 {
		t.Errorf("pid %d after Kill, want 0", got)
	}
	if err := db.Ping(); err == nil {
		t.Error("a killed server answered a ping")
	}
	for range 2 { // once from a crash, once from running
		if err := i.Restart(); err != nil {
			t.Fatal(err)
		}
		if got := scalar(t, db, "SELECT COUNT(*) FROM t"); got != "1" {
			t.Errorf("%s rows after restart, want 1", got)
		}
		if i.Addr() != addr || i.Pid() == pid || i.Pid() == 0 {
			t.Errorf("restarted at %s as %d, want %s and a new pid (was %d)", i.Addr(), i.Pid(), addr, pid)
		}
		pid = i.Pid()
	}
}

func TestStopLeavesNothingBehind(t *testing.T) {
	i, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(i.home.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory %s is still there: %v", i.home.path, err)
	}
	if c, err := net.Dial("tcp", i.Addr()); err == nil {
		_ = c.Close()
		t.Error("something still listens on the server's port")
	}
	if err := i.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	if err := i.Restart(); err == nil {
		t.Error("Restart after Stop gave no error")
	}
}

func TestServersRunSideBySide(t *testing.T) {
	const n = 3
	servers := make(chan *Instance, n)
	for range n {
		go func() {
			i, err := Start()
			if err != nil {
				t.Error(err)
			}
			servers <- i
		}()
	}
	seen := map[string]bool{}
	for range n {
		i := <-servers
		if i == nil {
			continue
		}
		seen[i.Addr()] = true
		if err := i.Stop(); err != nil {
			t.Error(err)
		}
	}
	if len(seen) != n {
		t.Errorf("%d distinct addresses, want %d", len(seen), n)
	}
}

func TestTLSVerifiesAgainstItsOwnCA(t *testing.T) {
	i := Run(t, WithTLS(), WithFlags("--require-secure-transport=ON"))
	tlsConfig, err := i.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := mysql.ParseDSN(i.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	cfg.TLS = tlsConfig
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	var name, cipher string
	if err := db.QueryRow("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher); err != nil || cipher == "" {
		t.Errorf("cipher %q, error %v, want a cipher", cipher, err)
	}
	if err := open(t, i.DSN("")).PingContext(context.Background()); err == nil {
		t.Error("a plain connection was accepted although TLS is required")
	}
}

func TestStartShowsTheLogWhenTheServerRefusesToRun(t *testing.T) {
	_, err := Start(WithFlags("--no-such-flag"))
	if err == nil || !strings.Contains(err.Error(), "unknown option '--no-such-flag'") {
		t.Errorf("error %v, want the server's own words", err)
	}
}

func TestMissingProgramNamesThePackageToInstall(t *testing.T) {
	_, err := findProgram("mariadbd-of-another-age")
	if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "apt-get install mariadb-server") {
		t.Errorf("error %v, want ErrNotInstalled with the command", err)
	}
}
