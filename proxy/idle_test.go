package proxy_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// closedAfter reads until the connection ends and says how long that took and what came.
func closedAfter(t testing.TB, c *wiretest.Client) (time.Duration, []byte) {
	t.Helper()
	start := time.Now()
	if err := c.SetReadDeadline(start.Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(c.Conn.Conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) { // how MariaDB closes
		t.Fatalf("the connection is still there: %v", err)
	}
	return time.Since(start), said
}

// expectClosed says that the connection ends about limit from now, and without a word.
func expectClosed(t testing.TB, c *wiretest.Client, limit time.Duration) {
	t.Helper()
	if took, said := closedAfter(t, c); took < limit-50*time.Millisecond || took > limit+soon || len(said) > 0 {
		t.Errorf("closed after %s with %q, want about %s and nothing", took, said, limit)
	}
}

func TestClientThatIsSilentForWaitTimeoutIsSentAway(t *testing.T) {
	h := newHouse(t, 2)
	own := mariadbtest.Run(t, mariadbtest.WithFlags("--wait-timeout=1"))
	global := newHouse(t, 2, func(o *options) { o.Backend.Address = own.Addr() })
	var clients sync.WaitGroup
	for name, bend := range map[string]func(t testing.TB, c *wiretest.Client){
		"direct":             nil,
		"never said a word":  nil,
		"global":             func(t testing.TB, c *wiretest.Client) { queryRaw(t, c, "SELECT 1") },
		"own":                func(t testing.TB, c *wiretest.Client) { queryRaw(t, c, "SET wait_timeout=1") },
		"own, after a reset": func(t testing.TB, c *wiretest.Client) { queryRaw(t, c, "SET wait_timeout=600"); resetRaw(t, c) },
		"after much else": func(t testing.TB, c *wiretest.Client) {
			queryRaw(t, c, "SET wait_timeout=1")
			queryRaw(t, c, "SELECT SLEEP(2)")
		},
		"in a transaction": func(t testing.TB, c *wiretest.Client) { queryRaw(t, c, "SET wait_timeout=1"); queryRaw(t, c, "BEGIN") },
		"idle in transaction": func(t testing.TB, c *wiretest.Client) {
			queryRaw(t, c, "SET idle_transaction_timeout=1")
			queryRaw(t, c, "BEGIN")
		},
		"pinned": func(t testing.TB, c *wiretest.Client) { queryRaw(t, c, "SET wait_timeout=1, @a=RAND()") },
	} {
		clients.Go(func() {
			addr := h.Addr().String()
			switch name {
			case "direct":
				addr = own.Addr()
			case "never said a word", "global", "own, after a reset":
				addr = global.Addr().String()
			}
			c, err := wiretest.Dial(addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if err := c.Login(directLogin()); err != nil {
				t.Error(err)
				return
			}
			if bend != nil {
				bend(t, c)
			}
			took, said := closedAfter(t, c)
			if took < 500*time.Millisecond || took > time.Second+soon || len(said) > 0 {
				t.Errorf("%s: closed after %s with %q, want about a second and nothing", name, took, said)
			}
		})
	}
	clients.Wait()
	for _, house := range []*house{h, global} {
		expectAtRest(t, house)
		eventually(t, "the sessions are gone", func() bool { return house.Snapshot().ClientConnections == 0 })
	}
}

func resetRaw(t testing.TB, c *wiretest.Client) {
	t.Helper()
	if err := c.Send(wire.ComResetConnection, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reply(wire.ShapeOK); err != nil {
		t.Fatal(err)
	}
}

func TestClientThatSaysSomethingIsNotIdle(t *testing.T) {
	h := newHouse(t, 1)
	waits, pings := h.loggedIn(t, directLogin()), h.loggedIn(t, directLogin())
	for _, c := range []*wiretest.Client{waits, pings} {
		queryRaw(t, c, "SET wait_timeout=1")
	}
	a := h.client(t)
	exec(t, a, "BEGIN") // the only connection is out
	if err := waits.Send(wire.ComQuery, "SELECT 'served'"); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 3*time.Second; <-time.After(300 * time.Millisecond) {
		if err := pings.Send(wire.ComPing, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := pings.Reply(wire.ShapeOK); err != nil {
			t.Fatalf("after %s: %v", time.Since(start), err)
		}
	}
	exec(t, a, "COMMIT")
	if packets, err := waits.Reply(wire.ShapeResults); err != nil || string(packets[3]) != "\x06served" {
		t.Errorf("got %q, %v", packets, err)
	}
	queryRaw(t, pings, "SELECT 1") // its second begins here
	expectClosed(t, pings, time.Second)
}

// A direct client sees its connection closed when the server closes it, and not only at its next command.
func TestSessionEndsAtOnceWithTheConnectionThatItHolds(t *testing.T) {
	secure := mariadbtest.Run(t, mariadbtest.WithTLS(), mariadbtest.WithDatabase("app"))
	for _, mode := range []string{"off", "required"} {
		h := newHouse(t, 3, func(o *options) { o.Backend.Address = secure.Addr(); o.Backend.TLS.Mode = mode })
		direct := open(t, secure.DSN(""))
		for _, sql := range []string{"BEGIN", "CREATE TEMPORARY TABLE app.x (a INT)"} {
			c := h.loggedIn(t, directLogin())
			queryRaw(t, c, sql)
			id := queryRaw(t, c, backendIDSQL)
			exec(t, direct, "KILL "+id)
			expectClosed(t, c, 0)
			expectAtRest(t, h)
		}
	}
}

// MySQL 8 says why it closes, in an ERR packet that nobody asked for.
func TestLastWordsOfTheBackendReachTheClient(t *testing.T) {
	leave := make(chan struct{})
	b := mysql8(t, wiretest.Server{Reply: func(p *wiretest.Peer, command []byte) error {
		if string(command[1:]) != "BEGIN" {
			return p.OK()
		}
		if err := p.OKWith(wire.OK{Status: wire.StatusAutocommit | wire.StatusInTrans}); err != nil {
			return err
		}
		<-leave
		p.Seq = 0
		return errors.Join(p.Err(4031, "The client was disconnected by the server because of inactivity."), p.Close())
	}})
	h := backendHouse(t, b.Addr())
	c := h.loggedIn(t, appLogin())
	queryRaw(t, c, "BEGIN")
	close(leave)
	c.Seq = 0
	p, err := c.Next()
	if err == nil {
		err = wire.ParseErr(p)
	}
	if refusal(err) != 4031 {
		t.Errorf("got %v, want 4031", err)
	}
	expectClosed(t, c, 0)
	expectAtRest(t, h)
}

func TestIdleConnectionsThatTheServerClosedAreReplacedBeforeUse(t *testing.T) {
	own := mariadbtest.Run(t, mariadbtest.WithDatabase("app"))
	h := newHouse(t, 10, func(o *options) { o.Backend.Address = own.Addr() })
	h.schema = "app"
	direct := open(t, own.DSN(""))
	first := h.client(t) // it has the server's old wait_timeout, and the pool's connections have the new one
	expect(t, first, "1", "SELECT 1")
	exec(t, direct, "SET GLOBAL wait_timeout=1")
	h.hold(t, 10)()
	gone := func() bool {
		return value(t, direct, "SELECT COUNT(*) FROM information_schema.processlist WHERE db='app'") <= "1"
	}
	eventually(t, "the server has closed what is idle", gone)
	var clients sync.WaitGroup
	for i := range 20 {
		c := first
		if i > 0 {
			c = h.client(t)
		}
		clients.Go(func() {
			for _, q := range []string{"SELECT 1", "BEGIN", "SET autocommit=0", "ROLLBACK"} {
				if _, err := c.ExecContext(context.Background(), q); err != nil {
					t.Errorf("client %d, %s: %v", i, q, err)
				}
			}
		})
	}
	clients.Wait()
	if n := h.Snapshot().Pools[0].Stat.Closes; n[pool.CloseDead] == 0 {
		t.Errorf("no connection was found dead: closes %v", n)
	}

	// In a transaction there is no replacement: the client must hear of it, from PING too.
	c := h.client(t)
	exec(t, c, "SET wait_timeout=1")
	exec(t, c, "BEGIN")
	eventually(t, "the server has closed the transaction's connection", func() bool { return h.Snapshot().Pools[0].Stat.InUse == 0 })
	if err := c.PingContext(context.Background()); err == nil {
		t.Error("a ping claims the health of a transaction that is gone")
	}
	if _, err := c.ExecContext(context.Background(), "SELECT 1"); err == nil {
		t.Error("a fresh connection pretends that the transaction still exists")
	}
}

func TestLocksOfASilentClientAreFreedByItsIdleLimit(t *testing.T) {
	h := newHouse(t, 2)
	b := h.client(t)
	exec(t, b, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	exec(t, b, "INSERT INTO t VALUES (1,1)")
	a := h.rawClient(t) // its network is cut: nothing comes any more, and no end either
	a.query(t, "SET idle_transaction_timeout=1")
	a.query(t, "BEGIN")
	a.query(t, "SELECT * FROM t WHERE id=1 FOR UPDATE")
	start := time.Now()
	exec(t, b, "UPDATE t SET v=2 WHERE id=1")
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the lock was free after %s", took)
	}
	expectAtRest(t, h)
	_ = a.Close()
}

func inUseOf(c attribution.Caller) (n int) {
	for _, k := range c.InUse {
		n += k
	}
	return n
}

func TestWaitersGetOneClearErrorAtTheLimitAndSnapshotsShowWhoHolds(t *testing.T) {
	const limit = 500 * time.Millisecond
	h := newHouse(t, 1, func(o *options) { o.Pool.WaitTimeout = limit })
	a := h.client(t)
	exec(t, a, "/* conn_tag:greedy */ BEGIN")
	held := time.Now()
	var waits sync.WaitGroup
	for range 3 {
		c := h.client(t, func(c *mysql.Config) { c.DBName = "" })
		waits.Go(func() {
			start := time.Now()
			_, err := c.ExecContext(context.Background(), "/* conn_tag:victim */ DO 1")
			if took := time.Since(start); errorCode(err) != 1040 || took < limit || took > limit+time.Second {
				t.Errorf("got %v after %s, want 1040 after %s", err, took, limit)
			}
			if err := c.PingContext(context.Background()); err != nil {
				t.Errorf("the client's connection is not usable: %v", err)
			}
		})
	}
	eventually(t, "three wait, and it shows for whom", func() bool {
		p := h.Snapshot().Pools[0]
		greedy := caller(t, h, "greedy")
		return p.Stat.Waiting == 3 && caller(t, h, "victim").Waiting == 3 && inUseOf(greedy) == 1 &&
			greedy.OldestHold > 0 && greedy.OldestHold <= time.Since(held)+time.Second
	})
	waits.Wait()
	if s := h.Snapshot().Pools[0].Stat; s.Waits < 3 || s.WaitTimeouts != 3 || s.Waiting != 0 || s.WaitTime < 3*limit {
		t.Errorf("pool says %+v", s)
	}
	if v := caller(t, h, "victim"); v.WaitTimeouts != 3 || v.Waited < 3*limit {
		t.Errorf("victim: %d timeouts, waited %s", v.WaitTimeouts, v.Waited)
	}
	exec(t, a, "COMMIT")
}
