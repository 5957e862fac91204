package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// deeds are what a drawn session may do: right, wrong, with and without state, never for long.
var deeds = []string{
	"SELECT v FROM t WHERE id=1", "UPDATE t SET v=v+1 WHERE id=1", "INSERT INTO t(v) VALUES (5)", "INSERT INTO t(id,v) VALUES (1,1)", "SELECT nonsense",
	"BEGIN", "COMMIT", "ROLLBACK", "SET autocommit=0", "SET autocommit=1", "SET time_zone='+01:00'", "SET @a=1", "USE nosuch", "SELECT REPEAT('x', 100000)",
	"CREATE TEMPORARY TABLE IF NOT EXISTS x (a INT)", "DROP TEMPORARY TABLE IF EXISTS x", "DO GET_LOCK('l', 0)", "DO RELEASE_ALL_LOCKS()", "SELECT LAST_INSERT_ID()",
}

// endings are how a drawn session may end.
var endings = []string{"quits", "vanishes", "is killed", "loses its backend"}

// life is one drawn session.
type life struct {
	statements []string
	ending     string
}

func drawLife(t *rapid.T) life {
	var l life
	for range rapid.IntRange(0, 8).Draw(t, "statements") {
		q := rapid.SampledFrom(deeds).Draw(t, "deed")
		if tag := rapid.SampledFrom([]string{"", "", "a", "b", "c", "d"}).Draw(t, "tag"); tag != "" {
			q = fmt.Sprintf("/* conn_tag:%s */ %s", tag, q)
		}
		l.statements = append(l.statements, q)
	}
	l.ending = rapid.SampledFrom(endings).Draw(t, "ending")
	return l
}

// live runs a session to its end. What its statements answer does not matter here.
func (l life) live(h *house, direct *sql.DB) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	db, raw := h.vanishing()
	defer func() { _ = db.Close() }()
	c, err := db.Conn(ctx)
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	for _, q := range l.statements {
		_, _ = c.ExecContext(ctx, q)
	}
	switch l.ending {
	case "vanishes":
		_ = (*raw).Close()
	case "is killed", "loses its backend":
		for _, s := range h.Sessions() {
			if l.ending == "loses its backend" && s.BackendID != 0 {
				_, _ = direct.ExecContext(ctx, fmt.Sprintf("KILL %d", s.BackendID))
				break
			}
			if l.ending == "is killed" {
				_, _ = c.ExecContext(ctx, fmt.Sprintf("KILL %d", s.ID))
				break
			}
		}
	}
}

func TestLedgerBalancesOverRandomSessions(t *testing.T) {
	h := newHouse(t, 2, func(o *options) {
		o.Pool.WaitTimeout = 30 * time.Millisecond
		o.Attribution.MaxCallers = 4
	})
	direct := open(t, server.DSN(h.schema))
	exec(t, direct, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	exec(t, direct, "INSERT INTO t(v) VALUES (1)")
	exec(t, direct, "SET GLOBAL innodb_lock_wait_timeout=1")
	t.Cleanup(func() { exec(t, open(t, server.DSN("")), "SET GLOBAL innodb_lock_wait_timeout=DEFAULT") })
	rapid.Check(t, func(t *rapid.T) {
		var lives sync.WaitGroup
		for range rapid.IntRange(1, 6).Draw(t, "sessions") {
			l := drawLife(t)
			lives.Go(func() { l.live(h, direct) })
		}
		ended := make(chan struct{})
		go func() { lives.Wait(); close(ended) }()
		for over := false; !over; {
			select {
			case <-ended:
				over = true
			case <-time.After(time.Millisecond):
			}
			if p := h.Snapshot().Pools[0]; p.ConservationError != 0 || p.Stat.InUse > p.Stat.Size {
				t.Fatalf("callers hold %s more than the pool; %d in use of %d", p.ConservationError, p.Stat.InUse, p.Stat.Size)
			}
		}
		for deadline := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
			p := h.Snapshot().Pools[0]
			if p.Stat.InUse == 0 && p.Stat.Waiting == 0 && h.Snapshot().ClientConnections == 0 {
				if p.ConservationError != 0 {
					t.Fatalf("at rest callers hold %s more than the pool", p.ConservationError)
				}
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("never at rest: %+v", p.Stat)
			}
		}
	})
	if n := h.Snapshot().Panics; n != 0 {
		t.Errorf("%d sessions panicked", n)
	}
}
