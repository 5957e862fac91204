package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/attribution"
)

// errorCode is the server's error code of err; 0 for none.
func errorCode(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func expectError(t testing.TB, code uint16, c execer, q string, args ...any) {
	t.Helper()
	if _, err := c.ExecContext(context.Background(), q, args...); errorCode(err) != code {
		t.Errorf("%s: got error %v, want code %d", q, err, code)
	}
}

// pinned says for which reasons any session is pinned now, and how many leases are out.
func pinned(h *house) (reasons []string, inUse int) {
	for _, s := range h.Sessions() {
		reasons = append(reasons, s.PinReasons...)
	}
	slices.Sort(reasons)
	return reasons, h.Snapshot().Pools[0].Stat.InUse
}

// expectPins waits until exactly these reasons pin, and leases are out if there are any: a session settles while its
// client already has the reply.
func expectPins(t testing.TB, h *house, want ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("pins are %v", want), func() bool {
		got, inUse := pinned(h)
		return slices.Equal(got, want) && (inUse > 0) == (len(want) > 0)
	})
}

// expectInUse waits until n leases are out.
func expectInUse(t testing.TB, h *house, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d leases are out", n), func() bool { return h.Snapshot().Pools[0].Stat.InUse == n })
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func TestTransactionKeepsItsBackendAndGivesItBackAtItsEnd(t *testing.T) {
	h := newHouse(t, 2)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		exec(t, a, "BEGIN")
		exec(t, a, "INSERT INTO t(v) VALUES (1)")
		expect(t, a, "1", "SELECT COUNT(*) FROM t")
		expect(t, b, "0", "SELECT COUNT(*) FROM t")
		expectInUse(t, h, 1)
		exec(t, a, end)
		expectInUse(t, h, 0)
		exec(t, a, "DELETE FROM t")
	}
}

func TestAutocommitOffHoldsFromTheFirstTableToCommit(t *testing.T) {
	h := newHouse(t, 1)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	exec(t, a, "INSERT INTO t VALUES (1,1)")
	exec(t, a, "SET autocommit=0")
	expect(t, b, "1", "SELECT @@autocommit")
	expect(t, a, "0", "SELECT @@autocommit")
	expect(t, b, "1", "SELECT COUNT(*) FROM t")
	exec(t, a, "UPDATE t SET v=2")
	expectInUse(t, h, 1)
	exec(t, a, "ROLLBACK")
	expect(t, b, "1", "SELECT v FROM t")
	// A failed statement may have opened a transaction, and says nothing of it.
	expectError(t, 1062, a, "INSERT INTO t VALUES (1,9)")
	expectInUse(t, h, 1)
	exec(t, a, "ROLLBACK")
	expectPins(t, h)
}

func TestSavepointOutsideATransactionWithAutocommitOffKeepsTheBackend(t *testing.T) {
	h := newHouse(t, 2)
	a := h.client(t)
	noise := h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY)")
	for _, tag := range []string{"", "/* conn_tag:a */ "} {
		exec(t, a, tag+"SET autocommit=0")
		exec(t, a, tag+"SAVEPOINT s1")
		exec(t, noise, "DO 1")
		exec(t, a, tag+"INSERT INTO t VALUES (8)")
		exec(t, a, tag+"ROLLBACK TO SAVEPOINT s1")
		exec(t, a, tag+"COMMIT")
		expect(t, a, "0", "SELECT COUNT(*) FROM t")
		exec(t, a, "COMMIT")
		expectPins(t, h)
	}
}

func TestDeadlockEndsTheVictimsTransactionAndItsHold(t *testing.T) {
	h := newHouse(t, 2)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE l (id INT PRIMARY KEY, v INT)")
	exec(t, a, "INSERT INTO l VALUES (1,0),(2,0)")
	exec(t, a, "BEGIN")
	exec(t, b, "BEGIN")
	exec(t, a, "UPDATE l SET v=11 WHERE id=1")
	exec(t, b, "UPDATE l SET v=22 WHERE id=2")
	blocked := make(chan error, 1)
	go func() {
		_, err := b.ExecContext(context.Background(), "UPDATE l SET v=22 WHERE id=1")
		blocked <- err
	}()
	_, err := a.ExecContext(context.Background(), "UPDATE l SET v=11 WHERE id=2")
	other := <-blocked
	victim, winner := a, b
	if errorCode(other) == 1213 {
		victim, winner = b, a
		err, other = other, err
	}
	if errorCode(err) != 1213 || other != nil {
		t.Fatalf("got %v and %v, want one 1213", err, other)
	}
	expectInUse(t, h, 1)
	exec(t, winner, "COMMIT")
	exec(t, victim, "UPDATE l SET v=99 WHERE id=2")
	expect(t, victim, "99", "SELECT v FROM l WHERE id=2")
}

func TestSchemaFollowsItsSession(t *testing.T) {
	h := newHouse(t, 1)
	other := schemaName(t)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE DATABASE "+other)
	t.Cleanup(func() { exec(t, open(t, server.DSN("")), "DROP DATABASE IF EXISTS "+other) })
	exec(t, a, "/* conn_tag:a */ USE "+other)
	expect(t, b, h.schema, "SELECT DATABASE()")
	expect(t, a, other, "SELECT DATABASE()")
	expectError(t, 1049, a, "USE nosuch")
	expect(t, a, other, "SELECT DATABASE()")
	none := h.client(t, func(c *mysql.Config) { c.DBName = "" })
	expect(t, none, "NULL", "SELECT DATABASE()")
	expect(t, a, other, "SELECT DATABASE()")
	expect(t, none, "NULL", "SELECT DATABASE()")
	exec(t, a, "DROP DATABASE "+other)
	expect(t, a, "NULL", "SELECT DATABASE()")
	expect(t, b, h.schema, "SELECT DATABASE()")
}

// hold opens n transactions and returns what ends them.
func (h *house) hold(t testing.TB, n int) (end func()) {
	var held []*sql.Conn
	for range n {
		c := h.client(t)
		exec(t, c, "BEGIN")
		held = append(held, c)
	}
	return func() {
		for _, c := range held {
			exec(t, c, "COMMIT")
			_ = c.Close()
		}
	}
}

func TestStoredFunctionThatChangesTheSessionPins(t *testing.T) {
	h := newHouse(t, 2)
	a := h.client(t)
	exec(t, a, "CREATE FUNCTION f() RETURNS INT BEGIN SET @hidden=5; RETURN 1; END")
	expect(t, a, "1", "SELECT f()")
	expectPins(t, h, "unknown")
	expect(t, a, "5", "SELECT @hidden")
	b := h.client(t)
	exec(t, b, "CREATE PROCEDURE p() BEGIN CREATE TEMPORARY TABLE tt (a INT); END")
	exec(t, b, "CALL p()")
	exec(t, b, "INSERT INTO tt VALUES (1)")
}

func TestMultiStatementsAreOneAnswer(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t, func(c *mysql.Config) { c.MultiStatements = true })
	b := h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	rows, err := a.QueryContext(context.Background(), "INSERT INTO t(v) VALUES (1); SELECT LAST_INSERT_ID(); SELECT 3; USE mysql; SELECT DATABASE()")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		for rows.Next() {
			var v string
			if err := rows.Scan(&v); err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	_ = rows.Close()
	if want := []string{"1", "3", "mysql"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	expectError(t, 1064, b, "DO 1; DO 2")
	expect(t, b, h.schema, "SELECT DATABASE()")
	expect(t, a, "mysql", "SELECT DATABASE()")
}

func TestWaitTimeoutNamesTheHoldersAndTheClientSurvives(t *testing.T) {
	h := newHouse(t, 1, func(o *options) { o.Pool.WaitTimeout = 200 * time.Millisecond })
	a, b := h.client(t), h.client(t)
	exec(t, a, "/* conn_tag:leaky */ BEGIN")
	_, err := b.ExecContext(context.Background(), "/* conn_tag:victim */ DO 1")
	if errorCode(err) != 1040 || !strings.Contains(err.Error(), "leaky") || !strings.Contains(err.Error(), `pool "main"`) {
		t.Errorf("got %v, want 1040 that names the pool and leaky", err)
	}
	exec(t, a, "COMMIT")
	exec(t, b, "DO 1")
	c := caller(t, h, "victim")
	if c.Errors[attribution.WaitTimeout] != 1 {
		t.Errorf("errors by class: %v", c.Errors)
	}
	if c.WaitTimeouts != 1 || c.Waited < 200*time.Millisecond {
		t.Errorf("victim: %d timeouts after %s", c.WaitTimeouts, c.Waited)
	}
}

func TestLargeResultsAndCommandsPass(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t)
	for _, n := range []int{1, 16000, 70000, 16777210, 16777211, 16777212, 33554432} {
		var got string
		if err := a.QueryRowContext(context.Background(), "SELECT REPEAT('a',?)", n).Scan(&got); err != nil || len(got) != n {
			t.Fatalf("reply of %d bytes: got %d, %v", n, len(got), err)
		}
	}
	for _, n := range []int{16777214, 16777215, 16777216, 33554430} {
		q := "SELECT LENGTH('" + strings.Repeat("x", n-len("SELECT LENGTH('')")-1) + "')"
		var got int
		if err := a.QueryRowContext(context.Background(), q).Scan(&got); err != nil || got != n-len("SELECT LENGTH('')")-1 {
			t.Fatalf("command of %d bytes: got %d, %v", n, got, err)
		}
	}
	var rows int
	r, err := a.QueryContext(context.Background(), "SELECT REPEAT('x',200) FROM mysql.help_topic a, (SELECT 1 UNION ALL SELECT 2) b LIMIT 5000")
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		rows++
	}
	if err := r.Err(); err != nil || rows < 100 {
		t.Errorf("rows: %d, %v", rows, err)
	}
	_ = r.Close()
	expectPins(t, h)
}
