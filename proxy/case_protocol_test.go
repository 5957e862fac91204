package proxy_test

import (
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// Reported as sysown/proxysql#2359 and #2298: packets of the later results were numbered wrong, or the later parts were a syntax error.
func TestSeveralStatementsInOneCommandAreAnsweredInOneSequence(t *testing.T) {
	w := newTwin(t, 1, twinCapabilities) // one backend: if it were lent out between the parts, the others would have it
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	for _, q := range []string{
		"INSERT INTO t(v) VALUES(1); SELECT LAST_INSERT_ID(); SELECT nosuch; SELECT 3",
		strings.Repeat("CREATE TABLE IF NOT EXISTS t2 (a INT);", 7),
		"SELECT 1; SELECT 2; INSERT INTO t(v) VALUES (2),(3); UPDATE t SET v=v+1; DELETE FROM t WHERE v=3; SELECT COUNT(*) FROM t",
		"SELECT REPEAT('x', 100000); SELECT REPEAT('y', 70000); DO 1", "BEGIN; INSERT INTO t(v) VALUES (5); ROLLBACK; SELECT COUNT(*) FROM t",
		"SELECT 1;", ";", "", ";;SELECT 1", "SELECT 1;;SELECT 2", "SELECT 1 ; ", "SELECT ';'; SELECT \";\"; SELECT `a;b` FROM (SELECT 1 AS `a;b`) x", "SELECT 1; nonsense; SELECT 2", "nonsense; SELECT 1",
		"SET @x=1; SELECT @x; SET @x=NULL", "INSERT INTO t(id) VALUES (1); SELECT 1", "SELECT 1 -- ; SELECT 2", "SELECT 1 /* ; SELECT 2 */; SELECT 3", "CREATE PROCEDURE many() BEGIN SELECT 1; SELECT 2; END; CALL many(); SELECT 4",
		"CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.v=7; SET NEW.v=8; END", "INSERT INTO t(v) VALUES (0); SELECT v FROM t ORDER BY id DESC LIMIT 1", "BEGIN NOT ATOMIC SELECT 1; SELECT 2; END", "DELIMITER //"} {
		w.query(q)
		w.value("next", "SELECT 'next'")
	}
	w.command(wire.ComSetOption, "\x01\x00")
	w.query("SELECT 1; SELECT 2", "SELECT 1;", "SELECT 3")
	w.command(wire.ComSetOption, "\x00\x00")
	w.query("SELECT 1; SELECT 2")
	single := newTwin(t, 2, wiretest.PlainCapabilities)
	single.query("SELECT 1; SELECT 2", "SELECT 1;", "SELECT 1; ", "SELECT 1; -- x", ";", "SELECT 5")
}

// Reported as sysown/proxysql#3833, #4167, #1752 and go-mysql-org/go-mysql#1154: OUT parameters came back null, or the client
// waited for results that were not passed on, or was refused (1312) for want of a capability.
func TestProceduresGiveAllTheirResultsAndParameters(t *testing.T) {
	for _, caps := range []wire.Capability{twinCapabilities, twinCapabilities | wire.SessionTrack, wiretest.PlainCapabilities, wiretest.PlainCapabilities &^ wire.MultiResults} {
		w := newTwin(t, 3, caps)
		w.query("CREATE PROCEDURE po(IN x INT, OUT y INT, INOUT z INT) BEGIN SELECT x; SET y=x*2; SET z=z+1; END", "CREATE PROCEDURE quiet() BEGIN DO 1; END",
			"CREATE PROCEDURE fails() BEGIN SELECT 1; SELECT 2; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT='no'; END", "CREATE PROCEDURE warns() BEGIN SELECT 1/0; END")
		w.query("CALL po(5,@y,@z)")
		st := w.prepare("CALL po(?,?,?)")
		if st.via != 0 {
			answer := w.execute(st, 5, 0, 7)
			if caps == twinCapabilities && len(answer) != 5+6+1 {
				t.Errorf("%d packets, want two result sets of one row and an OK", len(answer))
			}
			w.again(st, 6, nil, 8)
		}
		for _, p := range []string{"CALL quiet()", "CALL fails()", "CALL warns()", "CALL nosuch()", "CALL po(1)"} {
			w.query(p)
			if st := w.prepare(p); st.via != 0 {
				w.execute(st)
			}
			w.query("SELECT 1")
		}
		answer := w.query("SET @z=7", "CALL po(5,@y,@z)", "SELECT @y,@z")
		if got := rowText(answer); got != "10|8" && caps.Has(wire.MultiResults) {
			t.Errorf("got %s, want 10|8", got)
		}
	}
}

// Reported as sysown/proxysql#1350 and go-mysql-org/go-mysql#208: a payload that fills its last packet is followed by an empty one;
// who forgot it waited for ever. TestLargeResultsAndCommandsPass has the queries and their results.
func TestLargeParametersAndEmptyTextsPass(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	st := w.prepare("SELECT CRC32(?), LENGTH(?)")
	// More than a packet holds, and a payload that fills one to the brim: 22 bytes of it are no text.
	for _, n := range []int{17 << 20, wire.MaxPayload - 22} {
		w.execute(st, strings.Repeat("p", n), "x")
		w.value("1", "SELECT 1")
	}
	w.fails(1065, "")
	w.fails(1065, " ")
	w.query("/* conn_tag:a */", "-- conn_tag:a", "# x\n", ";", "\x00", "SELECT 1\x00", "SELECT '\x00'", "/*!50000 */", "/*!99999 nonsense */", "/* unclosed", "SELECT 'unclosed", "SELECT 1")
}

// Reported as sysown/proxysql#3500 and #833: the proxy answered the server's request for a file itself, from its own disk.
func TestTheProxysOwnFilesAreNeverLoaded(t *testing.T) {
	h := newHouse(t, 2)
	a := h.client(t)
	exec(t, a, "CREATE TABLE t (v VARCHAR(100))")
	exec(t, a, "CREATE TABLE t2 (v VARCHAR(100))")
	name := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(name, []byte("the proxy's own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ content, want string }{{"of the client\nsecond\n", "of the client|second"}, {"", "NULL"}} {
		// The client has a file of that name, too, with another content.
		mysql.RegisterReaderHandler("proxysname", func() io.Reader { return strings.NewReader(c.content) })
		exec(t, a, "LOAD DATA LOCAL INFILE 'Reader::proxysname' INTO TABLE t")
		expect(t, a, c.want, "SELECT GROUP_CONCAT(v SEPARATOR '|') FROM t")
		exec(t, a, "DELETE FROM t")
	}
	if _, err := a.ExecContext(context.Background(), "LOAD DATA LOCAL INFILE '"+name+"' INTO TABLE t2"); err == nil {
		t.Error("a file that the client does not have was loaded")
	}
	expect(t, a, "0", "SELECT COUNT(*) FROM t2")
	expectPins(t, h)
}

// Reported as sysown/proxysql#3547: rows that ended in an error were closed in the wrong form, and the client lost step.
func TestResultsThatFailHalfWayEndInTheirError(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.quiet = true
	const half = "SELECT REPEAT('x',9000), (SELECT seq FROM seq_1_to_3 WHERE seq>=IF(s.seq>3000,1,3)) FROM seq_1_to_5000 s"
	last := func(answer [][]byte, code uint16) {
		t.Helper()
		if got := wire.ErrCode(answer[len(answer)-1]); got != code || len(answer) < 100 {
			t.Errorf("%d packets that end in error %d, want %d behind the rows", len(answer), got, code)
		}
		w.value("1", "SELECT 1")
	}
	last(w.query(half), 1242)
	last(w.execute(w.prepare(half)), 1242)
	last(w.query(half+"; SELECT 2"), 1242)
	w.query("BEGIN")
	last(w.query(half), 1242)
	w.expectHeld(true)
	w.query("COMMIT")
	w.expectHeld(false)
	if n := caller(t, w.h, "user:"+w.h.Sessions()[0].User).Statements; n == 0 {
		t.Error("no statement was counted")
	}
	// How many rows there are before a time limit differs from run to run.
	w.query("SET max_statement_time=0.05")
	for _, q := range []string{"SELECT REPEAT('x',1000), SLEEP(IF(seq>200,1,0)) FROM seq_1_to_1000", "SELECT SLEEP(5)"} {
		for _, c := range []*wiretest.Client{w.via, w.direct} {
			if err := c.Send(wire.ComQuery, q); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Reply(wire.ShapeResults); refusal(err) != 1969 {
				t.Errorf("%s: got %v, want 1969", q, err)
			}
			if got := queryRaw(t, c, "SELECT 1"); got != "1" {
				t.Errorf("%s: the next answer is %q", q, got)
			}
		}
	}
}

// Reported as sysown/proxysql#5790 and #2329: a collation of the client's that the server does not know was set on the backend
// connection by name, and every login failed.
func TestEveryCollationOfALoginIsWhatTheServerMakesOfIt(t *testing.T) {
	h := newHouse(t, 2)
	for id := 1; id <= 255; id++ {
		got, err := collationOf(t, h.Addr().String(), byte(id))
		want, wantErr := collationOf(t, server.Addr(), byte(id))
		if wantErr == nil && (got != want || err != nil) {
			t.Errorf("collation %d: got %s, %v, directly %s", id, got, err, want)
		}
	}
	w := newTwin(t, 2, twinCapabilities)
	w.query("SHOW VARIABLES LIKE 'collation_connection'", "SHOW VARIABLES LIKE 'character_set_%'", "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci", "SET collation_connection=utf8mb4_0900_ai_ci", "SELECT 'é' = 'e', COLLATION('x')")
}

// collationOf is what a session sees that logged in with the id.
func collationOf(t testing.TB, addr string, id byte) (string, error) {
	t.Helper()
	c, err := wiretest.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Login(wiretest.Login{User: mariadbtest.User, Password: mariadbtest.Password, Collation: id}); err != nil {
		return "", err
	}
	return c.Query("SELECT CONCAT_WS(' ', @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection, COLLATION('x'))")
}

// A client may send its next command before it has read the last answer; answers come in order.
func TestCommandsSentAheadAreAnsweredInOrder(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	commands := []string{"BEGIN", "INSERT INTO t(v) VALUES (1)", "SELECT LAST_INSERT_ID()", "SELECT nosuch", "SELECT REPEAT('x', 50000)", "SET time_zone='+01:00'", "ROLLBACK", "SELECT @@time_zone, COUNT(*) FROM t", "USE mysql", "SELECT DATABASE()", "SELECT 1; SELECT 2"}
	var ahead []byte
	for _, q := range commands {
		ahead = append(ahead, framed(wire.ComQuery, q)...)
	}
	ahead = append(ahead, framed(wire.ComPing, "")...)
	var answers [2][][]byte
	for i, c := range []*wiretest.Client{w.via, w.direct} {
		if _, err := c.Write(ahead); err != nil {
			t.Fatal(err)
		}
		for _, q := range append(commands, "ping") {
			c.Seq = 1
			packets, err := c.Reply(wire.ShapeResults)
			if err != nil && refusal(err) == 0 {
				t.Fatalf("%s: %v", q, err)
			}
			answers[i] = append(answers[i], packets...)
		}
	}
	w.compare("all at once", wire.ShapeResults, answers[0], answers[1])
	w.expectHeld(false)
}

// The commands beside queries and statements, and their flags.
func TestSmallCommandsAnswerAsTheServerDoes(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT DEFAULT NULL, v VARCHAR(20) DEFAULT 'x' COMMENT 'c')", "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20) DEFAULT 'x' COMMENT 'c')")
	for _, begin := range []string{"COMMIT", "BEGIN", "SET autocommit=0", "SET autocommit=1, sql_mode='ANSI_QUOTES'", "SET sql_mode='NO_BACKSLASH_ESCAPES'", "SET sql_mode=DEFAULT"} {
		w.doing = begin + ": "
		w.query(begin)
		w.command(wire.ComPing, "")
		for _, fields := range []string{"t\x00", "t\x00v", "nosuch\x00", "t\x00%", "\x00"} {
			w.command(wire.ComFieldList, fields)
		}
		w.both(wire.ComInitDB, wire.ShapeOK, w.viaName, w.directName)
		w.command(wire.ComSetOption, "\x00\x00")
		w.command(wire.ComPing, "")
		w.command(wire.ComDebug, "")
		w.command(wire.ComRefresh, "\x40")
		w.query("DO 1")
		w.query("COMMIT")
	}
	w.doing = ""
	w.both(wire.ComCreateDB, wire.ShapeOK, w.viaName+"_c", w.directName+"_c")
	w.both(wire.ComCreateDB, wire.ShapeOK, w.viaName+"_c", w.directName+"_c")
	w.both(wire.ComInitDB, wire.ShapeOK, w.viaName+"_c", w.directName+"_c")
	w.both(wire.ComDropDB, wire.ShapeOK, w.viaName+"_c", w.directName+"_c")
	w.query("SELECT DATABASE()")
	w.both(wire.ComDropDB, wire.ShapeOK, w.viaName+"_c", w.directName+"_c")
	for range 3 {
		w.query("SELECT DATABASE()")
		w.command(wire.ComFieldList, "t\x00")
	}
	w.expectOthersUndisturbed()
}

// What a reset and a change of user undo in the middle of anything.
func TestResetAndChangeOfUserUndoWhateverIsOpen(t *testing.T) {
	login := func(w *twin) {
		for _, c := range []struct {
			*wiretest.Client
			schema string
		}{{w.via, w.viaName}, {w.direct, w.directName}} {
			if err := c.ChangeUser(wiretest.Login{User: mariadbtest.User, Password: mariadbtest.Password, Schema: c.schema, Plugin: nativePlugin}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	for name, undo := range map[string]func(*twin){"reset": func(w *twin) { w.command(wire.ComResetConnection, "") }, "change user": login} {
		w := newTwin(t, 3, twinCapabilities)
		w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "INSERT INTO t(v) VALUES (1)")
		for _, open := range [][]string{{"BEGIN", "INSERT INTO t(v) VALUES (2)"}, {"SET autocommit=0", "INSERT INTO t(v) VALUES (2)"}, {"LOCK TABLES t WRITE", "INSERT INTO t(v) VALUES (3)"}, {"SET @x=1"}, {"SET TRANSACTION READ ONLY"}, {"SET SESSION TRANSACTION READ ONLY"},
			{"CREATE TEMPORARY TABLE temp (a INT)"}, {"DO GET_LOCK('%schema', 0)"}, {"PREPARE s FROM 'SELECT 1'"}, {"HANDLER t OPEN"}, {"SET sql_mode='ANSI_QUOTES', time_zone='+03:00'"}, {"SET NAMES latin1"}, {"SET timestamp=5"}, {"SET insert_id=40"}, {"SET last_insert_id=40"}, {"INSERT INTO t(v) VALUES (4)"},
			{"SET SESSION sql_select_limit=1"}, {"XA START 'x%schema'"}, {"BEGIN", "SAVEPOINT s"}, {"SELECT nosuch"}, {"SET ROLE NONE"}} {
			w.doing = name + " after " + strings.Join(open, ", ") + ": "
			w.query(open...)
			undo(w)
			w.expectHeld(false)
			w.query("SELECT DATABASE(), @x, @@autocommit, @@sql_mode, @@time_zone, @@character_set_client, @@collation_connection, @@tx_read_only, LAST_INSERT_ID(), IS_FREE_LOCK('%schema'), @@timestamp > 1000, @@sql_select_limit", "EXECUTE s", "SELECT * FROM temp",
				"INSERT INTO t(v) VALUES (9)", "SELECT id, v FROM t", "DO 1")
		}
		w.expectOthersUndisturbed()
	}
}

// go-sql-driver's pool resets nothing: what an application leaves in a session is there when it takes it again.
func TestSessionOfADriversPoolKeepsItsState(t *testing.T) {
	h := newHouse(t, 2)
	db := open(t, h.dsn())
	db.SetMaxOpenConns(1)
	use := func(do func(*sql.Conn)) {
		c := conn(t, db)
		defer c.Close()
		do(c)
	}
	use(func(c *sql.Conn) { exec(t, c, "SET time_zone='+05:00'"); exec(t, c, "SET @x=1") })
	end := h.hold(t, 1)
	use(func(c *sql.Conn) { expect(t, c, "+05:00", "SELECT @@time_zone"); expect(t, c, "1", "SELECT @x") })
	end()
}

// A character set that no client may have is refused at the login.
func TestLoginsWithACharacterSetThatNoClientMayHaveAreRefused(t *testing.T) {
	h := newHouse(t, 1)
	for _, id := range []byte{17, 35, 54, 60, 101, 183} {
		_, err := collationOf(t, h.Addr().String(), id)
		_, want := collationOf(t, server.Addr(), id)
		if want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("collation %d: got %v, directly %v", id, err, want)
		}
	}
}
