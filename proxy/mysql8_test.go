package proxy_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// mysql8 is a scripted backend that answers what the proxy asks of every server, and echoes other statements. Its
// password is "secret".
func mysql8(t testing.TB, s wiretest.Server) *wiretest.Backend {
	t.Helper()
	if s.Password == "" {
		s.Password = "secret"
	}
	reply := s.Reply
	s.Reply = func(p *wiretest.Peer, command []byte) error {
		sql := string(command[1:])
		switch {
		case wire.Command(command[0]) != wire.ComQuery:
		case strings.HasPrefix(sql, "SELECT @@global."):
			columns := make([]string, strings.Count(sql, "@@"))
			row := make([]string, len(columns))
			copy(row, []string{"67108864", "utf8mb4", "utf8mb4_0900_ai_ci", "STRICT_TRANS_TABLES", "1"})
			for i := range columns {
				columns[i] = "v"
			}
			return p.Rows(columns, row)
		case strings.HasPrefix(sql, "SELECT id, collation_name"):
			return p.Rows([]string{"id", "collation_name", "character_set_name"},
				[]string{"45", "utf8mb4_general_ci", "utf8mb4"}, []string{"255", "utf8mb4_0900_ai_ci", "utf8mb4"})
		case strings.HasPrefix(sql, "SET "):
			return p.OK()
		case reply != nil:
			return reply(p, command)
		default:
			return p.Rows([]string{"echo"}, []string{sql})
		}
		if reply != nil && wire.Command(command[0]) != wire.ComPing {
			return reply(p, command)
		}
		return p.OK()
	}
	return wiretest.Start(t, s)
}

// backendHouse is a proxy in front of the backend at addr, whose users are its own.
func backendHouse(t testing.TB, addr string, bend ...func(*options)) *house {
	t.Helper()
	users := []proxy.User{{Name: "app", Password: loginSecret, BackendUser: "app", BackendPassword: "secret"}}
	return loginHouse(t, users, append([]func(*options){func(o *options) { o.Backend.Address = addr }}, bend...)...)
}

func appLogin() wiretest.Login { return wiretest.Login{User: "app", Password: loginSecret} }

func TestAMySQL8BackendIsLoggedInToFullyOnceAndFastAfterwards(t *testing.T) {
	for _, plugin := range []string{sha2Plugin, nativePlugin} {
		for _, required := range []string{sha2Plugin, nativePlugin} { // of the account, whatever the greeting says
			t.Run(plugin+" then "+required, func(t *testing.T) {
				var whole, logins atomic.Int32
				b := mysql8(t, wiretest.Server{
					Greeting: wire.Greeting{Version: "8.4.3", Plugin: plugin},
					Auth: func(p *wiretest.Peer, _ *wire.Login) error {
						before := p.Seq
						err := p.Authenticate(required)
						logins.Add(1)
						if p.Seq-before > 4 { // more than a switch, its answer, the word for fast, and the OK
							whole.Add(1)
						}
						return err
					},
				})
				h := backendHouse(t, b.Addr(), func(o *options) { o.Pool.Size = 3 })
				for i := range 3 {
					c := h.loggedIn(t, appLogin())
					queryRaw(t, c, "BEGIN") // nobody reports a transaction, so the lease goes back
					if got := queryRaw(t, c, "SELECT 1"); got != "SELECT 1" {
						t.Errorf("client %d: got %q", i, got)
					}
				}
				if err := h.Ready(t.Context()); err != nil {
					t.Errorf("not ready: %v", err)
				}
				want := int32(1)
				switch {
				case required == nativePlugin:
					want = 0
				case plugin == nativePlugin:
					// go-mysql scrambles with the NUL behind a switch's salt, and is asked for the password each time.
					want = logins.Load()
				}
				if whole.Load() != want || logins.Load() < 2 {
					t.Errorf("%d of %d logins took the whole password, want %d", whole.Load(), logins.Load(), want)
				}
			})
		}
	}
}

// What a backend's refusal says reaches the client in place of the greeting, since the proxy has nobody to speak for.
func TestRefusalByTheBackendReachesTheClient(t *testing.T) {
	refuse := func(p *wiretest.Peer) error { return p.Err(1040, "Too many connections") }
	cases := map[string]struct {
		script wiretest.Server
		code   uint16
	}{
		"full":           {wiretest.Server{Greet: refuse}, 1040},
		"wrong password": {wiretest.Server{Password: "other"}, 1045},
		"unknown plugin": {wiretest.Server{Auth: func(p *wiretest.Peer, _ *wire.Login) error {
			return p.WritePacket(wire.AppendAuthSwitch(nil, "dialog", p.Salt))
		}}, 1429},
		"hangs up": {wiretest.Server{Greet: func(p *wiretest.Peer) error { return p.Close() }}, 1429},
		"speaks HTTP": {wiretest.Server{Greet: func(p *wiretest.Peer) error {
			_, err := p.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			return err
		}}, 1429},
		"speaks X":        {wiretest.Server{Greet: func(p *wiretest.Peer) error { return p.WritePacket([]byte{0x0b, 8, 5, 0x1a, 0}) }}, 1429},
		"empty greeting":  {wiretest.Server{Greet: func(p *wiretest.Peer) error { return p.WritePacket(nil) }}, 1429},
		"short greeting":  {wiretest.Server{Greet: func(p *wiretest.Peer) error { return p.WritePacket([]byte("\x0a8.4.3\x00\x01")) }}, 1429},
		"greeting's head": {wiretest.Server{Greet: func(p *wiretest.Peer) error { return p.WritePacket([]byte("\x0a8.4.3")) }}, 1429},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := mysql8(t, c.script)
			h := backendHouse(t, b.Addr())
			if _, err := wiretest.Dial(h.Addr().String()); refusal(err) != c.code {
				t.Errorf("got %v, want %d", err, c.code)
			}
			if n := h.Snapshot().Panics; n != 0 {
				t.Errorf("%d panics", n)
			}
		})
	}
}
