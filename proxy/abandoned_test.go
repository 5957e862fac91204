package proxy_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// soon is how long an abandoned statement may go on.
const soon = 2 * time.Second

// running counts the statements with a text like this that the server works on for the house.
func (h *house) running(t testing.TB, direct queryer, like string) string {
	t.Helper()
	return value(t, direct, "SELECT COUNT(*) FROM information_schema.processlist WHERE command IN ('Query','Execute') AND db=? AND info LIKE ?", h.schema, like)
}

// expectSoon waits for ok no longer than an abandoned statement may go on.
func expectSoon(t testing.TB, what string, ok func() bool) {
	t.Helper()
	start := time.Now()
	eventually(t, what, ok)
	if took := time.Since(start); took > soon {
		t.Errorf("%s: after %s, want %s at most", what, took, soon)
	}
}

// secureHouse is a house whose clients may encrypt.
func secureHouse(t testing.TB) (*house, *tls.Config) {
	t.Helper()
	cert := newCertificate(t)
	return newHouse(t, 40, func(o *options) {
		o.Config.TLS = proxy.ClientTLS{Mode: "preferred", CertFile: cert.certFile, KeyFile: cert.keyFile}
	}), cert.client
}

// expectAtRest says that no lease is out, nobody waits, and no caller is booked for either.
func expectAtRest(t testing.TB, h *house) {
	t.Helper()
	expectSoon(t, "everything is at rest", func() bool {
		p := h.Snapshot().Pools[0]
		busy := p.Stat.InUse + p.Stat.Waiting
		for _, c := range p.Ledger.Callers {
			busy += c.Waiting
			for _, n := range c.InUse {
				busy += n
			}
		}
		return busy == 0 && p.ConservationError == 0
	})
}

// leave is a way for a client to go away while its statement runs.
type leave struct {
	name string
	tls  bool
	do   func(c *wiretest.Client) error
}

func waysToLeave() []leave {
	socket := func(c *wiretest.Client) *net.TCPConn {
		conn := c.Conn.Conn
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn()
		}
		return conn.(*net.TCPConn)
	}
	hard := func(c *wiretest.Client) error { return socket(c).Close() }
	proper := func(c *wiretest.Client) error {
		if err := c.Send(wire.ComQuit, ""); err != nil {
			return err
		}
		return c.Close() // under TLS with an alert in front
	}
	reset := func(c *wiretest.Client) error {
		return errors.Join(socket(c).SetLinger(0), socket(c).Close())
	}
	half := func(c *wiretest.Client) error { return socket(c).CloseWrite() }
	var ways []leave
	for _, secure := range []bool{false, true} {
		on := map[bool]string{false: "plain", true: "TLS"}[secure]
		ways = append(ways, leave{on + " closed", secure, hard}, leave{on + " quit", secure, proper},
			leave{on + " reset", secure, reset}, leave{on + " half closed", secure, half})
	}
	return ways
}

func TestStatementOfAClientThatLeavesIsKilled(t *testing.T) {
	h, secure := secureHouse(t)
	direct := open(t, server.DSN(h.schema))
	exec(t, direct, "CREATE TABLE l (id INT PRIMARY KEY, v INT)")
	exec(t, direct, "INSERT INTO l VALUES (1,1)")
	locker := conn(t, direct)
	exec(t, locker, "BEGIN")
	exec(t, locker, "UPDATE l SET v=2")
	statements := map[string]string{
		"sleep":     "SELECT SLEEP(30)",
		"join":      "SELECT COUNT(*) FROM seq_1_to_100000 a, seq_1_to_100000 b WHERE a.seq+b.seq=7",
		"lock":      "UPDATE l SET v=3 WHERE id=1",
		"user lock": "SELECT GET_LOCK('" + h.schema + "', 30)",
	}
	exec(t, locker, "SELECT GET_LOCK('"+h.schema+"', 0)")
	type victim struct {
		client *wiretest.Client
		way    leave
		tag    string
		left   time.Time
	}
	var victims []victim
	for name, sql := range statements {
		for _, way := range waysToLeave() {
			login := wiretest.Login{Schema: h.schema}
			if way.tls {
				login.TLS = secure
			}
			v := victim{client: h.loggedIn(t, login), way: way}
			v.tag = "/* conn_tag:" + strings.ReplaceAll(name+"."+way.name, " ", ".") + " */"
			if err := v.client.Send(wire.ComQuery, v.tag+sql); err != nil {
				t.Fatal(err)
			}
			eventually(t, v.tag+" runs", func() bool { return h.running(t, direct, v.tag+"%") == "1" })
			victims = append(victims, v)
		}
	}
	for i := range victims {
		victims[i].left = time.Now()
		if err := victims[i].way.do(victims[i].client); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range victims {
		eventually(t, v.tag+" is gone from the server", func() bool { return h.running(t, direct, v.tag+"%") == "0" })
		if took := time.Since(v.left); took > soon {
			t.Errorf("%s was killed after %s", v.tag, took)
		}
	}
	expectAtRest(t, h)
	exec(t, locker, "ROLLBACK")
	expect(t, direct, "1", "SELECT v FROM l")
	c := h.loggedIn(t, wiretest.Login{})
	if got := queryRaw(t, c, "SELECT 'still here'"); got != "still here" {
		t.Errorf("the next client got %q", got)
	}
}

func TestStatementOfADriverThatTimesOutIsKilled(t *testing.T) {
	h := newHouse(t, 2)
	direct := open(t, server.DSN(""))
	for _, q := range []string{"SELECT SLEEP(30)", "BEGIN", "SELECT SLEEP(?)"} {
		c := h.client(t)
		var args []any
		switch q {
		case "BEGIN": // the transaction goes with it
			exec(t, c, q)
			q = "SELECT SLEEP(30)"
		case "SELECT SLEEP(?)":
			args = []any{30}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var v int
		if err := c.QueryRowContext(ctx, "/* conn_tag:late */ "+q, args...).Scan(&v); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want a timeout", err)
		}
		expectSoon(t, "it is gone from the server", func() bool { return h.running(t, direct, "/* conn_tag:late */%") == "0" })
		expectAtRest(t, h)
	}
}

func TestAbandonedWaitsDoNotPileUp(t *testing.T) {
	h := newHouse(t, 4)
	direct := open(t, server.DSN(h.schema))
	exec(t, direct, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	exec(t, direct, "INSERT INTO t VALUES (5,0)")
	b := h.client(t)
	exec(t, b, "BEGIN")
	exec(t, b, "UPDATE t SET v=1 WHERE id=5")
	most := 0
	watch := func() (n int) {
		_, _ = fmt.Sscan(h.running(t, direct, "/* conn_tag:retry */%"), &n)
		most = max(most, n)
		return n
	}
	for range 5 {
		a := h.rawClient(t)
		a.query(t, "/* conn_tag:retry */ BEGIN")
		if _, err := a.Write(framed(wire.ComQuery, "/* conn_tag:retry */ INSERT INTO t VALUES (5,5)")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it waits for the lock", func() bool { return watch() > 0 })
		_ = a.Close()
		for next := time.After(time.Second); next != nil; {
			select {
			case <-next:
				next = nil
			case <-time.After(5 * time.Millisecond):
				watch()
			}
		}
	}
	if most != 1 {
		t.Errorf("%d abandoned statements waited at once, want 1", most)
	}
	eventually(t, "none waits any more", func() bool { return watch() == 0 })
	expectInUse(t, h, 1)
	exec(t, b, "COMMIT")
	expect(t, direct, "1", "SELECT v FROM t")
	expectAtRest(t, h)
}

func TestManyStatementsThatAreAbandonedAtOnceAreKilledSoon(t *testing.T) {
	const clients = 40
	h := newHouse(t, clients)
	direct := open(t, server.DSN(h.schema))
	exec(t, direct, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	exec(t, direct, "INSERT INTO t VALUES (1,1)")
	locker := conn(t, direct)
	exec(t, locker, "BEGIN")
	exec(t, locker, "UPDATE t SET v=2")
	var crowd []*rawClient
	for range clients {
		c := h.rawClient(t)
		if _, err := c.Write(framed(wire.ComQuery, "/* conn_tag:crowd */ UPDATE t SET v=3 WHERE id=1")); err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, c)
	}
	eventually(t, "all run", func() bool { return h.running(t, direct, "/* conn_tag:crowd */%") == fmt.Sprint(clients) })
	for _, c := range crowd {
		_ = c.Close()
	}
	expectSoon(t, "none runs any more", func() bool { return h.running(t, direct, "/* conn_tag:crowd */%") == "0" })
	expectAtRest(t, h)
	exec(t, locker, "ROLLBACK")
}

func TestResultForAClientThatStopsReadingAndResetsEndsOnTheServer(t *testing.T) {
	h := newHouse(t, 1)
	direct := open(t, server.DSN(""))
	c := h.rawClient(t)
	if _, err := c.Write(framed(wire.ComQuery, "/* conn_tag:full */ SELECT REPEAT('x',10000) FROM seq_1_to_1000000")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is sent to a client that does not read", func() bool {
		for _, s := range h.Sessions() {
			if s.Phase == "sending" {
				return true
			}
		}
		return false
	})
	if err := errors.Join(c.Conn.(*net.TCPConn).SetLinger(0), c.Close()); err != nil {
		t.Fatal(err)
	}
	expectSoon(t, "it is gone from the server", func() bool { return h.running(t, direct, "/* conn_tag:full */%") == "0" })
	expectAtRest(t, h)
}

// Rows come a few at a time, far apart: the server would not notice for a long while that nobody reads them.
func TestSlowResultForAClientThatIsGoneEndsOnTheServer(t *testing.T) {
	h := newHouse(t, 1)
	direct := open(t, server.DSN(""))
	c := h.rawClient(t)
	const sql = "/* conn_tag:slow */ SELECT REPEAT('x',17000), SLEEP(IF(seq>20,1,0)) FROM seq_1_to_1000"
	if _, err := c.Write(framed(wire.ComQuery, sql)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(c.buf[:]); n == 0 {
		t.Fatal(err)
	}
	if err := errors.Join(c.Conn.(*net.TCPConn).SetLinger(0), c.Close()); err != nil {
		t.Fatal(err)
	}
	expectSoon(t, "it is gone from the server", func() bool { return h.running(t, direct, "/* conn_tag:slow */%") == "0" })
	expectAtRest(t, h)
}

// A server that loses its client in the middle of a file loads nothing of it.
func TestFileWhoseClientIsGoneIsNotLoaded(t *testing.T) {
	h, secure := secureHouse(t)
	direct := open(t, server.DSN(h.schema))
	exec(t, direct, "CREATE TABLE t (id INT)")
	half := []byte(strings.Repeat("7\n", 50_000))
	for _, way := range waysToLeave() {
		t.Run(way.name, func(t *testing.T) {
			login := wiretest.Login{Schema: h.schema,
				Capabilities: wiretest.PlainCapabilities | wire.LocalFiles}
			if way.tls {
				login.TLS = secure
			}
			c := h.loggedIn(t, login)
			if err := c.Send(wire.ComQuery, "/* conn_tag:file */ LOAD DATA LOCAL INFILE 'x' INTO TABLE t"); err != nil {
				t.Fatal(err)
			}
			if p, err := c.Next(); err != nil || string(p) != "\xfbx" {
				t.Fatalf("got %q, %v", p, err)
			}
			if err := c.WritePacket(half); err != nil {
				t.Fatal(err)
			}
			if err := way.do(c); err != nil {
				t.Fatal(err)
			}
			expectSoon(t, "it is gone from the server", func() bool { return h.running(t, direct, "/* conn_tag:file */%") == "0" })
			expectAtRest(t, h)
			expect(t, direct, "0", "SELECT COUNT(*) FROM t")
		})
	}
}

// What a client sends before it leaves is done as far as a server would do it: statements are killed for their length.
func TestShortStatementsOfAClientThatDoesNotWaitAreDone(t *testing.T) {
	h := newHouse(t, 1)
	direct := open(t, server.DSN(h.schema))
	exec(t, direct, "CREATE TABLE t (id INT)")
	c := h.rawClient(t)
	var all []byte
	for i := range 20 {
		all = append(all, framed(wire.ComQuery, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))...)
	}
	if _, err := c.Write(append(all, framed(wire.ComQuit, "")...)); err != nil {
		t.Fatal(err)
	}
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all are done", func() bool { return value(t, direct, "SELECT COUNT(*) FROM t") == "20" })
	expectAtRest(t, h)
}

// The kill is for the statement that was found and no other, and for a client that is gone and no other.
func TestLongStatementsOfClientsThatAreThereAreLeftAlone(t *testing.T) {
	h := newHouse(t, 2)
	a := h.client(t)
	var v sql.NullString
	if err := a.QueryRowContext(context.Background(), "SELECT SLEEP(1.5)").Scan(&v); err != nil || v.String != "0" {
		t.Errorf("got %q, %v", v.String, err)
	}
	// Bytes that wait unread don't make a client look dead.
	c := h.loggedIn(t, wiretest.Login{})
	for range 2 {
		if err := c.Send(wire.ComQuery, "SELECT SLEEP(1.5)"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		c.Seq = 1
		packets, err := c.Reply(wire.ShapeResults)
		if err != nil || string(packets[3]) != "\x010" {
			t.Errorf("got %q, %v; want SLEEP's 0", packets, err)
		}
	}
}

// The server gives up a client that takes nothing, after net_write_timeout. So must we, or the lease is out for ever.
func TestClientThatTakesNothingIsGivenUpAfterTheServerDid(t *testing.T) {
	h := newHouse(t, 1)
	c := h.rawClient(t)
	c.query(t, "SET net_write_timeout=1")
	if _, err := c.Write(framed(wire.ComQuery, "SELECT REPEAT('x',10000) FROM seq_1_to_1000000")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	expectInUse(t, h, 1)
	eventually(t, "the lease is back", func() bool { return h.Snapshot().Pools[0].Stat.InUse == 0 })
	if took := time.Since(start); took < 5*time.Second {
		t.Errorf("given up after %s", took)
	}
	expectAtRest(t, h)
	_ = c.Close()
}

// The server drains by waking the sessions that wait for a command; one that waits for a file does not.
func TestShutdownLetsAFileFinish(t *testing.T) {
	h := newHouse(t, 1)
	direct := open(t, server.DSN(h.schema))
	exec(t, direct, "CREATE TABLE t (id INT)")
	login := directLogin()
	login.Schema, login.Capabilities = h.schema, wiretest.PlainCapabilities|wire.LocalFiles
	c := h.loggedIn(t, login)
	if err := c.Send(wire.ComQuery, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t"); err != nil {
		t.Fatal(err)
	}
	if p, err := c.Next(); err != nil || string(p) != "\xfbx" {
		t.Fatalf("got %q, %v", p, err)
	}
	down := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		down <- h.Shutdown(ctx)
	}()
	eventually(t, "no new client is accepted", func() bool {
		conn, err := net.Dial("tcp", h.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	for _, part := range []string{"1\n2\n", "3\n", ""} {
		if err := c.WritePacket([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := c.Next(); err != nil || p[0] != wire.OKHeader {
		t.Errorf("got %q, %v", p, err)
	}
	if err := <-down; err != nil {
		t.Errorf("shutdown: %v", err)
	}
	expect(t, direct, "3", "SELECT COUNT(*) FROM t")
}
