package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/mariadbtest"
)

// chaosTime is how long the clients misbehave; with 64 of them over 8 backends every path is taken many times.
const chaosTime = 20 * time.Second

func TestLedgerBalancesWhateverClientsDo(t *testing.T) {
	h := newHouse(t, 8, func(o *options) {
		o.Pool.WaitTimeout = 40 * time.Millisecond
		o.Attribution.MaxCallers = 12 // fewer than there are tags: folding must balance too
	})
	direct := open(t, server.DSN(h.schema))
	exec(t, direct, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	exec(t, direct, "INSERT INTO t(v) VALUES (1),(2),(3),(4)")

	ctx, cancel := context.WithTimeout(context.Background(), chaosTime)
	defer cancel()
	var clients sync.WaitGroup
	for i := range 64 {
		clients.Go(func() { misbehave(ctx, h, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	clients.Go(func() { killBackends(ctx, h, direct) })
	scrapes := watchBalance(ctx, t, h)
	clients.Wait()
	if scrapes < 100 {
		t.Errorf("only %d scrapes", scrapes)
	}

	eventually(t, "everything is at rest", func() bool {
		p := h.Snapshot().Pools[0]
		return p.Stat.InUse == 0 && p.Stat.Waiting == 0 && h.Snapshot().ClientConnections == 0
	})
	p := h.Snapshot().Pools[0]
	for _, c := range p.Ledger.Callers {
		if c.Waiting != 0 || c.InUse != [attribution.NumPhases]int{} {
			t.Errorf("at rest %s has %d waiting and %v in use", c.Name, c.Waiting, c.InUse)
		}
	}
	if got := h.Snapshot().Panics; got != 0 {
		t.Errorf("%d sessions panicked", got)
	}
	t.Logf("%d scrapes, %s held, %d acquires, %d wait timeouts", scrapes, p.Ledger.Held, p.Stat.Acquires, p.Stat.WaitTimeouts)
}

// watchBalance scrapes until ctx ends and checks every scrape.
func watchBalance(ctx context.Context, t *testing.T, h *house) (scrapes int) {
	last := map[string]time.Duration{}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return scrapes
		case <-tick.C:
		}
		scrapes++
		p := h.Snapshot().Pools[0]
		if p.ConservationError != 0 {
			t.Fatalf("scrape %d: callers hold %s more than the pool", scrapes, p.ConservationError)
		}
		if off := (p.Ledger.Held - p.Stat.InUseTime).Abs(); off > p.Stat.InUseTime/1000+time.Millisecond {
			t.Fatalf("scrape %d: held %s, integral %s", scrapes, p.Ledger.Held, p.Stat.InUseTime)
		}
		if p.Stat.InUse > p.Stat.Size {
			t.Fatalf("%d in use of %d", p.Stat.InUse, p.Stat.Size)
		}
		for i := range p.Ledger.Callers {
			c := &p.Ledger.Callers[i]
			held := c.TotalHeld()
			if held < last[c.Name] {
				t.Fatalf("%s went back from %s to %s", c.Name, last[c.Name], held)
			}
			last[c.Name] = held
		}
	}
}

// misbehave runs client after client, each of which does some things right and some wrong and leaves as it likes.
func misbehave(ctx context.Context, h *house, rnd *rand.Rand) {
	for ctx.Err() == nil {
		db, raw := h.vanishing(func(c *mysql.Config) {
			c.MultiStatements = rnd.IntN(2) == 0
			c.InterpolateParams = rnd.IntN(2) == 0
		})
		if c, err := db.Conn(ctx); err == nil {
			for range rnd.IntN(30) {
				act(ctx, c, rnd)
			}
			if rnd.IntN(3) == 0 {
				_ = (*raw).Close() // vanish, with whatever is open
			}
			_ = c.Close()
		}
		_ = db.Close()
	}
}

// vanishing is a client whose socket can be closed under it.
func (h *house) vanishing(bend ...func(*mysql.Config)) (*sql.DB, *net.Conn) {
	raw := new(net.Conn)
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Addr, cfg.Net, cfg.DBName = mariadbtest.User, mariadbtest.Password, h.Addr().String(), "tcp", h.schema
	cfg.Logger = &mysql.NopLogger{}
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, addr)
		*raw = conn
		return conn, err
	}
	for _, b := range bend {
		b(cfg)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		panic(err)
	}
	return sql.OpenDB(connector), raw
}

var actions = []string{
	"SELECT v FROM t WHERE id=1", "SELECT SLEEP(0.005)", "UPDATE t SET v=v+1 WHERE id=1", "INSERT INTO t(v) VALUES (5)", "INSERT INTO t(id,v) VALUES (1,1)",
	"BEGIN", "BEGIN", "COMMIT", "COMMIT", "ROLLBACK", "UPDATE t SET v=v+1 WHERE id=2", "SELECT nonsense", "SET time_zone='+01:00'", "SET autocommit=0", "SET autocommit=1",
	"CREATE TEMPORARY TABLE IF NOT EXISTS x (a INT)", "DROP TEMPORARY TABLE IF EXISTS x", "DO GET_LOCK('l', 0.01)", "DO RELEASE_ALL_LOCKS()", "SET @a=1",
	"SELECT REPEAT('x', 200000)", "SELECT LAST_INSERT_ID()", "PREPARE s FROM 'SELECT 1'", "DEALLOCATE PREPARE s", "DELETE FROM t WHERE id > 100", "USE nosuch", "USE mysql",
	"KILL QUERY 1", "LOCK TABLES t WRITE", "UNLOCK TABLES", "SELECT 1; SELECT 2", "SET TRANSACTION READ ONLY",
}

func act(ctx context.Context, c *sql.Conn, rnd *rand.Rand) {
	q := actions[rnd.IntN(len(actions))]
	if rnd.IntN(3) > 0 {
		q = fmt.Sprintf("/* conn_tag:caller_%d */ %s", rnd.IntN(20), q)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(1+rnd.IntN(2000))*time.Millisecond)
	defer cancel()
	if rnd.IntN(4) == 0 {
		if st, err := c.PrepareContext(ctx, "SELECT v FROM t WHERE id=? /* conn_tag:prepared */"); err == nil {
			var v int
			_ = st.QueryRowContext(ctx, rnd.IntN(5)).Scan(&v)
			_ = st.Close()
		}
		return
	}
	if rows, err := c.QueryContext(ctx, q); err == nil {
		for rows.Next() && rnd.IntN(50) > 0 {
		}
		_ = rows.Close()
	}
}

// killBackends takes connections away at the server, as an operator or a crash does.
func killBackends(ctx context.Context, h *house, direct *sql.DB) {
	for ctx.Err() == nil {
		for _, s := range h.Sessions() {
			if s.BackendID != 0 {
				_, _ = direct.ExecContext(ctx, fmt.Sprintf("KILL %d", s.BackendID))
				break
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
