package proxy_test

import (
	"context"
	"crypto/sha1"
	"crypto/tls"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

const (
	nativePlugin = "mysql_native_password"
	sha2Plugin   = "caching_sha2_password"
	loginSecret  = "hashcat"
)

// sha2String is hashcat's example of what a MySQL 8 keeps of the password "hashcat" (mode 7401).
var sha2String = "$A$005$\xf9\xcc\x98\xce\x08\x89\x29\x24\xf5\x0a\x21\x3b\x6b\xc5\x71\xa2\xc1\x17\x78\xc5" +
	"bTy95Y99eAME1dwEkHOA1ndHGBWz.1bxSSRkuTXFGV/"

func nativeString(password string) string {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	return "*" + strings.ToUpper(hex.EncodeToString(twice[:]))
}

// loginUsers has a user for each way to keep a password. Behind all of them stands the administrator.
func loginUsers() []proxy.User {
	users := []proxy.User{
		{Name: "native-plain", Password: loginSecret, AuthPlugin: nativePlugin},
		{Name: "native-hash", AuthString: nativeString(loginSecret)},
		{Name: "sha2-plain", Password: loginSecret, AuthPlugin: sha2Plugin},
		{Name: "sha2-hash", AuthString: sha2String},
		{Name: "either-plain", Password: loginSecret},
		{Name: "open-native", AuthPlugin: nativePlugin},
		{Name: "open-sha2", AuthPlugin: sha2Plugin},
	}
	for i := range users {
		users[i].BackendUser, users[i].BackendPassword = mariadbtest.User, mariadbtest.Password
	}
	return users
}

// loginHouse is a house with these users and without an idea of a schema, so that logins need no backend.
func loginHouse(t testing.TB, users []proxy.User, bend ...func(*options)) *house {
	t.Helper()
	h := newHouse(t, 1, append([]func(*options){func(o *options) { o.Users = users }}, bend...)...)
	return &house{h.Server, ""}
}

// raw is a client of ours, before its login.
func (h *house) raw(t testing.TB) *wiretest.Client {
	t.Helper()
	c, err := wiretest.Dial(h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// loggedIn is a client of ours, after its login.
func (h *house) loggedIn(t testing.TB, l wiretest.Login) *wiretest.Client {
	t.Helper()
	if l.User == "" {
		l.User, l.Password = mariadbtest.User, mariadbtest.Password
	}
	c := h.raw(t)
	if err := c.Login(l); err != nil {
		t.Fatalf("login as %q: %v", l.User, err)
	}
	return c
}

func queryRaw(t testing.TB, c *wiretest.Client, q string) string {
	t.Helper()
	v, err := c.Query(q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return v
}

// refusal is the code of a server's word; 0 for none.
func refusal(err error) uint16 {
	var e *wire.ServerError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// TestLoginsMatchTheirConfiguration is the product of users, passwords and transports, with a driver that is not ours.
func TestLoginsMatchTheirConfiguration(t *testing.T) {
	cert := newCertificate(t)
	for _, mode := range []string{"off", "preferred", "required"} {
		h := loginHouse(t, loginUsers(), func(o *options) {
			if o.Config.TLS.Mode = mode; mode != "off" {
				o.Config.TLS.CertFile, o.Config.TLS.KeyFile = cert.certFile, cert.keyFile
			}
		})
		for _, secure := range []bool{false, true} {
			if secure && mode == "off" {
				continue
			}
			for _, u := range loginUsers() {
				for _, password := range []string{loginSecret, "wrong", "", loginSecret} {
					want := uint16(1045)
					switch {
					case mode == "required" && !secure:
						want = 3159
					case password == loginSecret && !strings.HasPrefix(u.Name, "open"), password == "" && strings.HasPrefix(u.Name, "open"):
						want = 0
					}
					t.Run(fmt.Sprintf("tls %s/client's %v/%s/%q", mode, secure, u.Name, password), func(t *testing.T) {
						var config *tls.Config
						if secure {
							config = cert.client
						}
						err := driverLogin(t, h, u.Name, password, config)
						if got := errorCode(err); got != want || want == 0 && err != nil {
							t.Errorf("got %v, want code %d", err, want)
						}
						if want == 1045 && !strings.HasSuffix(err.Error(), map[bool]string{true: "(using password: NO)", false: "(using password: YES)"}[password == ""]) {
							t.Errorf("unhelpful: %v", err)
						}
					})
				}
			}
		}
	}
}

// driverLogin logs in with go-sql-driver and runs a statement.
func driverLogin(t testing.TB, h *house, user, password string, secure *tls.Config) error {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.TLS = user, password, "tcp", h.Addr().String(), secure
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var who string
	err = db.QueryRowContext(context.Background(), "SELECT CURRENT_USER()").Scan(&who)
	if err == nil && who != mariadbtest.User+"@%" {
		t.Errorf("backend user is %q", who)
	}
	return err
}

// TestLoginsTakeTheShortestWay shows the packets: who is switched, who is asked for the whole password, and how often.
func TestLoginsTakeTheShortestWay(t *testing.T) {
	h := loginHouse(t, loginUsers())
	cases := []struct {
		user, plugin string
		want         []string
	}{
		{"native-plain", nativePlugin, []string{"ok"}},
		{"native-plain", sha2Plugin, []string{"switch " + nativePlugin, "ok"}},
		{"native-hash", sha2Plugin, []string{"switch " + nativePlugin, "ok"}},
		{"native-hash", "client_ed25519", []string{"switch " + nativePlugin, "ok"}},
		{"sha2-plain", sha2Plugin, []string{"fast", "ok"}},
		{"sha2-plain", nativePlugin, []string{"switch " + sha2Plugin, "fast", "ok"}},
		{"sha2-plain", "dialog", []string{"switch " + sha2Plugin, "fast", "ok"}},
		{"sha2-hash", sha2Plugin, []string{"full", "key", "ok"}}, // the hash alone can't check a scramble
		{"sha2-hash", sha2Plugin, []string{"fast", "ok"}},
		{"sha2-hash", nativePlugin, []string{"switch " + sha2Plugin, "fast", "ok"}},
		{"either-plain", sha2Plugin, []string{"fast", "ok"}},
		{"either-plain", nativePlugin, []string{"ok"}},
		{"either-plain", "sha256_password", []string{"switch " + nativePlugin, "ok"}},
	}
	for _, c := range cases {
		client := h.loggedIn(t, wiretest.Login{User: c.user, Password: loginSecret, Plugin: c.plugin})
		if !slices.Equal(client.Trace, c.want) {
			t.Errorf("%s with %s: went %q, want %q", c.user, c.plugin, client.Trace, c.want)
		}
		queryRaw(t, client, "DO 1")
	}
}

// Before plugins, clients knew one way to log in and named none.
func TestClientsWithoutPluginsLogIn(t *testing.T) {
	h := loginHouse(t, loginUsers())
	caps := wire.Protocol41 | wire.SecureConnection | wire.LongPassword
	c := h.raw(t)
	if err := c.Login(wiretest.Login{User: "native-hash", Password: loginSecret, Plugin: nativePlugin, Capabilities: caps}); err != nil {
		t.Fatal(err)
	}
	queryRaw(t, c, "DO 1")
}

func TestWholePasswordIsTakenOnlyUnderOurKey(t *testing.T) {
	h := loginHouse(t, loginUsers())
	stranger := newRSAKey(t)
	c := h.raw(t)
	err := c.Login(wiretest.Login{User: "sha2-hash", Password: loginSecret, Plugin: sha2Plugin, KeyUnasked: &stranger.PublicKey})
	if refusal(err) != 1045 {
		t.Errorf("password under a stranger's key: got %v, want 1045", err)
	}
	eventually(t, "the refusal is counted", func() bool { return h.Snapshot().Connects == proxy.ConnectCounts{Auth: 1} })
}

// traced is what a refused client sees of its login, apart from the name it gave.
func traced(t testing.TB, h *house, l wiretest.Login) string {
	t.Helper()
	c := h.raw(t)
	err := c.Login(l)
	if refusal(err) != 1045 {
		t.Fatalf("%s: got %v, want 1045", l.User, err)
	}
	return strings.Join(c.Trace, ", ") + ": " + strings.ReplaceAll(err.Error(), l.User, "NAME")
}

func TestStrangersCannotTellThatTheyAreUnknown(t *testing.T) {
	for _, u := range loginUsers() {
		t.Run(u.Name, func(t *testing.T) {
			far := u
			far.Name, far.Networks = "far-away", []string{"10.0.0.0/8"}
			h := loginHouse(t, []proxy.User{u})
			h2 := loginHouse(t, []proxy.User{u, far})
			for range 2 { // before and after somebody's whole password is known
				for _, plugin := range []string{nativePlugin, sha2Plugin, "dialog"} {
					for _, password := range []string{"wrong", ""} {
						if password == "" && strings.HasPrefix(u.Name, "open") {
							continue
						}
						want := traced(t, h, wiretest.Login{User: u.Name, Password: password, Plugin: plugin})
						if got := traced(t, h, wiretest.Login{User: "stranger", Password: password, Plugin: plugin}); got != want {
							t.Errorf("%s, password %q: a stranger sees %q, a user %q", plugin, password, got, want)
						}
					}
					// Not even the right password shows from where it may not be used.
					wrong := traced(t, h2, wiretest.Login{User: far.Name, Password: "wrong", Plugin: plugin})
					if got := traced(t, h2, wiretest.Login{User: far.Name, Password: loginSecret, Plugin: plugin}); got != wrong {
						t.Errorf("%s: from afar the right password sees %q, a wrong one %q", plugin, got, wrong)
					}
				}
				if !strings.HasPrefix(u.Name, "open") {
					h.loggedIn(t, wiretest.Login{User: u.Name, Password: loginSecret})
				}
			}
		})
	}
}

func TestStrangersAreAlwaysAskedInTheSameWay(t *testing.T) {
	h := loginHouse(t, loginUsers())
	ways := map[string]bool{}
	for i := range 20 {
		l := wiretest.Login{User: fmt.Sprintf("stranger%d", i), Password: "wrong", Plugin: "dialog"}
		way := traced(t, h, l)
		for range 3 {
			if again := traced(t, h, l); again != way {
				t.Errorf("%s: %q, then %q", l.User, way, again)
			}
		}
		ways[way] = true
	}
	if len(ways) < 2 {
		t.Errorf("all strangers see %v, while users differ", ways)
	}
}

func TestNetworksDecideWhoMayComeFromWhere(t *testing.T) {
	cases := map[string]struct {
		networks []string
		code     uint16
	}{
		"anywhere":  {nil, 0},
		"here":      {[]string{"127.0.0.0/8"}, 0},
		"elsewhere": {[]string{"10.0.0.0/8", "::1/128"}, 1045},
		"both":      {[]string{"10.0.0.0/8", "127.0.0.1/32"}, 0},
	}
	users := loginUsers()[:1]
	for name, c := range cases {
		users = append(users, proxy.User{Name: name, Password: loginSecret, Networks: c.networks,
			BackendUser: mariadbtest.User, BackendPassword: mariadbtest.Password})
	}
	for _, listen := range []string{"127.0.0.1:0", ":0"} { // over the second, addresses may come mapped into IPv6
		h := loginHouse(t, users, func(o *options) { o.Config.Listen = listen })
		for name, c := range cases {
			client, err := wiretest.Dial(fmt.Sprintf("127.0.0.1:%d", h.Addr().(*net.TCPAddr).Port))
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Login(wiretest.Login{User: name, Password: loginSecret}); refusal(err) != c.code || c.code == 0 && err != nil {
				t.Errorf("%s on %s: got %v, want code %d", name, listen, err, c.code)
			}
			_ = client.Close()
		}
	}
}
