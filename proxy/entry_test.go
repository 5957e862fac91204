package proxy_test

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

func TestUserLimitRefusesOneTooManyAndTakesTheNextWhenOneLeaves(t *testing.T) {
	users := loginUsers()[:2]
	users[0].MaxConnections = 2
	h := loginHouse(t, users)
	limited := wiretest.Login{User: users[0].Name, Password: loginSecret}
	first := h.loggedIn(t, limited)
	h.loggedIn(t, limited)
	for range 3 {
		if err := h.raw(t).Login(limited); refusal(err) != 1203 {
			t.Errorf("one too many: got %v, want 1203", err)
		}
	}
	if err := h.raw(t).Login(wiretest.Login{User: users[0].Name, Password: "wrong"}); refusal(err) != 1045 {
		t.Errorf("a wrong password at the limit: got %v, want 1045", err)
	}
	h.loggedIn(t, wiretest.Login{User: users[1].Name, Password: loginSecret})
	_ = first.Close()
	eventually(t, "the place is free", func() bool {
		c := h.raw(t)
		defer c.Close()
		return c.Login(limited) == nil
	})
	if n := h.Snapshot().Connects.Limit; n < 3 {
		t.Errorf("%d refusals by a limit are counted, want 3 or more", n)
	}
}

func TestClientLimitRefusesBeforeTheGreeting(t *testing.T) {
	h := loginHouse(t, loginUsers(), func(o *options) { o.Config.MaxClientConnections = 1 })
	only := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
	if _, err := wiretest.Dial(h.Addr().String()); refusal(err) != 1040 {
		t.Errorf("one too many: got %v, want 1040", err)
	}
	eventually(t, "the refusal is counted", func() bool { return h.Snapshot().Connects == proxy.ConnectCounts{OK: 1, Limit: 1} })
	queryRaw(t, only, "DO 1")
	_ = only.Close()
	eventually(t, "the place is free", func() bool { return h.Snapshot().ClientConnections == 0 })
	h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
}

// Before the greeting neither side knows what the other speaks: servers leave the SQL state out then, and clients
// would print it as part of the message.
func TestRefusalBeforeTheGreetingIsSpelledAsAServersIs(t *testing.T) {
	own := mariadbtest.Run(t, mariadbtest.WithFlags("--max-connections=10"))
	for range 10 {
		conn(t, open(t, own.DSN("")))
	}
	spare, err := wiretest.Dial(own.Addr()) // MariaDB keeps one more for an administrator
	if err == nil {
		defer spare.Close()
	}
	want := firstPacket(t, own.Addr())
	h := loginHouse(t, loginUsers(), func(o *options) { o.Config.MaxClientConnections = 1 })
	h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
	if got := firstPacket(t, h.Addr().String()); got != want {
		t.Errorf("got %q, a server says %q", got, want)
	}
}

func TestConnectionAttributesNameTheFallbackCaller(t *testing.T) {
	h := loginHouse(t, loginUsers())
	cases := []struct {
		want  string
		attrs []wire.Attr
	}{
		{"user:native-plain", nil},
		{"user:native-plain", []wire.Attr{{Name: "_client_name", Value: "libmysql"}, {Name: "program_name", Value: " \x00 "}}},
		{"checkout", []wire.Attr{{Name: "program_name", Value: "checkout"}}},
		{"cart", []wire.Attr{{Name: "program_name", Value: "checkout"}, {Name: "conn_tag", Value: "cart"}}},
		{"_other__", []wire.Attr{{Name: "conn_tag", Value: "__other__"}}},
		{"__invalid__", []wire.Attr{{Name: "conn_tag", Value: "\xff\xfe"}}},
		{strings.Repeat("x", 64), []wire.Attr{{Name: "conn_tag", Value: strings.Repeat("x", 1000)}}},
	}
	for _, c := range cases {
		before := statements(h)
		client := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret, Attrs: c.attrs})
		queryRaw(t, client, "DO 1")
		queryRaw(t, client, "/* conn_tag:tagged */ DO 1")
		after := statements(h)
		if after[c.want] != before[c.want]+1 || after["tagged"] != before["tagged"]+1 {
			t.Errorf("%+v: statements before %v, after %v; want one more of %q and of the tag", c.attrs, before, after, c.want)
		}
	}
	if n := h.Snapshot().Pools[0].Ledger.Folded; n != 0 {
		t.Errorf("%d accounts folded", n)
	}
}

// statements are counted by caller.
func statements(h *house) map[string]uint64 {
	n := map[string]uint64{}
	for _, c := range h.Snapshot().Pools[0].Ledger.Callers {
		n[c.Name] = c.Statements
	}
	return n
}

func TestSchemaOfALoginIsThatOfADirectConnection(t *testing.T) {
	direct := open(t, server.DSN(""))
	exec(t, direct, "CREATE DATABASE IF NOT EXISTS login_secret")
	exec(t, direct, "CREATE USER IF NOT EXISTS nothing IDENTIFIED BY 'nothing'")
	t.Cleanup(func() { exec(t, direct, "DROP DATABASE login_secret"); exec(t, direct, "DROP USER nothing") })
	h := newHouse(t, 1, func(o *options) {
		o.Users = append(o.Users, proxy.User{Name: "nothing", Password: "nothing"})
	})
	for _, schema := range []string{"", "mysql", "nosuch", "login_secret", strings.Repeat("n", 65), "sp ace", "information_schema"} {
		for _, user := range []string{mariadbtest.User, "nothing"} {
			for range 2 { // the second login finds the schema known
				l := wiretest.Login{User: user, Password: user, Schema: schema}
				want, wantErr := schemaOf(t, server.Addr(), l)
				got, err := schemaOf(t, h.Addr().String(), l)
				if got != want || refusal(err) != refusal(wantErr) || (err == nil) != (wantErr == nil) {
					t.Errorf("%s in %q: got %q, %v; want %q, %v", user, schema, got, err, want, wantErr)
				}
			}
		}
	}
	eventually(t, "no lease is out", func() bool { return h.Snapshot().Pools[0].Stat.InUse == 0 })
}

func schemaOf(t testing.TB, addr string, l wiretest.Login) (string, error) {
	t.Helper()
	c, err := wiretest.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Login(l); err != nil {
		return "", err
	}
	return c.Query("SELECT DATABASE()")
}

func TestDefaultSchemaIsForLoginsThatNameNone(t *testing.T) {
	users := loginUsers()[:2]
	users[0].DefaultSchema, users[1].DefaultSchema = "mysql", "nosuch"
	h := loginHouse(t, users)
	login := wiretest.Login{User: users[0].Name, Password: loginSecret}
	if got := queryRaw(t, h.loggedIn(t, login), "SELECT DATABASE()"); got != "mysql" {
		t.Errorf("in %q, want the default schema", got)
	}
	login.Schema = "information_schema"
	if got := queryRaw(t, h.loggedIn(t, login), "SELECT DATABASE()"); got != login.Schema {
		t.Errorf("in %q, want %s", got, login.Schema)
	}
	if err := h.raw(t).Login(wiretest.Login{User: users[1].Name, Password: loginSecret}); refusal(err) != 1049 {
		t.Errorf("an unknown default schema: got %v, want 1049", err)
	}
}

func TestFoundRowsChangesAffectedRowsForItsClientOnly(t *testing.T) {
	h := newHouse(t, 1)
	exec(t, h.client(t), "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	changed := h.client(t)
	found := h.client(t, func(c *mysql.Config) { c.ClientFoundRows = true })
	exec(t, changed, "INSERT INTO t VALUES (1,1),(2,1),(3,1)")
	for range 3 {
		for _, c := range []struct {
			execer
			want int64
		}{{changed, 0}, {found, 3}} {
			for _, args := range [][]any{nil, {1}} { // as text, and prepared
				q := "UPDATE t SET v=1"
				if args != nil {
					q = "UPDATE t SET v=?"
				}
				if got, err := exec(t, c, q, args...).RowsAffected(); err != nil || got != c.want {
					t.Errorf("%s: %d rows affected, %v; want %d", q, got, err, c.want)
				}
			}
		}
	}
}
