package proxy_test

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// Reported as mariadb-corporation/MaxScale#195 (MXS-2521), sysown/proxysql#3585 and flike/kingshard#576: on a connection that had
// not seen the types, values became NULL or numbers of another kind, and lengths were counted wrong, worst beside a NULL.
func TestParametersWithoutTypesMeanWhatTheyMeantOnTheConnectionBefore(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	st := w.prepare("SELECT ? + 0, ?")
	w.execute(st, 5, 6)
	for range 4 {
		w.again(st, 8, 9)
		w.again(st, 10, nil)
		w.again(st, nil, nil)
		w.again(st, nil, 11)
	}
	w.execute(st, "5", "text") // other types
	for range 4 {
		w.again(st, "12", "another text")
		w.again(st, nil, strings.Repeat("long ", 100))
	}
	many := make([]any, 20)
	for i := range many {
		many[i] = i
	}
	wide := w.prepare("SELECT CONCAT_WS(',',?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	w.execute(wide, many...)
	for i := range many {
		many[i] = nil
		w.again(wide, many...)
	}
	w.stmt(wire.ComStmtReset, st)
	w.again(st, "still text", "and so it is")
	expectPins(t, w.h)
}

// A statement whose table changes is prepared anew by the server on its own: the client sees new definitions.
func TestPreparedStatementsFollowTheirTablesAndSchema(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
	// Each backend connection finds for itself that the table has changed, and says so once (0x400). That the schema was another
	// one for a moment is noted in the flags of a direct connection (0x4000) even if its client does not track.
	w.unlike = 0x400 | wire.StatusSessionState
	all, insert := w.prepare("SELECT * FROM t"), w.prepare("INSERT INTO t VALUES (?)")
	for range 3 {
		w.execute(all)
	}
	w.query("ALTER TABLE t ADD b VARCHAR(10) DEFAULT 'new'")
	for range 3 {
		w.execute(all)
		w.execute(insert, 2) // 1136
	}
	w.query("DROP TABLE t")
	w.execute(all)
	w.query("CREATE TABLE t (c DOUBLE)")
	for range 3 {
		w.execute(insert, 3)
		w.execute(all)
	}
	for _, sql := range []string{"SELECT nosuch FROM t", "nonsense", "", "SELECT 1; SELECT 2", "SELECT ? FROM nosuch", "SELECT SLEEP(?", "USE mysql", "BEGIN", "SET @v=?", "SHOW WARNINGS", "LOCK TABLES t WRITE",
		"CREATE PROCEDURE p() SELECT 1", "PREPARE s FROM 'SELECT 1'", "/* only a comment */"} {
		w.prepare(sql)
		w.query("DO 1")
	}
	// The schema in which a statement was prepared stays its own.
	w.query("USE mysql")
	for range 3 {
		w.execute(all)
		w.execute(insert, 4)
	}
	w.value("mysql", "SELECT DATABASE()")
}

// Reported as sysown/proxysql#1283: pieces were not passed on, so that the column became NULL, or the parameters behind were shifted.
func TestLongDataArrivesWholeAndInItsPlace(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE b (id INT, d LONGBLOB, e INT, f LONGBLOB)")
	st := w.prepare("INSERT INTO b(id,d,e,f) VALUES (?,?,?,?)")
	piece := func(param byte, text string) {
		w.stmt(wire.ComStmtSendLongData, st, append([]byte{param, 0}, text...)...)
	}
	stored := func(want string) {
		t.Helper()
		w.value(want, "SELECT id, SHA1(d), e, IFNULL(SHA1(f),'none') FROM b")
		w.query("DELETE FROM b")
	}
	for _, p := range []string{"abc", "", "def"} {
		piece(1, p)
	}
	w.execute(st, 1, longData{}, 77, nil)
	stored("1|" + sha("abcdef") + "|77|none")

	piece(3, "third")
	piece(1, "first")
	piece(3, ", and its end")
	w.execute(st, 2, longData{}, 78, longData{})
	stored("2|" + sha("first") + "|78|" + sha("third, and its end"))

	piece(1, "forgotten")
	w.stmt(wire.ComStmtReset, st)
	piece(1, "kept")
	w.execute(st, 3, longData{}, 79, nil)
	stored("3|" + sha("kept") + "|79|none")

	piece(1, "once") // an execute uses it up, whether it works or not
	w.query("ALTER TABLE b ADD UNIQUE (id)", "INSERT INTO b(id) VALUES (4)")
	w.execute(st, 4, longData{}, 80, nil)
	w.query("DELETE FROM b")
	w.execute(st, 5, "now as a value", 81, nil)
	stored("5|" + sha("now as a value") + "|81|none")

	piece(9, "for a parameter that is not there")
	w.execute(st, 6, "x", 82, nil)
	w.query("DELETE FROM b")
	w.stmt(wire.ComStmtReset, st)

	w.quiet = true
	large := strings.Repeat("0123456789abcdef", 20<<20/16)
	for i := 0; i < len(large); i += 64 << 10 {
		piece(1, large[i:i+64<<10])
	}
	w.execute(st, 7, longData{}, 83, nil)
	stored("7|" + sha(large) + "|83|none")
	expectPins(t, w.h)
}

func sha(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Reported as sysown/proxysql#752 and matrixorigin/matrixone#27736: ids stayed in use after a connection had been logged in anew,
// and a reset lost the current schema.
func TestStatementIDsAreTheirSessionsOwnAndEndWithIt(t *testing.T) {
	w := newTwin(t, 1, twinCapabilities)
	other := w.h.rawClient(t)
	st := w.prepare("SELECT 'of this one', ?")
	otherID := other.prepare(t, "SELECT CONCAT('of the other ', ?)")
	for i := range 50 {
		w.execute(st, i)
		if got := other.roundTrip(t, execute(otherID, uint64(i)), wire.ShapeResults); !strings.Contains(string(got), "of the other ") {
			t.Fatalf("round %d: got %q", i, got)
		}
	}
	const seen = "SELECT DATABASE(), @x, IS_FREE_LOCK('case lock %schema'), @@time_zone, @@autocommit"
	w.query("SET @x=1, time_zone='+04:00'", "DO GET_LOCK('case lock %schema', 0)", "CREATE TEMPORARY TABLE temp (a INT)", "BEGIN", "CREATE TABLE IF NOT EXISTS mysql.nosuch_here (a INT, b nonsense)")
	w.command(wire.ComResetConnection, "")
	expectPins(t, w.h)
	w.execute(st, 1)
	w.value("%schema|NULL|1|SYSTEM|1", seen)
	w.fails(1146, "SELECT * FROM temp")

	st = w.prepare("SELECT 2")
	w.execute(st)
	w.query("SET @x=1, time_zone='+04:00'", "DO GET_LOCK('case lock %schema', 0)", "CREATE TEMPORARY TABLE temp (a INT)", "BEGIN")
	for _, c := range []struct {
		*wiretest.Client
		schema string
	}{{w.via, w.viaName}, {w.direct, w.directName}} {
		l := wiretest.Login{User: mariadbtest.User, Password: mariadbtest.Password, Schema: c.schema, Plugin: nativePlugin}
		if err := c.ChangeUser(l); err != nil {
			t.Fatal(err)
		}
	}
	expectPins(t, w.h)
	w.execute(st)
	w.value("%schema|NULL|1|SYSTEM|1", seen)
	w.fails(1146, "SELECT * FROM temp")
	for _, id := range []uint32{0, 999, 1<<32 - 1} {
		unknown := twinStmt{id, id}
		for _, c := range []wire.Command{wire.ComStmtExecute, wire.ComStmtReset, wire.ComStmtFetch, wire.ComStmtClose} {
			w.stmt(c, unknown, 0, 1, 0, 0, 0)
			w.query("DO 1")
		}
	}
	w.execute(w.prepare("SELECT 3"))
}

// A cursor lives where it was opened, and every row of it arrives wherever the session's other statements run.
func TestCursorsGiveEveryRowAmongOtherStatements(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT, v VARCHAR(20))", "INSERT INTO t SELECT seq, CONCAT('row ', seq) FROM seq_1_to_10")
	one, two := w.prepare("SELECT id, v FROM t ORDER BY id"), w.prepare("SELECT v FROM t WHERE id > ?")
	openCursor := func(st twinStmt, params ...any) {
		body := executeBody(true, params...)
		body[0] = 1 // read only cursor
		w.stmt(wire.ComStmtExecute, st, body...)
	}
	fetch := func(st twinStmt, n byte) { w.stmt(wire.ComStmtFetch, st, n, 0, 0, 0) }
	openCursor(one)
	openCursor(two, 4)
	fetch(one, 3)
	w.query("SELECT 'between'", "UPDATE t SET v='changed' WHERE id=10")
	fetch(two, 2)
	fetch(one, 100)
	fetch(one, 1) // beyond the last row
	fetch(two, 100)
	expectPins(t, w.h)
	openCursor(one)
	fetch(one, 1)
	w.execute(one) // without a cursor: the old one is gone
	fetch(one, 1)
	openCursor(one)
	w.stmt(wire.ComStmtReset, one)
	fetch(one, 1)
	openCursor(one)
	w.stmt(wire.ComStmtClose, one)
	fetch(one, 1)
	openCursor(two, 100) // no rows at all
	fetch(two, 1)
	w.query("BEGIN")
	openCursor(two, 1)
	w.query("COMMIT")
	fetch(two, 2)
	w.query("DROP TABLE t")
	fetch(two, 2)
	w.command(wire.ComResetConnection, "")
	expectPins(t, w.h)
}

// Parameters that never had types are refused, whatever another session bound to the same text on the same backend.
func TestParametersThatNeverHadTypesAreRefused(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	other := w.h.rawClient(t)
	const sql = "SELECT CONCAT(? + 0, '|', ?)"
	otherID := other.prepare(t, sql)
	for range 4 {
		other.roundTrip(t, executeWith(otherID, []byte{8, 0, 8, 0}, 1, 2), wire.ShapeResults)
		st := w.prepare(sql)
		w.again(st, 3, 4)
		w.again(st, nil, nil)
		w.execute(st, 5, 6)
		w.again(st, 7, 8)
	}
}
