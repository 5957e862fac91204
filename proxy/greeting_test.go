package proxy_test

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// firstPacket is the payload of what a server says first.
func firstPacket(t testing.TB, addr string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var header [wire.HeaderLen]byte
	if _, err := io.ReadFull(c, header[:]); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, wire.PayloadLen(header[:]))
	if _, err := io.ReadFull(c, p); err != nil {
		t.Fatal(err)
	}
	return string(p)
}

func TestGreetingIsTheBackendsWithAnIDOfOurs(t *testing.T) {
	h := loginHouse(t, loginUsers())
	direct, err := wiretest.Dial(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	salts := map[[wire.SaltLen]byte]bool{}
	for range 3 {
		c := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
		g := c.Greeting
		if g.Version != direct.Greeting.Version || g.Collation != direct.Greeting.Collation || g.Plugin != direct.Greeting.Plugin {
			t.Errorf("got %+v, the backend's is %+v", g, direct.Greeting)
		}
		if g.Status != wire.StatusAutocommit {
			t.Errorf("status %#x", g.Status)
		}
		if !slices.Contains(sessionIDs(h), g.ConnectionID) {
			t.Errorf("greeted as %d, sessions are %v", g.ConnectionID, sessionIDs(h))
		}
		if salts[g.Salt] || slices.Contains(g.Salt[:], 0) {
			t.Errorf("salt %x", g.Salt)
		}
		salts[g.Salt] = true
	}
}

func sessionIDs(h *house) (ids []uint32) {
	for _, s := range h.Sessions() {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestGreetingOffersOnlyWhatWorksThroughTheProxy(t *testing.T) {
	const works = wire.LongPassword | wire.FoundRows | wire.LongFlag | wire.ConnectWithDB | wire.ODBC | wire.LocalFiles |
		wire.IgnoreSpace | wire.Protocol41 | wire.IgnoreSigpipe | wire.Transactions | wire.Reserved | wire.SecureConnection |
		wire.MultiStatements | wire.MultiResults | wire.PSMultiResults | wire.PluginAuth | wire.ConnectAttrs | wire.PluginAuthLenenc |
		wire.SessionTrack | wire.DeprecateEOF
	const ours = wire.Compress | wire.ZstdCompression | wire.QueryAttributes // whatever the backend has
	h := loginHouse(t, loginUsers())
	if got := h.raw(t).Greeting.Capabilities; got&^(works|ours) != 0 || !got.Has(wire.Protocol41|wire.SecureConnection|wire.PluginAuth|wire.MultiStatements) {
		t.Errorf("offers %#x", uint32(got))
	}
	// A backend that has everything adds nothing.
	b := mysql8(t, wiretest.Server{})
	h = backendHouse(t, b.Addr())
	if got := h.raw(t).Greeting.Capabilities; got != works|ours {
		t.Errorf("in front of a MySQL 8 offers %#x, want %#x", uint32(got), uint32(works|ours))
	}
	// One that has little is not outdone.
	b = mysql8(t, wiretest.Server{Greeting: wire.Greeting{Version: "5.7.44", Plugin: nativePlugin,
		Capabilities: wire.Protocol41 | wire.SecureConnection | wire.PluginAuth | wire.SessionTrack}})
	h = backendHouse(t, b.Addr())
	if got := h.raw(t).Greeting.Capabilities; got != wire.Protocol41|wire.SecureConnection|wire.PluginAuth|wire.SessionTrack|ours {
		t.Errorf("in front of a server without offers %#x", uint32(got))
	}
}

func TestGreetingSaysTheConfiguredVersion(t *testing.T) {
	h := loginHouse(t, loginUsers(), func(o *options) { o.Config.ServerVersion = "8.0.99-conntag" })
	if got := h.raw(t).Greeting.Version; got != "8.0.99-conntag" {
		t.Errorf("version %q", got)
	}
}

// Servers ignore claims to what they did not offer; so the replies stay those of a client that claims nothing.
func TestClaimsBeyondTheOfferAreIgnored(t *testing.T) {
	h := newHouse(t, 1)
	const unframed = wire.SSL | wire.Compress | wire.ZstdCompression | wire.DeprecateEOF | wire.QueryAttributes
	c := h.loggedIn(t, wiretest.Login{User: mariadbtest.User, Password: mariadbtest.Password, Schema: h.schema, Capabilities: ^wire.Capability(0) &^ unframed})
	queryRaw(t, c, "SET @@sql_mode='ANSI'")
	if got := queryRaw(t, c, "SELECT @@sql_mode"); got == "" {
		t.Error("no sql_mode")
	}
	if err := c.Send(wire.ComQuery, "DO 1; SELECT 1"); err != nil {
		t.Fatal(err)
	}
	packets, err := c.Reply(wire.ShapeResults)
	if err != nil || packets[0][0] != wire.OKHeader || len(packets) != 6 {
		t.Errorf("several statements: %x, %v", packets, err)
	}
}
