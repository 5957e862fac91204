package proxy_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

func TestChangeUserIsALoginOverAgain(t *testing.T) {
	direct := open(t, server.DSN(""))
	exec(t, direct, "CREATE USER IF NOT EXISTS second IDENTIFIED BY 'second'")
	exec(t, direct, "GRANT ALL ON *.* TO second")
	t.Cleanup(func() { exec(t, direct, "DROP USER second") })
	h := newHouse(t, 2, func(o *options) {
		o.Users = append(o.Users, proxy.User{Name: "second", Password: "second"}, proxy.User{Name: "hashed", AuthString: sha2String,
			BackendUser: "second", BackendPassword: "second"})
	})
	for _, plugin := range []string{nativePlugin, sha2Plugin} {
		caps := wiretest.PlainCapabilities | wire.ConnectAttrs
		c := h.loggedIn(t, wiretest.Login{User: mariadbtest.User, Password: mariadbtest.Password, Schema: h.schema, Capabilities: caps})
		id := c.Greeting.ConnectionID
		queryRaw(t, c, "SET @v=1, sql_mode='ANSI_QUOTES'")
		queryRaw(t, c, "CREATE TEMPORARY TABLE temp (id INT)")
		queryRaw(t, c, "BEGIN")
		if err := c.ChangeUser(wiretest.Login{User: "second", Password: "second", Schema: "mysql", Plugin: plugin,
			Attrs: []wire.Attr{{Name: "program_name", Value: "changed"}}}); err != nil {
			t.Fatalf("%s: %v", plugin, err)
		}
		if in := h.Snapshot().Pools[0].Stat.InUse; in != 0 {
			t.Errorf("%s: %d leases in use after the change", plugin, in)
		}
		got := queryRaw(t, c, "SELECT CONCAT_WS(' ', CURRENT_USER(), DATABASE(), IFNULL(@v,'none'), @@sql_mode = @@global.sql_mode)")
		if want := "second@% mysql none 1"; got != want {
			t.Errorf("%s: got %q, want %q", plugin, got, want)
		}
		if _, err := c.Query("SELECT * FROM temp"); refusal(err) != 1146 {
			t.Errorf("%s: the temporary table: got %v, want 1146", plugin, err)
		}
		if n := statements(h)["changed"]; n == 0 {
			t.Errorf("%s: the new program is charged nothing: %v", plugin, statements(h))
		}
		if !slices.ContainsFunc(h.Sessions(), func(s proxy.SessionInfo) bool { return s.ID == id && s.User == "second" && s.Schema == "mysql" }) {
			t.Errorf("%s: sessions %+v", plugin, h.Sessions())
		}
		if err := c.ChangeUser(wiretest.Login{User: "hashed", Password: loginSecret, Plugin: plugin}); err != nil {
			t.Errorf("%s: to a user with a hash: %v", plugin, err)
		}
		if got := queryRaw(t, c, "SELECT IFNULL(DATABASE(),'none')"); got != "none" {
			t.Errorf("%s: in schema %q, want none", plugin, got)
		}
		_ = c.Close()
		eventually(t, "the session is gone", func() bool { return h.Snapshot().ClientConnections == 0 })
	}
}

func TestRefusedChangeOfUserChangesNothingOrEndsTheConnection(t *testing.T) {
	users := append(loginUsers(), proxy.User{Name: "one", Password: loginSecret, MaxConnections: 1,
		BackendUser: mariadbtest.User, BackendPassword: mariadbtest.Password})
	h := loginHouse(t, users)
	one := h.loggedIn(t, wiretest.Login{User: "one", Password: loginSecret})
	cases := map[string]struct {
		login wiretest.Login
		code  uint16
	}{
		"wrong password": {wiretest.Login{User: "native-plain", Password: "wrong", Plugin: nativePlugin}, 1045},
		"stranger":       {wiretest.Login{User: "stranger", Password: loginSecret, Plugin: sha2Plugin}, 1045},
		"unknown schema": {wiretest.Login{User: "native-plain", Password: loginSecret, Plugin: nativePlugin, Schema: "nosuch"}, 1049},
		"full":           {wiretest.Login{User: "one", Password: loginSecret, Plugin: nativePlugin}, 1203},
	}
	for name, c := range cases {
		client := h.loggedIn(t, wiretest.Login{User: "native-hash", Password: loginSecret})
		queryRaw(t, client, "BEGIN")
		if err := client.ChangeUser(c.login); refusal(err) != c.code {
			t.Errorf("%s: got %v, want %d", name, err, c.code)
		}
		if c.code == 1045 { // MariaDB lets the old user go on, in its transaction
			expectInUse(t, h, 1)
			queryRaw(t, client, "COMMIT")
			_ = client.Close()
			continue
		}
		if _, err := client.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the connection lives on: %v", name, err)
		}
	}
	_ = one.Close()
	eventually(t, "all are gone", func() bool {
		return h.Snapshot().ClientConnections == 0 && h.Snapshot().Pools[0].Stat.InUse == 0
	})
	h.loggedIn(t, wiretest.Login{User: "one", Password: loginSecret}) // its place was not lost
}

func TestChangeOfUserGivesTheOldPlaceBack(t *testing.T) {
	users := loginUsers()[:2]
	users[0].MaxConnections, users[1].MaxConnections = 1, 1
	h := loginHouse(t, users)
	first, second := wiretest.Login{User: users[0].Name, Password: loginSecret, Plugin: nativePlugin}, wiretest.Login{User: users[1].Name, Password: loginSecret, Plugin: nativePlugin}
	c := h.loggedIn(t, first)
	for range 3 {
		if err := c.ChangeUser(second); err != nil {
			t.Fatal(err)
		}
		other := h.loggedIn(t, first)
		_ = other.Close()
		eventually(t, "it is gone", func() bool { return h.Snapshot().ClientConnections == 1 })
		if err := c.ChangeUser(first); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMalformedChangeOfUserEndsTheConnection(t *testing.T) {
	h := loginHouse(t, loginUsers())
	for _, argument := range []string{"", "user", "user\x00", "user\x00\x14short", "user\x00\x00schema without end"} {
		c := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
		if err := c.Send(wire.ComChangeUser, argument); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Reply(wire.ShapeOK); refusal(err) == 0 {
			t.Errorf("%q: got %v, want a refusal", argument, err)
		}
		if _, err := c.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%q: the connection lives on: %v", argument, err)
		}
	}
	if n := h.Snapshot().Panics; n != 0 {
		t.Errorf("%d panics", n)
	}
}
