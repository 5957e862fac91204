package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/conntag/conntag/reservation"
)

func (s *shop) conn() *sql.Conn {
	s.t.Helper()
	c, err := s.db.Conn(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func connectionID(t *testing.T, c *sql.Conn) (id int) {
	t.Helper()
	if err := c.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestReserveLocksOneRowPerUnitAtReadCommitted(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 100)
	if err := s.Reserve(t.Context(), cart(1000, 1, 1)); err != nil { // makes the units
		t.Fatal(err)
	}
	for _, units := range []int{1, 3, 10} {
		conn := s.conn()
		t1 := &tx{conn: conn, tag: tagReserve}
		c := cart(uint64(units), 1, units)
		if err := t1.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := t1.open(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		locked, err := t1.lockUnits(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := t1.moveUnits(t.Context(), c, locked); err != nil {
			t.Fatal(err)
		}
		var rows int
		var level string
		query := fmt.Sprintf("SELECT trx_rows_locked, trx_isolation_level FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = %d",
			connectionID(t, conn))
		eventually(t, "transaction is listed", func() bool { return s.db.QueryRow(query).Scan(&rows, &level) == nil })
		if rows != units || level != "READ COMMITTED" {
			t.Errorf("%d units: %d row locks at %s, want one per unit at READ COMMITTED", units, rows, level)
		}
		t1.rollback(t.Context())
	}
}

func TestEveryStatementBeginsWithItsTag(t *testing.T) {
	s := newShop(t, DefaultConfig())
	for _, q := range []string{"SET GLOBAL log_output = 'TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log = ON"} {
		if _, err := s.db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	s.stock(1, 10)
	errs := []error{
		s.Reserve(t.Context(), cart(1, 1, 2)), s.Reserve(t.Context(), cart(1, 1, 2)), s.Claim(t.Context(), 1, 1),
		s.Reserve(t.Context(), cart(2, 1, 2)), s.Release(t.Context(), 1, 2),
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(t.Context(), cart(3, 1, 20)); !errors.Is(err, reservation.ErrInsufficient) {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("SET GLOBAL general_log = OFF"); err != nil {
		t.Fatal(err)
	}
	rows, err := s.db.Query("SELECT argument FROM mysql.general_log WHERE command_type IN ('Query', 'Prepare', 'Execute') " +
		"AND argument NOT LIKE 'SET GLOBAL%'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	seen := map[string]int{}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		tag, _, _ := strings.Cut(text, " */ ")
		if !strings.HasPrefix(tag, "/* conn_tag:reservation_") {
			if !strings.Contains(text, "general_log") { // ours, above
				t.Errorf("untagged: %s", text)
			}
			continue
		}
		seen[strings.TrimPrefix(tag, "/* conn_tag:reservation_")]++
	}
	for _, tag := range []string{"restock", "reserve", "claim", "release"} {
		if seen[tag] == 0 {
			t.Errorf("no statement tagged reservation_%s; seen %v", tag, seen)
		}
	}
}

func (s *shop) lockLedger(ctx context.Context, t1 *tx, item int, clause string) error {
	rows, err := t1.query(ctx, fmt.Sprintf("SELECT on_hand FROM inventory_ledger WHERE shop_id = 1 AND inventory_item_id = %d "+
		"AND inventory_group_id = 1 FOR UPDATE%s", item, clause))
	if err != nil {
		return err
	}
	return errors.Join(rows.Close(), rows.Err())
}

func TestLoserOfADeadlockRunsAgain(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 10)
	s.stock(2, 10)
	var firstLocked [2]chan struct{}
	firstLocked[0], firstLocked[1] = make(chan struct{}), make(chan struct{})
	var runs [2]int
	conns := [2]*sql.Conn{s.conn(), s.conn()}
	together(2, func(i int) {
		err := s.transact(t.Context(), conns[i], tagReserve, func(t1 *tx) error {
			if runs[i]++; runs[i] == 1 {
				if err := s.lockLedger(t.Context(), t1, 1+i, ""); err != nil {
					return err
				}
				close(firstLocked[i])
				<-firstLocked[1-i]
			}
			return s.lockLedger(t.Context(), t1, 2-i, "")
		})
		if err != nil {
			t.Error(err)
		}
	})
	if runs[0]+runs[1] != 3 {
		t.Errorf("runs %v, want one of the two to run twice", runs)
	}
}

func TestLockWaitTimeoutRollsBackBeforeItRunsAgain(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 10)
	s.stock(2, 10)
	holder := &tx{conn: s.conn(), tag: tagReserve}
	if err := holder.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.lockLedger(t.Context(), holder, 2, ""); err != nil {
		t.Fatal(err)
	}
	conn := s.conn()
	if _, err := conn.ExecContext(t.Context(), "SET innodb_lock_wait_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	runs := 0
	err := s.transact(t.Context(), conn, tagReserve, func(t1 *tx) error {
		if runs++; runs == 2 {
			// Had the first run's transaction stayed open, item 1 would be locked by it.
			if err := s.lockLedger(t.Context(), holder, 1, " NOWAIT"); err != nil {
				t.Errorf("a row of the first run is still locked: %v", err)
			}
			holder.rollback(t.Context())
		}
		if err := s.lockLedger(t.Context(), t1, 1, ""); err != nil {
			return err
		}
		return s.lockLedger(t.Context(), t1, 2, "")
	})
	if err != nil || runs != 2 {
		t.Errorf("%d runs, error %v, want success at the second", runs, err)
	}
}

func TestRetriesAreBounded(t *testing.T) {
	s := newShop(t, Config{UnitsTarget: 1, Retries: 2})
	runs := 0
	err := s.transact(t.Context(), s.conn(), tagReserve, func(t1 *tx) error {
		runs++
		_, err := t1.exec(t.Context(), fmt.Sprintf("SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = %d", codeDeadlock))
		return err
	})
	if codeOf(err) != codeDeadlock || runs != 3 {
		t.Errorf("%d runs, error %v, want the deadlock after 3", runs, err)
	}
}

func TestCancelledReserveLeavesNothing(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 10)
	first := &tx{conn: s.conn(), tag: tagReserve}
	if err := first.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.open(t.Context(), cart(1, 1, 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- s.Reserve(ctx, cart(1, 1, 1)) }() // waits for the first to end
	eventually(t, "second reserve waits for a lock", func() bool {
		return s.number("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'") == 1
	})
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	first.rollback(t.Context())
	eventually(t, "no transaction is open", func() bool {
		return s.number("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_query IS NULL OR trx_query NOT LIKE '%innodb_trx%'") == 0
	})
	if s.reserved() != 0 || s.number("SELECT COUNT(*) FROM reservations") != 0 {
		t.Error("a cancelled reserve left something behind")
	}
}
