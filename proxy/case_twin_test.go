package proxy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// twinCapabilities are what a demanding client asks for.
const twinCapabilities = wiretest.PlainCapabilities | wire.MultiStatements | wire.PSMultiResults

// twin is one client twice: through the proxy and on a connection of its own. Each command goes to both, and both answers
// must be the same bytes: rows, definitions, affected rows, ids, flags, warnings, errors, sequence numbers.
//
// Before each command, other sessions use every backend connection that the client does not hold, leave the
// traces of a last statement on each, and see to it that the client's next command can't go to the connection it had.
type twin struct {
	t           testing.TB
	h           *house
	server      *mariadbtest.Instance
	via, direct *wiretest.Client
	viaName     string // of its schema; the direct client's has another name of the same length
	directName  string
	others      []*wiretest.Client
	steps       int
	quiet       bool        // the others rest
	unlike      wire.Status // flags in which the two may differ
	doing       string      // what a longer test is at, for its messages
}

// twinStmt is a prepared statement, by the id that each side has for it.
type twinStmt struct{ via, direct uint32 }

// word is how errors name a statement.
func word(id uint32) []byte { return fmt.Appendf(nil, "(%d)", id) }

var twins int

// newTwin logs in twice, over a pool of the given size. With a pool of one, client and others take turns.
func newTwin(t testing.TB, size int, caps wire.Capability) *twin {
	t.Helper()
	return newTwinOn(t, server, size, caps)
}

func newTwinOn(t testing.TB, on *mariadbtest.Instance, size int, caps wire.Capability) *twin {
	t.Helper()
	h := newHouse(t, size, func(o *options) { o.Backend.Address = on.Addr() })
	twins++
	w := &twin{t: t, h: h, server: on, viaName: fmt.Sprintf("via_%03d", twins), directName: fmt.Sprintf("own_%03d", twins)}
	root := open(t, on.DSN(""))
	for _, name := range []string{w.viaName, w.directName} {
		exec(t, root, "CREATE DATABASE "+name)
		t.Cleanup(func() { exec(t, open(t, on.DSN("")), "DROP DATABASE IF EXISTS "+name) })
	}
	w.login(caps)
	for range size {
		other := h.loggedIn(t, wiretest.Login{Schema: "mysql", Collation: 8, Capabilities: caps})
		queryRaw(t, other, "SET time_zone='+09:00', sql_mode='ANSI_QUOTES', sql_select_limit=1000")
		w.others = append(w.others, other)
	}
	return w
}

// login makes both sides anew.
func (w *twin) login(caps wire.Capability) {
	w.t.Helper()
	w.via = w.h.loggedIn(w.t, wiretest.Login{Schema: w.viaName, Capabilities: caps})
	direct, err := wiretest.Dial(w.server.Addr())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = direct.Close() })
	if err := direct.Login(wiretest.Login{User: mariadbtest.User, Password: mariadbtest.Password, Schema: w.directName, Capabilities: caps}); err != nil {
		w.t.Fatal(err)
	}
	w.direct = direct
}

// traces leaves an insert id, a row count, a number of found rows and warnings that are not the client's.
const traces = "SELECT LAST_INSERT_ID(4711), 1/0 FROM (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) x"

// disturb has the others use every connection that is free, and returns what ends their hold of all but one.
func (w *twin) disturb() (end func()) {
	if w.quiet {
		return func() {}
	}
	free := min(len(w.others), len(w.others)-w.h.Snapshot().Pools[0].Stat.InUse)
	for _, o := range w.others[:free] {
		queryRaw(w.t, o, "BEGIN")
	}
	for _, o := range w.others[:free] {
		queryRaw(w.t, o, traces)
	}
	done := -1
	leave := func(i int) {
		queryRaw(w.t, w.others[i], "COMMIT")
		queryRaw(w.t, w.others[i], traces)
	}
	if free > 0 {
		done = w.steps % free
		leave(done)
	}
	w.steps++
	return func() {
		for i := range free {
			if i != done {
				leave(i)
			}
		}
	}
}

// command sends one command to both, compares the answers, and returns the one that came through the proxy.
func (w *twin) command(c wire.Command, argument string) [][]byte {
	w.t.Helper()
	return w.both(c, c.Shape(), argument, argument)
}

// both is command for arguments that differ on the two sides, as ids do.
func (w *twin) both(c wire.Command, shape wire.Shape, viaArg, directArg string) [][]byte {
	w.t.Helper()
	via, direct := w.answers(c, shape, viaArg, directArg)
	w.compare(fmt.Sprintf("%#x %.200q", byte(c), viaArg), shape, via, direct)
	return via
}

func (w *twin) answers(c wire.Command, shape wire.Shape, viaArg, directArg string) (via, direct [][]byte) {
	w.t.Helper()
	defer w.disturb()()
	if err := w.via.Send(c, viaArg); err != nil {
		w.t.Fatal(err)
	}
	if err := w.direct.Send(c, directArg); err != nil {
		w.t.Fatal(err)
	}
	var viaErr, directErr error
	via, viaErr = w.via.Reply(shape)
	direct, directErr = w.direct.Reply(shape)
	if refusal(viaErr) == 0 && viaErr != nil {
		w.t.Fatalf("%#x %.200q: %v", byte(c), viaArg, viaErr)
	}
	if refusal(directErr) == 0 && directErr != nil {
		w.t.Fatalf("%#x %.200q, directly: %v", byte(c), directArg, directErr)
	}
	return via, direct
}

func (w *twin) compare(what string, shape wire.Shape, via, direct [][]byte) {
	w.t.Helper()
	if len(via) != len(direct) {
		w.t.Errorf("%s%s: %d packets, directly %d: %.300q, directly %.300q", w.doing, what, len(via), len(direct), via, direct)
		return
	}
	for i := range via {
		got, want := via[i], bytes.ReplaceAll(direct[i], []byte(w.directName), []byte(w.viaName))
		if shape == wire.ShapePrepare && i == 0 && len(got) > 5 && got[0] == wire.OKHeader { // ids differ
			got, want = got[5:], want[min(5, len(want)):]
		}
		if w.unlike != 0 {
			got, want = w.without(got), w.without(want)
		}
		if !bytes.Equal(got, want) {
			w.t.Errorf("%s%s: packet %d of %d:\n     got %.300q\ndirectly %.300q", w.doing, what, i+1, len(via), got, want)
		}
	}
}

// without clears the flags of an EOF in which the two may differ.
func (w *twin) without(p []byte) []byte {
	if len(p) != 5 || p[0] != wire.EOFHeader {
		return p
	}
	flags := wire.Status(binary.LittleEndian.Uint16(p[3:])) &^ w.unlike
	return binary.LittleEndian.AppendUint16(bytes.Clone(p[:3]), uint16(flags))
}

// query runs statements, one after the other, and returns the last one's answer.
func (w *twin) query(statements ...string) (answer [][]byte) {
	w.t.Helper()
	for _, sql := range statements {
		viaSQL, directSQL := strings.ReplaceAll(sql, "%schema", w.viaName), strings.ReplaceAll(sql, "%schema", w.directName)
		answer = w.both(wire.ComQuery, wire.ShapeResults, viaSQL, directSQL)
	}
	return answer
}

// value runs a statement that answers with one row, and checks the row's text, columns joined by |.
func (w *twin) value(want, sql string) {
	w.t.Helper()
	if got := rowText(w.query(sql)); got != strings.ReplaceAll(want, "%schema", w.viaName) {
		w.t.Errorf("%s: got %q, want %q", sql, got, want)
	}
}

// fails runs a statement that must fail with the code on both sides.
func (w *twin) fails(code uint16, sql string) {
	w.t.Helper()
	answer := w.query(sql)
	last := answer[len(answer)-1]
	if last[0] != wire.ErrHeader || wire.ErrCode(last) != code {
		w.t.Errorf("%s: got %.200q, want error %d", sql, last, code)
	}
}

// prepare returns the statement's ids; a refusal gives none.
func (w *twin) prepare(sql string) twinStmt {
	w.t.Helper()
	defer w.disturb()()
	var ids [2]uint32
	var answers [2][][]byte
	for i, c := range []*wiretest.Client{w.via, w.direct} {
		if err := c.Send(wire.ComStmtPrepare, sql); err != nil {
			w.t.Fatal(err)
		}
		answer, err := c.Reply(wire.ShapePrepare)
		if err == nil {
			ids[i] = binary.LittleEndian.Uint32(answer[0][1:])
		} else if refusal(err) == 0 {
			w.t.Fatalf("prepare %s: %v", sql, err)
		}
		answers[i] = answer
	}
	w.compare("prepare "+sql, wire.ShapePrepare, answers[0], answers[1])
	return twinStmt{ids[0], ids[1]}
}

// stmt sends a COM_STMT_* command with what follows the statement's id.
func (w *twin) stmt(c wire.Command, st twinStmt, rest ...byte) [][]byte {
	w.t.Helper()
	argument := func(id uint32) string { return string(append(binary.LittleEndian.AppendUint32(nil, id), rest...)) }
	if c.Shape() != wire.ShapeNone {
		via, direct := w.answers(c, c.Shape(), argument(st.via), argument(st.direct))
		for i := range direct { // errors name the id
			direct[i] = bytes.ReplaceAll(direct[i], word(st.direct), word(st.via))
		}
		w.compare(fmt.Sprintf("%#x of statement %d with %.200q", byte(c), st.via, rest), c.Shape(), via, direct)
		return via
	}
	defer w.disturb()()
	if err := w.via.Send(c, argument(st.via)); err != nil {
		w.t.Fatal(err)
	}
	if err := w.direct.Send(c, argument(st.direct)); err != nil {
		w.t.Fatal(err)
	}
	return nil
}

// execute runs a prepared statement with 64-bit integers, and NULL for nil.
func (w *twin) execute(st twinStmt, params ...any) [][]byte {
	w.t.Helper()
	return w.stmt(wire.ComStmtExecute, st, executeBody(true, params...)...)
}

// again is execute without the parameters' types, which clients send once.
func (w *twin) again(st twinStmt, params ...any) [][]byte {
	w.t.Helper()
	return w.stmt(wire.ComStmtExecute, st, executeBody(false, params...)...)
}

// executeBody is a COM_STMT_EXECUTE behind the statement's id: no cursor, one iteration, parameters.
func executeBody(types bool, params ...any) []byte {
	body := []byte{0, 1, 0, 0, 0}
	if len(params) == 0 {
		return body
	}
	nulls := make([]byte, (len(params)+7)/8)
	var kinds, values []byte
	for i, p := range params {
		switch v := p.(type) {
		case nil:
			nulls[i/8] |= 1 << (i % 8)
			kinds = append(kinds, 8, 0)
		case int:
			kinds = append(kinds, 8, 0)
			values = binary.LittleEndian.AppendUint64(values, uint64(v))
		case string:
			kinds = append(kinds, 253, 0)
			values = wire.AppendLenString(values, v)
		case longData: // its value was sent before
			kinds = append(kinds, 251, 0)
		}
	}
	body = append(body, nulls...)
	if !types {
		return append(append(body, 0), values...)
	}
	return append(append(append(body, 1), kinds...), values...)
}

// longData stands for a parameter that COM_STMT_SEND_LONG_DATA has sent.
type longData struct{}

// rowText is the first row of a text answer, columns joined by |.
func rowText(answer [][]byte) string {
	if len(answer) == 0 || answer[0][0] == wire.OKHeader || answer[0][0] == wire.ErrHeader {
		return ""
	}
	at := 2 + int(answer[0][0])
	if at >= len(answer) {
		return ""
	}
	return columns(answer[at])
}

func columns(row []byte) string {
	var texts []string
	for len(row) > 0 {
		if row[0] == 0xfb {
			texts, row = append(texts, "NULL"), row[1:]
			continue
		}
		n, head := int(row[0]), 1
		if row[0] == 0xfc {
			n, head = int(binary.LittleEndian.Uint16(row[1:])), 3
		}
		if head+n > len(row) {
			return strings.Join(texts, "|") + "|?"
		}
		texts, row = append(texts, string(row[head:head+n])), row[head+n:]
	}
	return strings.Join(texts, "|")
}

// status is the flags of the answer's last packet, and its warnings.
func status(t testing.TB, answer [][]byte) (flags wire.Status, warnings uint16) {
	t.Helper()
	last := answer[len(answer)-1]
	switch {
	case last[0] == wire.EOFHeader && len(last) == 5:
		return wire.Status(binary.LittleEndian.Uint16(last[3:])), binary.LittleEndian.Uint16(last[1:])
	case last[0] == wire.OKHeader:
		ok, _ := wire.ParseOK(last, false)
		return ok.Status, ok.Warnings
	}
	t.Errorf("an answer that ends in %.100q has no status", last)
	return 0, 0
}

// expectOthersUndisturbed says that nothing of the client shows on the other sessions.
func (w *twin) expectOthersUndisturbed() {
	w.t.Helper()
	for _, o := range w.others {
		const own = "SELECT CONCAT_WS('|', @@time_zone, @@sql_mode, @@sql_select_limit, @@character_set_client, @@autocommit, DATABASE(), @@tx_isolation, @@tx_read_only)"
		if got := queryRaw(w.t, o, own); got != "+09:00|ANSI_QUOTES|1000|latin1|ON|mysql|REPEATABLE-READ|OFF" {
			w.t.Errorf("another session has %s", got)
		}
	}
}
