package proxy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// exchangeStep is a command and the form of its reply.
type exchangeStep struct {
	command  wire.Command
	argument string
	file     [][]byte // for LOCAL INFILE
}

func (s exchangeStep) String() string {
	if len(s.argument) > 100 {
		return fmt.Sprintf("%#x %.100q…", byte(s.command), s.argument)
	}
	return fmt.Sprintf("%#x %q", byte(s.command), s.argument)
}

func query(sql string) exchangeStep { return exchangeStep{command: wire.ComQuery, argument: sql} }

func prepare(sql string) exchangeStep {
	return exchangeStep{command: wire.ComStmtPrepare, argument: sql}
}

// namesStmt reports whether the argument begins with a statement's id.
func (s exchangeStep) namesStmt() bool {
	switch s.command {
	case wire.ComStmtExecute, wire.ComStmtFetch, wire.ComStmtReset:
		return true
	}
	return false
}

// executeStmt executes a statement; each argument is bound as a string.
func executeStmt(id uint32, cursor bool, args ...string) exchangeStep {
	p := binary.LittleEndian.AppendUint32(nil, id)
	flags := byte(0)
	if cursor {
		flags = 1
	}
	p = append(p, flags, 1, 0, 0, 0)
	if len(args) > 0 {
		p = append(append(p, make([]byte, (len(args)+7)/8)...), 1)
		p = append(p, bytes.Repeat([]byte{0xfd, 0}, len(args))...)
		for _, a := range args {
			p = wire.AppendLenString(p, a)
		}
	}
	return exchangeStep{command: wire.ComStmtExecute, argument: string(p)}
}

func fetch(id, rows uint32) exchangeStep {
	p := binary.LittleEndian.AppendUint32(nil, id)
	return exchangeStep{command: wire.ComStmtFetch, argument: string(binary.LittleEndian.AppendUint32(p, rows))}
}

// runSteps returns each reply's packets; their numbers were checked when they were read. Prepared statements are numbered
// from 1 in the steps and in what is returned, whatever their ids.
func runSteps(t testing.TB, c *wiretest.Client, steps []exchangeStep) (replies [][][]byte) {
	t.Helper()
	var ids []uint32
	for _, s := range steps {
		argument, stmt := s.argument, 0
		if s.namesStmt() {
			if stmt = int(argument[0]); stmt <= len(ids) {
				argument = string(binary.LittleEndian.AppendUint32(nil, ids[stmt-1])) + argument[4:]
			}
		}
		c.File = s.file
		if err := c.Send(s.command, argument); err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		packets, err := c.Reply(s.command.Shape())
		switch {
		case err != nil && refusal(err) == 0:
			t.Fatalf("%v: %v, behind %.300x", s, err, packets)
		case err != nil && stmt > 0 && stmt <= len(ids):
			last := &packets[len(packets)-1]
			*last = bytes.ReplaceAll(*last, fmt.Appendf(nil, "(%d)", ids[stmt-1]), fmt.Appendf(nil, "(%d)", stmt))
		case err == nil && s.command == wire.ComStmtPrepare:
			ids = append(ids, binary.LittleEndian.Uint32(packets[0][1:]))
			binary.LittleEndian.PutUint32(packets[0][1:], uint32(len(ids)))
		}
		replies = append(replies, packets)
	}
	return replies
}

const allResults = wiretest.PlainCapabilities | wire.MultiStatements | wire.PSMultiResults | wire.LocalFiles

// replyForms are the capabilities that change a reply's form.
var replyForms = map[string]wire.Capability{
	"modern":          allResults | wire.DeprecateEOF,
	"modern, tracks":  allResults | wire.DeprecateEOF | wire.SessionTrack,
	"classic":         allResults,
	"classic, tracks": allResults | wire.SessionTrack,
}

// direct is a client of the database itself.
func direct(t testing.TB, l wiretest.Login) *wiretest.Client {
	t.Helper()
	c, err := wiretest.Dial(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	l.User, l.Password = mariadbtest.User, mariadbtest.Password
	if err := c.Login(l); err != nil {
		t.Fatal(err)
	}
	return c
}

// compareWithDirect runs the steps through the proxy and directly, each from an empty schema.
func compareWithDirect(t *testing.T, size int, caps wire.Capability, steps []exchangeStep) {
	t.Helper()
	h := newHouse(t, size)
	login := wiretest.Login{Schema: h.schema, Capabilities: caps}
	got := runSteps(t, h.loggedIn(t, login), steps)
	admin := open(t, server.DSN(""))
	exec(t, admin, "DROP DATABASE "+h.schema)
	exec(t, admin, "CREATE DATABASE "+h.schema)
	want := runSteps(t, direct(t, login), steps)
	for i, s := range steps {
		if len(got[i]) != len(want[i]) {
			t.Errorf("%v: %d packets, directly %d\n%.200x\n%.200x", s, len(got[i]), len(want[i]), got[i], want[i])
			continue
		}
		for k := range got[i] {
			if !bytes.Equal(got[i][k], want[i][k]) {
				t.Errorf("%v: packet %d of %d is\n%.200x, directly\n%.200x", s, k, len(want[i]), got[i][k], want[i][k])
				break
			}
		}
	}
}

func textSteps() []exchangeStep {
	wide := make([]string, 300)
	for i := range wide {
		wide[i] = fmt.Sprintf("%d AS a_column_with_quite_a_long_name_%d", i, i)
	}
	many := strings.Repeat("SELECT 1;", 400)
	return []exchangeStep{
		query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200), f FLOAT)"),
		query("INSERT INTO t(v) VALUES ('a'),(NULL),('c')"),
		query("SELECT * FROM t WHERE id=99"),
		query("SELECT * FROM t WHERE id=1"),
		query("SELECT * FROM t"),
		query("SELECT seq, REPEAT('x', seq MOD 50) FROM seq_1_to_1000"),
		query("SELECT REPEAT('x', 1000) FROM seq_1_to_600"),
		query("SELECT REPEAT('x', 16000), seq FROM seq_1_to_30"),
		query("SELECT " + strings.Join(wide, ",") + " FROM seq_1_to_20"),
		query("SELECT 'abc'+1"),
		query("SHOW WARNINGS"),
		query("SELECT * FROM nosuch"),
		query("SELECT seq, IF(seq=200, (SELECT 1 UNION SELECT 2), 0) FROM seq_1_to_300"),
		query("SELECT 1; SELECT 2, 3; DO 1; SELECT * FROM t; INSERT INTO t(v) VALUES ('d'); SELECT 4"),
		query("SELECT 1; SELECT * FROM nosuch; SELECT 2"),
		query(many + "SELECT 2"),
		query(strings.Repeat("SELECT REPEAT('y', 3000) FROM seq_1_to_7; DO 1;", 60) + "DO 2"),
		query("BEGIN"),
		query("SELECT COUNT(*) FROM t"),
		query("UPDATE t SET v='z'"),
		query("SELECT v FROM t"),
		query("COMMIT"),
		query("SET autocommit=0"),
		query("SELECT v FROM t"),
		query("COMMIT"),
		query("SET autocommit=1, sql_mode='ANSI_QUOTES'"),
		query("SELECT v FROM t"),
		query("EXPLAIN SELECT * FROM t"),
		query("CHECK TABLE t"),
		{command: wire.ComFieldList, argument: "t\x00"},
		{command: wire.ComFieldList, argument: "t\x00v"},
		{command: wire.ComFieldList, argument: "nosuch\x00"},
		{command: wire.ComSetOption, argument: "\x01\x00"},
		query("SELECT 1; SELECT 2"),
		{command: wire.ComSetOption, argument: "\x00\x00"},
		{command: wire.ComDebug},
		{command: wire.ComPing},
		query("CREATE TABLE l (a INT, b VARCHAR(20))"),
		{command: wire.ComQuery, argument: "LOAD DATA LOCAL INFILE 'f' INTO TABLE l FIELDS TERMINATED BY ','", file: [][]byte{[]byte("1,a\n2,b\n"), []byte("3,c\n")}},
		{command: wire.ComQuery, argument: "SELECT 1; LOAD DATA LOCAL INFILE 'f' INTO TABLE l FIELDS TERMINATED BY ','; SELECT * FROM l", file: [][]byte{[]byte("4,d\n"), []byte("5,c\n")}},
		{command: wire.ComQuery, argument: "SELECT 1; SELECT 2; LOAD DATA LOCAL INFILE 'f' INTO TABLE nosuch; SELECT 1"},
		query("SELECT * FROM l"),
		query("CREATE PROCEDURE p(OUT o INT) BEGIN SELECT 1 AS one; SELECT v FROM t; SET o=7; END"),
		query("CALL p(@o)"),
		query("SELECT @o"),
		query("CREATE PROCEDURE fails() BEGIN SELECT 1; SELECT * FROM nosuch; END"),
		query("CALL fails()"),
		query("INSERT INTO t(v) VALUES ('r') RETURNING id, v"),
		query("DELETE FROM t RETURNING id"),
	}
}

func TestTextRepliesAreThoseOfADirectConnection(t *testing.T) {
	for name, caps := range replyForms {
		t.Run(name, func(t *testing.T) { compareWithDirect(t, 2, caps, textSteps()) })
	}
}

func binarySteps() []exchangeStep {
	return []exchangeStep{
		query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200))"),
		query("INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c')"),
		prepare("DO 1"),
		prepare("SELECT id FROM t"),
		prepare("SELECT id, v, 1 FROM t WHERE id>?"),
		prepare("INSERT INTO t VALUES (?,?) ON DUPLICATE KEY UPDATE v=?"),
		prepare("SELECT nosuch FROM t"),
		prepare("SELECT ?, ?, ?"),
		executeStmt(1, false),
		executeStmt(2, false),
		executeStmt(3, false, "1"),
		executeStmt(3, false, "99"),
		executeStmt(4, false, "4", "d", "e"),
		executeStmt(5, false, "a", "b", "c"),
		executeStmt(77, false),
		executeStmt(2, true),
		fetch(2, 1),
		fetch(2, 2),
		fetch(2, 100),
		fetch(2, 1),
		executeStmt(3, true, "99"),
		fetch(3, 5),
		executeStmt(3, true, "1"),
		fetch(3, 1),
		{command: wire.ComStmtReset, argument: "\x03\x00\x00\x00"},
		executeStmt(1, true),
		prepare("SELECT seq, REPEAT('x', 500) FROM seq_1_to_500"),
		executeStmt(6, true),
		fetch(6, 300),
		fetch(6, 300),
		executeStmt(6, false),
		query("CREATE PROCEDURE p(IN i INT, OUT o VARCHAR(20), INOUT io INT) BEGIN SELECT i; SELECT v FROM t; SET o='out'; SET io=io+1; END"),
		prepare("CALL p(?,?,?)"),
		executeStmt(7, false, "1", "2", "3"),
		prepare("SELECT seq, IF(seq=200, (SELECT 1 UNION SELECT 2), 0) FROM seq_1_to_300"),
		executeStmt(8, false),
		prepare("SHOW TABLES"),
		executeStmt(9, false),
		query("BEGIN"),
		executeStmt(3, false, "1"),
		query("COMMIT"),
	}
}

func TestBinaryRepliesAreThoseOfADirectConnection(t *testing.T) {
	for name, caps := range replyForms {
		t.Run(name, func(t *testing.T) { compareWithDirect(t, 2, caps, binarySteps()) })
	}
}

func trackedSteps() []exchangeStep {
	return []exchangeStep{
		query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))"),
		query("CREATE FUNCTION zone(z VARCHAR(20)) RETURNS INT BEGIN SET time_zone=z; RETURN 1; END"),
		query("CREATE FUNCTION mode(m VARCHAR(20)) RETURNS INT BEGIN SET sql_mode=m; RETURN 1; END"),
		query("SELECT zone('+03:00')"),
		query("SELECT 1"),
		query("SELECT @@time_zone"),
		query("SELECT mode('ANSI_QUOTES')"),
		query("SELECT zone('+04:00') UNION ALL SELECT seq FROM seq_1_to_2000"),
		query("SELECT zone('+04:00'), (SELECT 1 UNION SELECT 2)"),
		query("SELECT 1"),
		query("SELECT zone('+04:00') FROM seq_1_to_3"),
		query("SELECT FOUND_ROWS()"),
		query("SELECT zone('+04:00') FROM seq_1_to_3"),
		query("SELECT ROW_COUNT()"),
		query("SELECT zone('+04:00'), 'abc'+1"),
		query("SHOW WARNINGS"),
		query("SELECT SQL_CALC_FOUND_ROWS zone('+04:00') FROM seq_1_to_3 LIMIT 2"),
		query("SELECT FOUND_ROWS()"),
		query("SELECT zone('+04:00'), LAST_INSERT_ID(7)"),
		query("SELECT LAST_INSERT_ID()"),
		query("SELECT zone('+04:00'), @v:=5"),
		query("SELECT @v, @@warning_count"),
		query("DO zone('+05:00')"),
		query("INSERT INTO t(v) VALUES (zone('+06:00')) RETURNING id, v"),
		query("SELECT @v:=3"),
		prepare("SELECT zone('+07:00')"),
		executeStmt(1, false),
		executeStmt(1, true),
		fetch(1, 2),
		query("SELECT @@time_zone"),
	}
}

func TestATrackingClientIsToldOfStateThatAQueryChanged(t *testing.T) {
	for _, name := range []string{"modern, tracks", "modern"} {
		t.Run(name, func(t *testing.T) { compareWithDirect(t, 1, replyForms[name], trackedSteps()) })
	}
}

func TestAChangeAmongSeveralResultsIsToldInTheLast(t *testing.T) {
	h := newHouse(t, 1)
	c := h.loggedIn(t, wiretest.Login{Schema: h.schema, Capabilities: replyForms["modern, tracks"]})
	replies := runSteps(t, c, []exchangeStep{
		query("CREATE PROCEDURE p() BEGIN SET time_zone='+08:00'; SELECT 1; SELECT 2; END"),
		query("CREATE FUNCTION zone(z VARCHAR(20)) RETURNS INT BEGIN SET time_zone=z; RETURN 1; END"),
		query("CALL p()"),
		query("SELECT zone('+01:00'); SELECT 1"),
	})
	for i, want := range []string{2: "+08:00", 3: "+01:00"} {
		last := replies[i][len(replies[i])-1]
		ok, _ := wire.ParseOK(last, true)
		tracks := wire.NewTracks(ok.State)
		if track, _ := tracks.Next(); want != "" && (string(track.Name) != "time_zone" || string(track.Value) != want) {
			t.Errorf("reply %d ends with %q, want %s in it", i, last, want)
		}
	}
}

func TestRowsOf16MiBAreThoseOfADirectConnection(t *testing.T) {
	admin := open(t, server.DSN(""))
	before := value(t, admin, "SELECT @@global.max_allowed_packet")
	exec(t, admin, "SET GLOBAL max_allowed_packet=64*1024*1024")
	t.Cleanup(func() { exec(t, admin, "SET GLOBAL max_allowed_packet="+before) })
	// A row is a length of four bytes and the text, from 16 MiB on a length of nine bytes that begins with 0xfe.
	var steps []exchangeStep
	for _, size := range []int{wire.MaxPayload - 5, wire.MaxPayload - 4, wire.MaxPayload + 1, 2*wire.MaxPayload - 9} {
		steps = append(steps, query(fmt.Sprintf("SELECT REPEAT('x', %d) AS big UNION ALL SELECT 'small'", size)))
	}
	compareWithDirect(t, 1, replyForms["modern"], steps)
}

// The proxy answers SHOW WARNINGS itself when another session has used the connection in between.
func TestWarningsThatTheProxyShowsHaveTheClientsForm(t *testing.T) {
	for name, caps := range replyForms {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, 1)
			login := wiretest.Login{Schema: h.schema, Capabilities: caps}
			c, noise, d := h.loggedIn(t, login), h.loggedIn(t, wiretest.Login{}), direct(t, login)
			for _, step := range []exchangeStep{query("SHOW WARNINGS"), query("SHOW ERRORS"), query("SHOW WARNINGS LIMIT 1,1")} {
				cause := []exchangeStep{query("SELECT 'abc'+1, 'de'+2")}
				runSteps(t, c, cause)
				queryRaw(t, noise, "SELECT 1")
				runSteps(t, d, cause)
				got, want := runSteps(t, c, []exchangeStep{step}), runSteps(t, d, []exchangeStep{step})
				if !slices.EqualFunc(got[0], want[0], bytes.Equal) {
					t.Errorf("%v: got %q, directly %q", step, got[0], want[0])
				}
			}
		})
	}
}

func TestClientsOfBothFormsShareOneBackendConnection(t *testing.T) {
	h := newHouse(t, 1)
	var clients []*wiretest.Client
	for _, caps := range replyForms {
		clients = append(clients, h.loggedIn(t, wiretest.Login{Schema: h.schema, Capabilities: caps}))
	}
	runSteps(t, clients[0], []exchangeStep{query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"), query("INSERT INTO t VALUES (1,'a'),(2,'b')")})
	for round := range 20 {
		for i, c := range clients {
			for _, want := range []string{"a", "b"} {
				if got := queryRaw(t, c, "SELECT v FROM t WHERE v='"+want+"'"); got != want {
					t.Fatalf("round %d, client %d: got %q, want %q", round, i, got, want)
				}
			}
			runSteps(t, c, []exchangeStep{
				prepare("SELECT id, v FROM t WHERE id>?"), executeStmt(1, false, "0"), executeStmt(1, true, "0"), fetch(1, 10),
				query("SELECT 1; SELECT * FROM t; DO 1"), {command: wire.ComFieldList, argument: "t\x00"},
			})
		}
	}
	if n := h.Snapshot().Pools[0].Stat.Dials; n != 1 {
		t.Errorf("%d backend connections were made, want 1", n)
	}
}
