package proxy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/conntag/conntag/proxy/wire"
)

// Reported as sysown/proxysql#3000 and #1160: variables that a client had not set were left as the client before had
// them, and the reset of a pooled connection forgot sql_mode and the time zone.
func TestVariablesThatASessionNeverSetAreTheServersOwn(t *testing.T) {
	w := newTwin(t, 1, twinCapabilities)
	const seen = "SELECT @@sql_mode, @@time_zone, HOUR(TIMEDIFF(NOW(), UTC_TIMESTAMP()))"
	first := w.via
	for range 3 {
		setter := w.h.client(t)
		exec(t, setter, "SET SESSION sql_mode='ANSI_QUOTES'")
		exec(t, setter, "SET time_zone='+05:00'")
		expect(t, setter, "1", "SELECT 1")
		w.query(seen, `SELECT "a"`)
		expect(t, setter, "ANSI_QUOTES", "SELECT @@sql_mode")
		expect(t, setter, "+05:00", "SELECT @@time_zone")
		closeHard(t, setter)
		w.query(seen, `SELECT "a"`)
		w.login(twinCapabilities) // a new client, after the one that set them has gone
		w.query(seen, `SELECT "a"`)
	}
	if got := queryRaw(t, first, `SELECT "a"`); got != "a" {
		t.Errorf("the first client got %q", got)
	}
	w.expectOthersUndisturbed()
}

// Reported as sysown/proxysql#2528 and #1019: now and then the same statement of the same client came back with a question
// mark in place of a character, because the connection had another client's character set.
func TestCharacterSetsStayWithTheirClient(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	latin := w.h.client(t)
	exec(t, latin, "SET NAMES latin1")
	w.query("SET NAMES utf8mb4")
	for i := range 20 {
		w.value("F09F9880|😀|utf8mb4", "SELECT HEX('😀'), '😀', @@character_set_results")
		if i%3 == 0 {
			exec(t, latin, "SET NAMES latin1")
		}
		expect(t, latin, "\xe9", "SELECT '\xe9'")
		expect(t, latin, "E9", "SELECT HEX('\xe9')")
	}
	w.query("SET NAMES utf8mb4 COLLATE utf8mb4_bin")
	w.value("utf8mb4_bin", "SELECT @@collation_connection")
	w.value("0", "SELECT 'a'='A'")
	for _, names := range []string{"SET NAMES 'latin1'", "SET NAMES latin1 COLLATE latin1_german1_ci", "SET NAMES DEFAULT", "SET CHARACTER SET utf8mb4", "SET CHARSET latin1",
		"SET character_set_client=utf8mb4, character_set_results=NULL", "SET NAMES binary", "SET NAMES ucs2", "SET NAMES nosuch", "SET NAMES utf8mb4 COLLATE latin1_bin",
		"SET NAMES utf8mb3", "SET NAMES cp1251, time_zone='+01:00'", "/*!40101 SET NAMES utf8mb4 */"} {
		w.query(names, "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection, '\xe9', HEX('é'), COLLATION('x')")
	}
	w.expectOthersUndisturbed()
}

// Reported as sysown/proxysql#1807: only text showed that a temporary table was made, so with prepared statements the table was
// lost, and was found by others on their connection.
func TestTemporaryTablesOfPreparedStatementsStayWithTheirSession(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	for range 2 {
		create := w.prepare("CREATE TEMPORARY TABLE x (a INT)")
		w.execute(create)
		insert := w.prepare("INSERT INTO x VALUES (1)")
		w.execute(insert)
		sel := w.prepare("SELECT * FROM x")
		w.execute(sel)
		for _, st := range []twinStmt{create, insert, sel} {
			w.stmt(wire.ComStmtClose, st)
		}
		w.value("1", "SELECT * FROM x")
		w.h.expectFreeFor(t, "CREATE TEMPORARY TABLE x (a INT)")
		_ = w.via.Close()
		_ = w.direct.Close()
		expectInUse(t, w.h, 0)
		w.h.expectFreeFor(t, "CREATE TEMPORARY TABLE x (a INT)")
		w.login(twinCapabilities)
		w.fails(1146, "SELECT * FROM x")
	}
}

// expectFreeFor runs a statement for a new client, which then goes.
func (h *house) expectFreeFor(t testing.TB, sql string) {
	t.Helper()
	c := h.client(t)
	exec(t, c, sql)
	closeHard(t, c)
}

// Reported as sysown/proxysql#2441: a SET with several assignments was split at the wrong comma and put onto the next
// connection in pieces, so that the statement after it failed.
func TestSetOfManyVariablesIsTakenApartAsTheServerDoes(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	for _, q := range []string{
		"SET autocommit=1, sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES'), net_write_timeout=1800",
		"SET sql_mode='ANSI,NO_BACKSLASH_ESCAPES', time_zone='+02:00', sql_select_limit=12",
		`SET SESSION sql_mode = (SELECT 'ANSI_QUOTES'), @@session.time_zone := "+03:00", LOCAL lc_time_names=de_DE`,
		"SET sql_mode=REPLACE(REPLACE(@@sql_mode,'ANSI_QUOTES',''),'STRICT_TRANS_TABLES',''), net_read_timeout=(1+2)*3",
		"SET sql_mode='NO_SUCH_MODE,ANSI', time_zone='+08:00'",
		"SET net_write_timeout=77, sql_mode='nosuch'", // nothing, or the first half
		"SET @@sql_mode='', @@net_write_timeout=DEFAULT",
		"SET GLOBAL net_retry_count=10, SESSION net_write_timeout=99, max_sort_length=2048",
		"SET max_statement_time=0.5, lock_wait_timeout=33 -- , time_zone='+11:00'",
		"SET /* , */ time_zone /* = */ = /* ; */ '+06:00' # , sql_mode='x'",
	} {
		w.query(q, "SELECT COUNT(*) > 0 FROM information_schema.tables WHERE table_schema='mysql'",
			"SELECT @@sql_mode, @@net_write_timeout, @@net_read_timeout, @@time_zone, @@sql_select_limit, @@lc_time_names, @@max_sort_length, @@max_statement_time, @@lock_wait_timeout")
	}
	w.query("SET sql_mode='ANSI', time_zone='+02:00', @x='a,b;c'")
	w.value("a,b;c", "SELECT @x")
	w.expectOthersUndisturbed()
}

// Reported as sysown/proxysql#3493, #2338 and #3993: a comment hid USE, a wrong name was taken and made every later statement
// fail, and USE among other statements got no answer.
func TestUseIsSeenInEverySpellingAndFailsAtOnce(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE DATABASE %schema_2", "CREATE TABLE %schema.place (a TEXT)", "INSERT INTO place VALUES ('one')",
		"CREATE TABLE %schema_2.place (a TEXT)", "INSERT INTO %schema_2.place VALUES ('two')")
	t.Cleanup(func() {
		for _, name := range []string{w.viaName, w.directName} {
			exec(t, open(t, server.DSN("")), "DROP DATABASE IF EXISTS "+name+"_2")
		}
	})
	for _, use := range []string{"/* conn_tag:a */ USE %schema_2", "use `%schema_2`", "USE\n%schema_2", "-- x\nuse %schema_2", "# x\nUSE %schema_2;", "/*!50000 USE %schema_2 */", "DO 1; USE %schema_2",
		"USE %schema_2; SELECT DATABASE()", "USE %schema_2; USE nosuch", "USE nosuch; USE %schema_2"} {
		w.query("USE %schema", "SELECT DATABASE()", use, "SELECT DATABASE()")
		for range 4 {
			w.query("SELECT a FROM place")
		}
	}
	w.query("USE %schema_2")
	for _, nosuch := range []string{"USE nosuch", "/* conn_tag:a */ USE nosuch", "USE", "USE ``", "USE 'mysql'", "USE mysql.user"} {
		w.query(nosuch, "SELECT DATABASE(), (SELECT a FROM place)")
	}
	for range 10 {
		w.value("two", "SELECT a FROM place")
	}
	w.both(wire.ComInitDB, wire.ShapeOK, w.viaName, w.directName)
	w.value("one|%schema", "SELECT a, DATABASE() FROM place")
	w.command(wire.ComInitDB, "nosuch")
	w.command(wire.ComInitDB, "")
	w.value("one|%schema", "SELECT a, DATABASE() FROM place")
	w.query("CREATE DATABASE %schema_3; USE %schema_3; DROP DATABASE %schema_3; SELECT DATABASE()", "SELECT DATABASE()")
	w.fails(1046, "SELECT a FROM place")
	w.query("USE %schema", "SELECT a FROM place")
	w.expectOthersUndisturbed()
}

// Reported as sysown/proxysql#1452, #1048 and #4621: the bare text was answered, other spellings gave 0 or another client's.
func TestLastInsertIDIsRightInEverySpellingWhereverItRuns(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "CREATE TABLE t2 (ref INT)", "INSERT INTO t(v) VALUES (1)")
	spellings := []string{"SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() AS ID", "SELECT LAST_INSERT_ID();", "SELECT LAST_INSERT_ID() FROM DUAL", "select Last_Insert_Id ( )",
		"/* conn_tag:a */ SELECT LAST_INSERT_ID()", "SELECT @@identity", "SELECT @@last_insert_id", "SELECT @@session.identity", "SELECT id FROM t WHERE id = LAST_INSERT_ID()", "SELECT id FROM t WHERE id IS NULL",
		"SELECT (SELECT LAST_INSERT_ID()) + 0", "/*!50000 SELECT LAST_INSERT_ID() */", "DO 1; SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() UNION SELECT 0"}
	prepared := w.prepare("SELECT LAST_INSERT_ID()")
	check := func() {
		t.Helper()
		w.query(spellings...)
		w.execute(prepared)
	}
	check()
	w.query("INSERT INTO t(id,v) VALUES (900,1)")
	check()
	for _, change := range []string{"INSERT INTO t(v) VALUES (2),(3),(4)", "INSERT IGNORE INTO t(id,v) VALUES (900,2)", "REPLACE INTO t(id,v) VALUES (900,3)", "INSERT INTO t(id,v) VALUES (900,1) ON DUPLICATE KEY UPDATE id=LAST_INSERT_ID(id)",
		"INSERT INTO t(v) SELECT v FROM t", "UPDATE t SET v=LAST_INSERT_ID(v+10) LIMIT 1", "INSERT INTO t(id,v) VALUES (1,1)", "INSERT INTO t(v) VALUES (nosuch)", "SELECT LAST_INSERT_ID(77)", "INSERT INTO t2(ref) VALUES (LAST_INSERT_ID())",
		"INSERT INTO t2 VALUES (5)", "SET last_insert_id=55", "BEGIN", "INSERT INTO t(v) VALUES (10)", "ROLLBACK", "UPDATE t SET v=1 WHERE id=LAST_INSERT_ID()",
		"DELETE FROM t WHERE id=LAST_INSERT_ID()", "SELECT LAST_INSERT_ID(NULL)", "SELECT LAST_INSERT_ID(-1)", "SELECT LAST_INSERT_ID(12) FROM t", "DO LAST_INSERT_ID(13)",
		"LOAD DATA INFILE '/nosuch' INTO TABLE t", "TRUNCATE TABLE t"} {
		w.doing = "after " + change + ": "
		w.query(change)
		check()
	}
	insert := w.prepare("INSERT INTO t(v) VALUES (?)")
	for i := range 3 {
		w.execute(insert, i)
		check()
	}
	w.query("SELECT ref FROM t2")
	expectPins(t, w.h)
	w.query("SET @@identity=56")
	check()
	w.query("SET insert_id=5000", "INSERT INTO t(v) VALUES (9)")
	check()
	w.command(wire.ComResetConnection, "")
	w.query(spellings...)
}

func TestTwoSessionsTakingTurnsOnOneBackendSeeOnlyTheirOwn(t *testing.T) {
	h := newHouse(t, 1)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	for i := range 20 {
		want := string(rune('a' + i))
		exec(t, a, "SET lc_time_names='de_DE', group_concat_max_len=?", 1000+i)
		exec(t, b, "SET time_zone='+0"+string(rune('1'+i%8))+":00'")
		exec(t, a, "INSERT INTO t(v) VALUES (?)", i)
		exec(t, b, "DO LAST_INSERT_ID(?)", 100+i)
		expect(t, a, "en_US", "SELECT @@global.lc_time_names")
		expect(t, b, "en_US", "SELECT @@lc_time_names")
		expect(t, a, "SYSTEM", "SELECT @@time_zone")
		st, err := a.PrepareContext(context.Background(), "SELECT CONCAT('"+want+"', LAST_INSERT_ID()-?)")
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := st.QueryRow(i).Scan(&got); err != nil || !strings.HasPrefix(got, want+"1") {
			t.Errorf("round %d: got %q, %v", i, got, err)
		}
		_ = st.Close()
	}
	expectPins(t, h)
}

// Reported as sysown/proxysql#2101 and #5233: more than half of the answers were another connection's, when the first statement was a
// prepared one.
func TestFoundRowsAndRowCountAreOfTheSessionsOwnLastStatement(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t SELECT seq, 0 FROM seq_1_to_7")
	calc, found, update, count := w.prepare("SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 2"), w.prepare("SELECT FOUND_ROWS()"), w.prepare("UPDATE t SET v=v+1 WHERE id<4"), w.prepare("SELECT ROW_COUNT()")
	text := func(sql string) func() [][]byte { return func() [][]byte { return w.query(sql) } }
	binary := func(st twinStmt) func() [][]byte { return func() [][]byte { return w.execute(st) } }
	for _, first := range []func() [][]byte{text("SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 2"), binary(calc), text("/* conn_tag:a */ select sql_calc_found_rows id from t limit 0, 1"), text("SELECT id FROM t LIMIT 4"), text("(SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 1) UNION ALL (SELECT 9) LIMIT 1")} {
		for _, then := range []func() [][]byte{text("SELECT FOUND_ROWS()"), binary(found), text("SELECT FOUND_ROWS() + 0 AS n"), text("DO FOUND_ROWS()")} {
			w.doing = "of the found rows: "
			first()
			then()
			w.query("SELECT FOUND_ROWS()") // of the statement before
		}
	}
	for _, first := range []func() [][]byte{text("UPDATE t SET v=v+1 WHERE id<4"), binary(update), text("DELETE FROM t WHERE id>100"), text("INSERT INTO t VALUES (8,8) ON DUPLICATE KEY UPDATE v=v+1"), text("REPLACE INTO t VALUES (8,9)"), text("SELECT * FROM t LIMIT 5"),
		text("INSERT INTO t VALUES (1,1)"), text("SELECT nosuch"), text("CREATE TABLE IF NOT EXISTS t (a INT)"), text("SET @x=1"), text("BEGIN"), text("COMMIT"), text("USE %schema"), text("SHOW TABLES"), text("DO 1"), text("DELETE FROM t WHERE id=8 RETURNING id")} {
		for _, then := range []func() [][]byte{text("SELECT ROW_COUNT()"), binary(count), text("/* conn_tag:a */ select Row_Count ( ) AS n"), text("DO 5; SELECT ROW_COUNT()")} {
			w.doing = "of the row count: "
			first()
			then()
			w.query("SELECT ROW_COUNT()", "SELECT FOUND_ROWS()")
		}
	}
	w.doing = ""
	w.query("UPDATE t SET v=v+1 WHERE id<4; SELECT ROW_COUNT()", "SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 2; SELECT FOUND_ROWS()", "INSERT INTO t SELECT id+100, ROW_COUNT() FROM t", "SELECT v FROM t WHERE id=101")
	w.expectOthersUndisturbed()
}

// Reported as sysown/proxysql#1751 and #3606: the count was right and the list empty, or the list came as the answer to the next statement.
func TestWarningsAreListedWhereverTheNextStatementRuns(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY, v TINYINT)", "SET sql_mode=''")
	st := w.prepare("SELECT 1/0, 'abc'+1")
	for name, first := range map[string]func(){
		"text":      func() { w.query("SELECT 1/0, 'abc'+1") },
		"binary":    func() { w.execute(st) },
		"an error":  func() { w.query("SELECT * FROM nosuch") },
		"truncated": func() { w.query("INSERT INTO t VALUES (1, 300), (2, -300), (3, 'x')") },
		"a note":    func() { w.query("DROP TABLE IF EXISTS nosuch") },
		"ignored":   func() { w.query("INSERT IGNORE INTO t VALUES (1, 1)") },
		"signalled": func() {
			w.query("SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT='it''s a \\\\ warning; é', MYSQL_ERRNO=4711")
		},
		"refused": func() { w.query("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT='no'") },
		"none":    func() { w.query("SELECT 42") },
		"many":    func() { w.query("SELECT COUNT(1/seq*0/0) FROM seq_1_to_100") },
	} {
		for _, then := range []string{"SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SELECT @@warning_count", "SELECT @@error_count", "SHOW ERRORS", "SHOW WARNINGS LIMIT 1", "show /* conn_tag:a */ warnings limit 1,1", "/* conn_tag:a */ SHOW COUNT(*) ERRORS",
			"SELECT @@session.warning_count, 1"} {
			w.doing = name + ", then " + then + ": "
			w.query("DELETE FROM t", "INSERT INTO t VALUES (1,1)")
			first()
			w.query(then, then, "SHOW WARNINGS", "SELECT 42")
		}
	}
	w.doing = ""
	w.value("42", "SELECT 42")
	w.query("SET max_error_count=1", "SELECT 1/0, 'abc'+1", "SHOW WARNINGS", "SELECT @@warning_count", "SET sql_notes=0", "DROP TABLE IF EXISTS nosuch", "SHOW WARNINGS")
	w.command(wire.ComPing, "")
	w.query("SELECT 1/0")
	w.command(wire.ComPing, "")
	w.query("SHOW WARNINGS")
	w.both(wire.ComInitDB, wire.ShapeOK, w.viaName, w.directName)
	w.query("SHOW WARNINGS", "SELECT 1/0")
	w.command(wire.ComFieldList, "t\x00")
	w.query("SHOW WARNINGS", "SELECT 1/0")
	w.command(wire.ComResetConnection, "")
	w.query("SHOW WARNINGS")
	w.expectOthersUndisturbed()
}

// What SHOW WARNINGS lists is what GET DIAGNOSTICS reads.
func TestDiagnosticsAreReadWhereverTheNextStatementRuns(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	for _, first := range []string{"SELECT 1/0, 'abc'+1", "SELECT * FROM nosuch", "DO 1", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT='no'"} {
		for _, then := range []string{"GET DIAGNOSTICS @n = NUMBER", "GET DIAGNOSTICS CONDITION 1 @e = MYSQL_ERRNO, @m = MESSAGE_TEXT"} {
			w.doing = first + ", then " + then + ": "
			w.query(first, then, "SELECT @n, @e, @m")
		}
	}
}

// The first statement of a known driver, in the same reports as the other SETs: it asks for trackers along with the rest.
func TestSetOfTrackersAmongOtherVariablesIsAsDirectly(t *testing.T) {
	for _, caps := range []wire.Capability{twinCapabilities, twinCapabilities | wire.SessionTrack} {
		w := newTwin(t, 3, caps)
		w.query("SET autocommit=1, session_track_schema=1, sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES'), net_write_timeout=1800")
		for range 3 {
			w.query("SELECT COUNT(*) > 0 FROM information_schema.tables WHERE table_schema='mysql'", "SELECT @@sql_mode, @@net_write_timeout, @@session_track_schema", "USE mysql", "USE %schema")
		}
		w.expectHeld(false)
		w.query("SET session_track_system_variables='*', session_track_state_change=1", "SET time_zone='+01:00'", "SET @x=1", "SELECT @@session_track_system_variables", "SET session_track_system_variables='autocommit'", "SET time_zone='+02:00'", "SET autocommit=0", "SELECT @@session_track_state_change")
		w.query("SET session_track_transaction_info='CHARACTERISTICS'", "BEGIN", "ROLLBACK", "SET session_track_schema=0", "USE mysql")
		w.command(wire.ComResetConnection, "")
		w.query("SET time_zone='+03:00'", "USE %schema", "SELECT @@session_track_system_variables")
	}
}

// What is no state of the session must not keep its backend.
func TestStatementsThatOnlyLookLikeStateKeepNoBackend(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT)")
	for _, q := range []string{"DROP TEMPORARY TABLE IF EXISTS x", "DROP TEMPORARY TABLE x", "DROP TABLE IF EXISTS x", "SET @@session.time_zone := '+03:00'", "SET @@identity=56", "SET identity=57", "SET last_insert_id=58",
		"SET sql_mode=REPLACE(REPLACE(@@sql_mode,'ANSI_QUOTES',''),'STRICT_TRANS_TABLES',''), net_read_timeout=(1+2)*3, net_write_timeout=1000+1", "CALL nosuch()", "HANDLER nosuch READ FIRST", "HANDLER t OPEN; HANDLER t CLOSE", "LOCK TABLES nosuch READ",
		"SELECT RELEASE_LOCK('%schema')", "DO RELEASE_ALL_LOCKS()", "EXECUTE nosuch", "DEALLOCATE PREPARE nosuch", "PREPARE s FROM 'nonsense'", "UNLOCK TABLES", "XA RECOVER", "XA COMMIT 'nosuch%schema'", "ROLLBACK TO nosuch", "RELEASE SAVEPOINT nosuch", "FLUSH STATUS", "SET ROLE NONE", "SET ROLE nosuch",
		"SET PASSWORD FOR nosuch@nowhere = PASSWORD('x')", "SELECT @nosuch", "SELECT 'get_lock(1)'", "SET STATEMENT max_statement_time=5 FOR SELECT 1", "BEGIN NOT ATOMIC DECLARE x INT; SET x=1; END", "EXECUTE IMMEDIATE 'SELECT 1'"} {
		w.doing = q + ": "
		w.query(q, "DO 1")
		w.expectHeld(false)
		w.command(wire.ComResetConnection, "")
	}
}

// The id that INSERT … RETURNING made is behind a result set, not in an OK.
func TestLastInsertIDOfAnInsertThatReturnsRows(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "INSERT INTO t(v) VALUES (1)")
	st := w.prepare("INSERT INTO t(v) VALUES (?) RETURNING id")
	for i := range 3 {
		w.query("INSERT INTO t(v) VALUES (2) RETURNING id, v", "SELECT LAST_INSERT_ID()", "REPLACE INTO t(v) VALUES (2) RETURNING id", "SELECT @@identity")
		w.execute(st, i)
		w.query("SELECT LAST_INSERT_ID()", "CREATE OR REPLACE PROCEDURE p() BEGIN INSERT INTO t(v) VALUES (3); SELECT 1; END", "CALL p()", "SELECT LAST_INSERT_ID()", "BEGIN NOT ATOMIC INSERT INTO t(v) VALUES (4); SELECT 2; END", "SELECT LAST_INSERT_ID()",
			"CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN INSERT INTO t(v) VALUES (5); RETURN 6; END", "SELECT f()", "SELECT LAST_INSERT_ID()", "EXECUTE IMMEDIATE 'INSERT INTO t(v) VALUES (7)'", "SELECT LAST_INSERT_ID()")
	}
}
