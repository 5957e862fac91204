package proxy_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// faulty wraps a scripted backend's connections, so that a reply can break them.
func faulty(conn net.Conn) net.Conn { return &wiretest.Fault{Conn: conn} }

func fault(p *wiretest.Peer) *wiretest.Fault { return p.Conn.Conn.(*wiretest.Fault) }

// expectServed says that the proxy has no lease out, did not panic, and serves a fresh client.
func expectServed(t testing.TB, h *house) {
	t.Helper()
	expectInUse(t, h, 0)
	if n := h.Snapshot().Panics; n != 0 {
		t.Errorf("%d panics", n)
	}
	c := h.loggedIn(t, appLogin())
	if got := queryRaw(t, c, "SELECT 1"); got != "SELECT 1" {
		t.Errorf("the next client got %q", got)
	}
	_ = c.Close()
}

func TestBackendMayBreakAtEveryByteOfAReply(t *testing.T) {
	whole := 0
	b := mysql8(t, wiretest.Server{Wrap: faulty, Reply: func(p *wiretest.Peer, command []byte) error {
		sql := string(command[1:])
		var n int
		if _, err := fmt.Sscanf(sql, "cut %d", &n); err == nil {
			fault(p).CutAfter(n, n%2 == 0)
		}
		return p.Rows([]string{"echo"}, []string{sql})
	}})
	h := backendHouse(t, b.Addr())
	for n := 0; whole == 0; n++ {
		c := h.loggedIn(t, appLogin())
		got, err := c.Query(fmt.Sprintf("cut %d", n))
		switch {
		case err == nil && got == fmt.Sprintf("cut %d", n):
			whole = n
			continue // who comes next may find out that the connection is dead
		case refusal(err) != 1158:
			t.Errorf("cut after %d bytes: got %q, %v; want 1158", n, got, err)
		}
		// The session had nothing on the connection, so it goes on with another.
		if got := queryRaw(t, c, "SELECT 2"); got != "SELECT 2" {
			t.Errorf("cut after %d bytes: afterwards got %q", n, got)
		}
		_ = c.Close()
		expectServed(t, h)
	}
	if whole < 40 {
		t.Errorf("a reply of %d bytes", whole)
	}
}

func TestBackendMayBreakWhenTheClientHasPartOfTheReply(t *testing.T) {
	const rows = 2000
	b := mysql8(t, wiretest.Server{Wrap: faulty, Reply: func(p *wiretest.Peer, command []byte) error {
		if !strings.HasPrefix(string(command[1:]), "cut") {
			return p.Rows([]string{"echo"}, []string{string(command[1:])})
		}
		fault(p).CutAfter(100_000, false)
		many := make([][]string, rows)
		for i := range many {
			many[i] = []string{strings.Repeat("r", 100)}
		}
		return p.Rows([]string{"v"}, many...)
	}})
	h := backendHouse(t, b.Addr())
	c := h.loggedIn(t, appLogin())
	if err := c.Send(wire.ComQuery, "cut"); err != nil {
		t.Fatal(err)
	}
	packets, err := c.Reply(wire.ShapeResults)
	if len(packets) < 100 || len(packets) > rows || err == nil {
		t.Errorf("got %d packets, %v", len(packets), err)
	}
	if _, err := c.Next(); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the client can't know where the reply ends, but its connection lives: %v", err)
	}
	expectServed(t, h)
}

func TestRepliesInSmallPiecesPass(t *testing.T) {
	b := mysql8(t, wiretest.Server{Wrap: func(c net.Conn) net.Conn { return &wiretest.Fault{Conn: c, Piece: 1} }})
	h := backendHouse(t, b.Addr())
	c := h.loggedIn(t, appLogin())
	for _, n := range []int{0, 1, 100, 1000} {
		if got := queryRaw(t, c, "SELECT "+strings.Repeat("x", n)); len(got) != min(n, 243)+7 && n < 200 {
			t.Errorf("%d bytes: got %d", n, len(got))
		}
	}
	_ = c.Close()
	expectServed(t, h)
}

// A backend that has lost step is not believed, and not used again.
func TestNonsenseFromTheBackendNeverReachesTheClient(t *testing.T) {
	ok := []byte{7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}
	cases := map[string][]byte{
		"wrong number":         {7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0},
		"empty packet":         {0, 0, 0, 1},
		"OK that ends early":   {2, 0, 0, 1, 0, 0},
		"no columns":           {3, 0, 0, 1, 0xfc, 0, 0},
		"EOF of nothing":       {5, 0, 0, 1, 0xfe, 0, 0, 2, 0},
		"two replies":          append(bytes.Clone(ok), ok...),
		"definitions then OK":  {1, 0, 0, 1, 1, 7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0},
		"HTTP":                 []byte("HTTP/1.1 200 OK\r\n\r\n"),
		"state without length": {9, 0, 0, 1, 0, 0, 0, 2, 0x40, 0, 0, 0, 0xfe},
	}
	b := mysql8(t, wiretest.Server{Reply: func(p *wiretest.Peer, command []byte) error {
		if nonsense, is := cases[string(command[1:])]; is {
			if _, err := p.Write(nonsense); err != nil {
				return err
			}
			_, err := p.ReadPacket(100) // hangs up when the proxy does
			return err
		}
		return p.Rows([]string{"echo"}, []string{string(command[1:])})
	}})
	h := backendHouse(t, b.Addr())
	for name := range cases {
		c := h.loggedIn(t, appLogin())
		if got, err := c.Query(name); refusal(err) != 1158 {
			t.Errorf("%s: got %q, %v; want 1158", name, got, err)
		}
		if got := queryRaw(t, c, "SELECT 2"); got != "SELECT 2" {
			t.Errorf("%s: afterwards got %q", name, got)
		}
		_ = c.Close()
		expectServed(t, h)
	}
}

// Trackers that make no sense change nothing, and do no harm.
func TestMalformedTrackersDoNoHarm(t *testing.T) {
	states := []string{"", "\x00", "\x00\x05\x03abc", "\x00\x04\x03abc", "\x01\x00", "\x01\x01\xfb", "\x02\x00", "\x07\x03abc", "\xff\xff\xff",
		"\x00\x06\x00\x04five", "\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff", "\x01\x03\x02ab"}
	b := mysql8(t, wiretest.Server{Reply: func(p *wiretest.Peer, command []byte) error {
		var i int
		if _, err := fmt.Sscanf(string(command[1:]), "state %d", &i); err == nil {
			return p.OKWith(wire.OK{Status: wire.StatusAutocommit | wire.StatusSessionState, State: []byte(states[i])})
		}
		return p.Rows([]string{"echo"}, []string{string(command[1:])})
	}})
	h := backendHouse(t, b.Addr())
	for i, state := range states {
		c := h.loggedIn(t, appLogin())
		if _, err := c.Query(fmt.Sprintf("state %d", i)); err != nil {
			t.Errorf("%q: %v", state, err)
		}
		if got := queryRaw(t, c, "SELECT 2"); got != "SELECT 2" {
			t.Errorf("%q: afterwards got %q", state, got)
		}
		_ = c.Close()
		eventually(t, "the session is gone", func() bool { return h.Snapshot().ClientConnections == 0 })
		expectServed(t, h)
	}
}

// Servers close a connection behind some errors. The next session must not be given what is left of it.
func TestConnectionThatAnErrorEndsIsNotHandedOn(t *testing.T) {
	for code, name := range map[uint16]string{1153: "packet too large", 1156: "packets out of order", 1053: "shutdown", 1927: "connection killed", 4031: "idle for too long"} {
		t.Run(name, func(t *testing.T) {
			b := mysql8(t, wiretest.Server{Reply: func(p *wiretest.Peer, command []byte) error {
				if string(command[1:]) == "fail" {
					return errors.Join(errors.New("closed"), p.Err(code, name))
				}
				return p.Rows([]string{"echo"}, []string{string(command[1:])})
			}})
			h := backendHouse(t, b.Addr())
			for range 5 {
				c := h.loggedIn(t, appLogin())
				if _, err := c.Query("fail"); refusal(err) != code {
					t.Errorf("got %v, want %d", err, code)
				}
				expectServed(t, h)
				_ = c.Close()
			}
		})
	}
}

func TestKilledBackendConnectionIsNotHandedOn(t *testing.T) {
	h := loginHouse(t, loginUsers())
	direct := open(t, server.DSN(""))
	login := wiretest.Login{User: "native-plain", Password: loginSecret}
	for range 5 {
		c, next := h.loggedIn(t, login), h.loggedIn(t, login)
		if err := c.Send(wire.ComQuery, "SELECT SLEEP(20)"); err != nil {
			t.Fatal(err)
		}
		var id string
		eventually(t, "it sleeps", func() bool {
			err := direct.QueryRowContext(t.Context(), "SELECT ID FROM information_schema.processlist WHERE INFO='SELECT SLEEP(20)'").Scan(&id)
			return err == nil
		})
		exec(t, direct, "KILL "+id)
		_, err := c.Reply(wire.ShapeResults)
		if got, nextErr := next.Query("SELECT 'next'"); nextErr != nil || got != "next" {
			t.Errorf("behind %v the next client got %q, %v", err, got, nextErr)
		}
		_, _ = c.Close(), next.Close()
	}
}

// The pool dials on goroutines of its own, where a panic would end the process.
func TestNonsenseInPlaceOfAGreetingFailsTheDialAndNothingElse(t *testing.T) {
	var evil atomic.Bool
	b := mysql8(t, wiretest.Server{Wrap: func(conn net.Conn) net.Conn {
		if evil.Load() {
			_, _ = conn.Write([]byte{0, 0, 0, 0})
			_ = conn.Close()
		}
		return conn
	}})
	h := backendHouse(t, b.Addr())
	c := h.loggedIn(t, appLogin())
	evil.Store(true)
	if _, err := c.Query("SELECT 1"); refusal(err) != 1429 {
		t.Errorf("got %v, want 1429", err)
	}
	evil.Store(false)
	expectServed(t, h)
}
