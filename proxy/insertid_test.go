package proxy_test

import (
	"context"
	"database/sql"
	"testing"
)

func TestLastInsertIDIsEachSessionsOwn(t *testing.T) {
	for _, size := range []int{1, 3} {
		h := newHouse(t, size)
		a, b := h.client(t), h.client(t)
		noise := h.client(t)
		exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
		exec(t, a, "CREATE TABLE t2 (ref INT)")
		exec(t, a, "INSERT INTO t(v) VALUES (1)")
		exec(t, b, "INSERT INTO t(v) VALUES (2)")
		exec(t, noise, "DO 1")
		for _, q := range []string{"SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() AS ID", "SELECT LAST_INSERT_ID();", "SELECT LAST_INSERT_ID() FROM DUAL",
			"/* conn_tag:a */ SELECT LAST_INSERT_ID()", "SELECT @@identity", "SELECT @@last_insert_id"} {
			expect(t, a, "1", q)
			expect(t, b, "2", q)
			expect(t, noise, "0", q)
		}
		prepared := func(c *sql.Conn, want string) {
			st, err := c.PrepareContext(context.Background(), "SELECT LAST_INSERT_ID()")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			var got string
			if err := st.QueryRow().Scan(&got); err != nil || got != want {
				t.Errorf("prepared: got %s, %v, want %s", got, err, want)
			}
		}
		prepared(a, "1")
		prepared(b, "2")
		exec(t, a, "INSERT INTO t(id,v) VALUES (900,1)")
		exec(t, noise, "DO 1")
		expect(t, b, "2", "SELECT LAST_INSERT_ID()")
		expect(t, a, "1", "SELECT LAST_INSERT_ID()")
		expect(t, a, "77", "SELECT LAST_INSERT_ID(77)")
		expect(t, b, "2", "SELECT LAST_INSERT_ID()")
		exec(t, a, "INSERT INTO t2(ref) VALUES (LAST_INSERT_ID())")
		expect(t, noise, "77", "SELECT ref FROM t2")
		expectPins(t, h)
	}
}

func TestPreparedStatementsRunOnWhicheverBackendIsFree(t *testing.T) {
	h := newHouse(t, 3)
	a := h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))")
	exec(t, a, "INSERT INTO t VALUES (1,'one'),(2,'two')")
	st, err := a.PrepareContext(context.Background(), "SELECT v FROM t WHERE id=?")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint32]bool{}
	for i := range 12 {
		holders := h.hold(t, i%3) // other sessions sit on some backends, so that this one gets another
		for id, want := range map[int]string{1: "one", 2: "two"} {
			var got string
			if err := st.QueryRow(id).Scan(&got); err != nil || got != want {
				t.Fatalf("round %d: got %q, %v, want %q", i, got, err, want)
			}
		}
		for _, s := range h.Sessions() {
			seen[s.BackendID] = true
		}
		holders()
	}
	expectPins(t, h)
	if len(seen) < 3 {
		t.Errorf("only %d backends took part", len(seen))
	}
}
