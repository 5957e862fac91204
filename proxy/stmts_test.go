package proxy_test

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/conntag/conntag/proxy/wire"
)

// prepare returns the id that the proxy gave to the statement.
func (c *rawClient) prepare(t testing.TB, sql string) uint32 {
	t.Helper()
	return binary.LittleEndian.Uint32(c.roundTrip(t, framed(wire.ComStmtPrepare, sql), wire.ShapePrepare)[wire.HeaderLen+1:])
}

func (c *rawClient) query(t testing.TB, sql string) string {
	t.Helper()
	return string(c.roundTrip(t, framed(wire.ComQuery, sql), wire.ShapeResults))
}

func stmtCommand(c wire.Command, id uint32, rest ...byte) []byte {
	p := binary.LittleEndian.AppendUint32([]byte{byte(c)}, id)
	out, _ := wire.AppendPacket(nil, 0, append(p, rest...))
	return out
}

// executeWith binds two parameters: types as given (nil: bound before), values of eight bytes, nil for NULL.
func executeWith(id uint32, types []byte, values ...any) []byte {
	nulls := byte(0)
	var data []byte
	for i, v := range values {
		if v == nil {
			nulls |= 1 << i
			continue
		}
		data = binary.LittleEndian.AppendUint64(data, uint64(v.(int)))
	}
	rest := []byte{0, 1, 0, 0, 0, nulls, 0}
	if types != nil {
		rest[6] = 1
		rest = append(rest, types...)
	}
	return stmtCommand(wire.ComStmtExecute, id, append(rest, data...)...)
}

func TestParameterTypesBoundOnceHoldOnEveryBackend(t *testing.T) {
	h := newHouse(t, 3)
	a, other := h.rawClient(t), h.rawClient(t)
	const sql = "SELECT CONCAT(? + 0, '|', IFNULL(?, 'NULL'))"
	id, otherID := a.prepare(t, sql), other.prepare(t, sql)
	longlong, text := []byte{8, 0, 8, 0}, []byte{253, 0, 253, 0}
	want := func(reply []byte, text string) {
		t.Helper()
		if !strings.Contains(string(reply), text) {
			t.Errorf("got %q, want %s in it", reply, text)
		}
	}
	want(a.roundTrip(t, executeWith(id, longlong, 5, 6), wire.ShapeResults), "5|6")
	for i := range 6 {
		end := h.hold(t, i%3)
		// The same text on the same backend with other types: they are the other session's own.
		rest := append([]byte{0, 1, 0, 0, 0, 0, 1}, text...)
		want(other.roundTrip(t, stmtCommand(wire.ComStmtExecute, otherID, append(rest, "\x0211\x02ab"...)...), wire.ShapeResults), "11|ab")
		want(a.roundTrip(t, executeWith(id, nil, 8, 9), wire.ShapeResults), "8|9")
		want(a.roundTrip(t, executeWith(id, nil, 10, nil), wire.ShapeResults), "10|NULL")
		end()
	}
}

func TestLongDataReachesItsStatement(t *testing.T) {
	h := newHouse(t, 3)
	a := h.rawClient(t)
	a.query(t, "CREATE TABLE b (id INT, d LONGBLOB)")
	id := a.prepare(t, "INSERT INTO b(id,d) VALUES(?,?)")
	send := func(piece string) {
		if _, err := a.Write(stmtCommand(wire.ComStmtSendLongData, id, append([]byte{1, 0}, piece...)...)); err != nil {
			t.Fatal(err)
		}
	}
	send("abc")
	eventually(t, "long data pins", func() bool { reasons, _ := pinned(h); return len(reasons) == 1 && reasons[0] == "long_data" })
	end := h.hold(t, 2)
	send("")
	send("def")
	execute := append([]byte{0, 1, 0, 0, 0, 0, 1, 8, 0, 252, 0}, binary.LittleEndian.AppendUint64(nil, 1)...)
	a.roundTrip(t, stmtCommand(wire.ComStmtExecute, id, execute...), wire.ShapeResults)
	end()
	expectPins(t, h)
	if got := a.query(t, "SELECT d FROM b WHERE id=1"); !strings.Contains(got, "abcdef") {
		t.Errorf("got %q", got)
	}
	send("lost")
	a.roundTrip(t, stmtCommand(wire.ComStmtReset, id), wire.ShapeOK)
	expectPins(t, h)
	send(strings.Repeat("z", 40000))
	a.roundTrip(t, stmtCommand(wire.ComStmtExecute, id, execute...), wire.ShapeResults)
	if got := a.query(t, "SELECT MAX(LENGTH(d)) FROM b"); !strings.Contains(got, "40000") {
		t.Errorf("got %q", got)
	}
}

func TestCursorPinsUntilItsLastRow(t *testing.T) {
	h := newHouse(t, 2)
	a := h.rawClient(t)
	a.query(t, "CREATE TABLE t (id INT)")
	a.query(t, "INSERT INTO t VALUES (1),(2),(3)")
	id := a.prepare(t, "SELECT id FROM t ORDER BY id")
	open := func() {
		a.roundTrip(t, stmtCommand(wire.ComStmtExecute, id, 1, 1, 0, 0, 0), wire.ShapeResults)
		expectPins(t, h, "cursor")
	}
	fetch := func(n byte) []byte {
		return a.roundTrip(t, stmtCommand(wire.ComStmtFetch, id, n, 0, 0, 0), wire.ShapeRows)
	}
	open()
	end := h.hold(t, 1)
	fetch(2)
	expectPins2(t, h, "cursor")
	end()
	fetch(2)
	expectPins(t, h)

	open()
	a.roundTrip(t, stmtCommand(wire.ComStmtReset, id), wire.ShapeOK)
	expectPins(t, h)
	open()
	if _, err := a.Write(stmtCommand(wire.ComStmtClose, id)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "closing the statement ends the pin", func() bool { _, n := pinned(h); return n == 0 })
}

// expectPins2 is expectPins while other sessions hold leases, too.
func expectPins2(t testing.TB, h *house, want string) {
	t.Helper()
	eventually(t, "pinned by "+want, func() bool { got, _ := pinned(h); return len(got) == 1 && got[0] == want })
}

func TestResetConnectionForgetsAllButTheSchema(t *testing.T) {
	h := newHouse(t, 1)
	a, b := h.rawClient(t), h.client(t)
	id := a.prepare(t, "SELECT 1")
	for _, q := range []string{"SET @x=1", "SET time_zone='+05:00'", "CREATE TEMPORARY TABLE x (a INT)", "BEGIN", "USE mysql"} {
		a.query(t, q)
	}
	a.roundTrip(t, framed(wire.ComResetConnection, ""), wire.ShapeOK)
	expectPins(t, h)
	exec(t, b, "DO 1")
	if got := a.query(t, "SELECT CONCAT(DATABASE(), @@time_zone, IFNULL(@x, 'none'))"); !strings.Contains(got, "mysqlSYSTEMnone") {
		t.Errorf("got %q", got)
	}
	if code := a.failure(t, stmtCommand(wire.ComStmtExecute, id, 0, 1, 0, 0, 0)); code != 1243 {
		t.Errorf("old statement id: got %d, want 1243", code)
	}
	if code := a.failure(t, stmtCommand(wire.ComStmtExecute, 999, 0, 1, 0, 0, 0)); code != 1243 {
		t.Errorf("unknown statement id: got %d, want 1243", code)
	}
	a.query(t, "DO 1")
}

// failure sends a command that must fail, and returns the code.
func (c *rawClient) failure(t testing.TB, framed []byte) uint16 {
	t.Helper()
	if _, err := c.Write(framed); err != nil {
		t.Fatal(err)
	}
	n, err := c.Read(c.buf[:])
	if err != nil {
		t.Fatal(err)
	}
	return wire.ErrCode(c.buf[wire.HeaderLen:n])
}

func TestStatementsPerBackendAreBounded(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t)
	before := value(t, open(t, server.DSN("")), "SELECT VARIABLE_VALUE FROM information_schema.global_status WHERE VARIABLE_NAME='PREPARED_STMT_COUNT'")
	for i := range 500 {
		st, err := a.PrepareContext(context.Background(), "SELECT "+strings.Repeat("1+", i)+"1")
		if err != nil {
			t.Fatal(err)
		}
		_ = st.Close()
	}
	var count int
	if err := open(t, server.DSN("")).QueryRow("SELECT VARIABLE_VALUE - ? FROM information_schema.global_status WHERE VARIABLE_NAME='PREPARED_STMT_COUNT'", before).Scan(&count); err != nil {
		t.Fatal(err)
	}
	if count > 250 {
		t.Errorf("%d statements on the server after 500 different ones", count)
	}
}

func TestRepliesWithoutAStatusLeaveTheTransactionAsItIs(t *testing.T) {
	h := newHouse(t, 2)
	a := h.rawClient(t)
	a.query(t, "CREATE TABLE t (id INT)")
	a.query(t, "BEGIN")
	for _, do := range []func(){
		func() { a.prepare(t, "INSERT INTO t VALUES (1)") },
		func() { a.prepare(t, "SELECT ? FROM t") },
		func() { a.roundTrip(t, framed(wire.ComStatistics, ""), wire.ShapeString) },
		func() { a.failure(t, framed(wire.ComQuery, "SELECT nonsense")) },
		func() { a.failure(t, framed(wire.ComStmtPrepare, "SELECT nonsense")) },
		func() { a.roundTrip(t, framed(wire.ComFieldList, "t\x00"), wire.ShapeFields) },
		func() { a.roundTrip(t, framed(wire.ComPing, ""), wire.ShapeOK) },
	} {
		do()
		expectInUse(t, h, 1)
	}
	a.query(t, "COMMIT")
	expectPins(t, h)
}
