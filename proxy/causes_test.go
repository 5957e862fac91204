package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// step is a statement, the code of the error that it must end with (0: none), and what pins after it.
type step struct {
	sql  string
	code uint16
	pins []string
}

// walk runs the steps through the proxy and directly: pins must be as said, errors those of the direct connection. Then the
// session goes on on another backend connection.
func walk(t *testing.T, prepare []string, steps []step) {
	t.Helper()
	h := newHouse(t, 2)
	a := h.client(t)
	direct := conn(t, open(t, server.DSN(h.schema)))
	for _, q := range prepare {
		exec(t, a, q)
	}
	for _, s := range steps {
		_, err := a.ExecContext(context.Background(), s.sql)
		if errorCode(err) != s.code {
			t.Fatalf("%s: got %v, want code %d", s.sql, err, s.code)
		}
		if len(s.pins) == 1 && s.pins[0] == inTransaction {
			eventually(t, "a transaction and no pin after "+s.sql, func() bool { got, inUse := pinned(h); return len(got) == 0 && inUse == 1 })
			continue
		}
		eventually(t, fmt.Sprintf("pins are %v after %s", s.pins, s.sql), func() bool {
			got, inUse := pinned(h)
			return slices.Equal(got, slices.Sorted(slices.Values(s.pins))) && (inUse > 0) == (len(s.pins) > 0)
		})
	}
	end := h.hold(t, 1)
	expect(t, a, "1", "SELECT 1")
	end()
	expect(t, direct, "1", "SELECT 1")
}

// inTransaction stands for a hold without a pin.
const inTransaction = "in a transaction"

func pins(reasons ...string) []string { return reasons }

func TestXAPinsFromStartToItsCommitOrRollback(t *testing.T) {
	xa := pins("xa")
	walk(t, []string{"CREATE TABLE t (id INT PRIMARY KEY)"}, []step{
		{"XA RECOVER", 0, nil},
		{"XA START 'a'", 0, xa},
		{"INSERT INTO t VALUES (1)", 0, xa},
		{"XA START 'b'", 1399, xa},
		{"BEGIN", 1399, xa},
		{"XA END 'nosuch'", 1397, xa},
		{"INSERT INTO t VALUES (1)", 1062, xa},
		{"XA END 'a'", 0, xa},
		{"XA COMMIT 'a'", 1399, xa},
		{"XA PREPARE 'a'", 0, xa},
		{"XA RECOVER", 0, xa},
		{"XA COMMIT 'a' ONE PHASE", 1398, xa},
		{"XA COMMIT 'a'", 0, nil},
		{"xa begin 'c','d',7", 0, xa},
		{"INSERT INTO t VALUES (2)", 0, xa},
		{"XA END 'c','d',7", 0, xa},
		{"XA COMMIT 'c','d',7 ONE PHASE", 0, nil},
		{"XA START 'e'", 0, xa},
		{"XA END 'e'", 0, xa},
		{"XA ROLLBACK 'nosuch'", 1400, xa},
		{"XA ROLLBACK 'e'", 0, nil},
		{"XA ROLLBACK 'e'", 1397, nil},
		{"XA START 'f'", 0, xa}, // a branch without changes
		{"XA END 'f'", 0, xa},
		{"XA PREPARE 'f'", 0, xa},
		{"SELECT 1", 0, xa},
		{"XA ROLLBACK 'f'", 0, nil},
		{"SELECT COUNT(*) FROM t", 0, nil},
	})
}

func TestXADeadlockVictimKeepsItsBackendUntilItsRollback(t *testing.T) {
	h := newHouse(t, 2)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE l (id INT PRIMARY KEY, v INT)")
	exec(t, a, "INSERT INTO l VALUES (1,0),(2,0)")
	for c, id := range map[*sql.Conn]string{a: "1", b: "2"} {
		exec(t, c, "XA START 'x"+id+"'")
		exec(t, c, "UPDATE l SET v=1 WHERE id="+id)
	}
	blocked := make(chan error, 1)
	go func() {
		_, err := b.ExecContext(context.Background(), "UPDATE l SET v=2 WHERE id=1")
		blocked <- err
	}()
	_, errA := a.ExecContext(context.Background(), "UPDATE l SET v=2 WHERE id=2")
	errB := <-blocked
	victim, winner, mine, other := a, b, "x1", "x2"
	if errorCode(errB) == 1213 {
		victim, winner, mine, other = b, a, "x2", "x1"
	} else if errorCode(errA) != 1213 {
		t.Fatalf("got %v and %v, want one 1213", errA, errB)
	}
	expectInUse(t, h, 2)
	if _, err := victim.ExecContext(context.Background(), "XA END '"+mine+"'"); errorCode(err) != 1399 {
		t.Errorf("XA END after a deadlock: got %v, want 1399", err)
	}
	expectInUse(t, h, 2)
	exec(t, victim, "XA ROLLBACK '"+mine+"'")
	expectInUse(t, h, 1)
	exec(t, winner, "XA END '"+other+"'")
	exec(t, winner, "XA COMMIT '"+other+"' ONE PHASE")
	expectPins(t, h)
	exec(t, victim, "INSERT INTO l VALUES (9,9)")
}

func TestPreparedXABranchOutlivesItsClient(t *testing.T) {
	h := newHouse(t, 2)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY)")
	for _, q := range []string{"XA START 'left'", "INSERT INTO t VALUES (5)", "XA END 'left'", "XA PREPARE 'left'"} {
		exec(t, a, q)
	}
	closeHard(t, a)
	expectPins(t, h)
	eventually(t, "the branch can be committed", func() bool {
		_, err := b.ExecContext(context.Background(), "XA COMMIT 'left'")
		return err == nil
	})
	expect(t, b, "5", "SELECT id FROM t")
}

func TestHandlersPinUntilTheLastIsClosed(t *testing.T) {
	open := pins("handler")
	walk(t, []string{"CREATE TABLE t (a INT PRIMARY KEY)", "CREATE TABLE u (a INT PRIMARY KEY)"}, []step{
		{"HANDLER t OPEN", 0, open},
		{"HANDLER t OPEN", 1066, open},
		{"HANDLER t OPEN AS `B`", 0, open},
		{"HANDLER t CLOSE", 0, open},
		{"BEGIN", 0, open},
		{"COMMIT", 0, open},
		{"FLUSH TABLES", 0, open},
		{"HANDLER b READ FIRST", 0, open},
		{"HANDLER B CLOSE", 0, nil},
		{"HANDLER t OPEN", 0, open},
		{"HANDLER u OPEN x", 0, open},
		{"ALTER TABLE t ADD b INT", 0, open},
		{"HANDLER t CLOSE", 1109, open},
		{"TRUNCATE TABLE u", 0, nil},
		{"HANDLER x READ FIRST", 1109, nil},
		{"HANDLER t OPEN", 0, open},
		{"RENAME TABLE t TO t2", 0, nil},
		{"HANDLER t2 OPEN AS t", 0, open},
		{"ANALYZE TABLE t2", 0, open}, // closes it, too, which is noticed when it is used
		{"HANDLER t READ FIRST", 1109, nil},
		{"HANDLER t2 OPEN", 0, open},
		{"DROP TABLE u, t2", 0, nil},
	})
}

func TestTextPreparePinsForItsNamesAndForWhatTheTextsDo(t *testing.T) {
	p := pins("prepared_stmt")
	walk(t, []string{"CREATE TABLE t (a INT)"}, []step{
		{"PREPARE s FROM 'SELECT ?'", 0, p},
		{"EXECUTE s USING 5", 0, p},
		{"PREPARE s FROM 'nonsense'", 1064, nil}, // the old text is gone, too
		{"EXECUTE s", 1243, nil},
		{"PREPARE s FROM 'CREATE TEMPORARY TABLE x (a INT)'", 0, p},
		{"EXECUTE s", 0, pins("temp_table", "prepared_stmt")},
		{"EXECUTE s", 1050, pins("temp_table", "prepared_stmt")},
		{"PREPARE S FROM \"DROP TABLE x -- it's\"", 0, pins("temp_table", "prepared_stmt")},
		{"EXECUTE s", 0, p},
		{"EXECUTE s", 1051, p},
		{"DEALLOCATE PREPARE `s`", 0, nil},
		{"DEALLOCATE PREPARE s", 1243, nil},
		{"PREPARE `a b` FROM 'DO GET_LOCK(''l1'', 0)'", 0, p},
		{"EXECUTE `A B`", 0, pins("user_lock", "prepared_stmt")},
		{"PREPARE r FROM 'DO RELEASE_LOCK(\\'l1\\')'", 0, pins("user_lock", "prepared_stmt")},
		{"EXECUTE r", 0, p},
		{"DROP PREPARE `a b`", 0, p},
		{"DROP PREPARE r", 0, nil},
		{"EXECUTE IMMEDIATE 'SELECT 1 FROM t'", 0, nil},
		{"EXECUTE IMMEDIATE 'CREATE TEMPORARY TABLE x (a INT)'", 0, pins("temp_table")},
		{"EXECUTE IMMEDIATE 'DROP TABLE x'", 0, nil},
		{"PREPARE s FROM 'KILL 5'", 0, p},
		{"EXECUTE s", 1235, p},
		{"DROP PREPARE s", 0, nil},
	})
	h := newHouse(t, 2)
	a := h.client(t)
	exec(t, a, "SET @text='CREATE TEMPORARY TABLE x (a INT)'")
	exec(t, a, "PREPARE s FROM @text")
	exec(t, a, "EXECUTE s")
	expectPins(t, h, "prepared_stmt", "temp_table")
	exec(t, a, "SET @text='DROP TABLE x'")
	exec(t, a, "EXECUTE IMMEDIATE @text")
	exec(t, a, "DROP PREPARE s")
	expectPins(t, h)
	exec(t, a, "EXECUTE IMMEDIATE CONCAT('SEL','ECT 1')")
	expectPins(t, h, "unknown")
}

func TestVariablesThatRunOutPinUntilTheyAreBack(t *testing.T) {
	v := pins("session_variable")
	walk(t, []string{"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)"}, []step{
		{"SET timestamp=5", 0, v},
		{"SET timestamp=DEFAULT", 0, nil},
		{"SET @@session.timestamp=5, sql_mode=''", 0, v},
		{"SET @@timestamp=0", 0, nil},
		{"SET timestamp=nosuch", 1232, nil},
		{"SET STATEMENT timestamp=5 FOR SELECT 1", 0, nil},
		{"SET insert_id=50", 0, v},
		{"SELECT 1", 0, v},
		{"INSERT INTO t(id) VALUES (7)", 0, v},
		{"INSERT INTO t(v) VALUES (1)", 0, nil},
		{"SET insert_id=60, timestamp=9", 0, v},
		{"SET timestamp=DEFAULT", 0, v},
		{"INSERT INTO t(id) VALUES (60)", 0, v}, // the id is given, not taken
		{"SET insert_id=DEFAULT", 0, nil},
		{"SET pseudo_slave_mode=1", 0, v},
		{"SET pseudo_slave_mode=0", 0, nil},
		{"SET character_set_database=latin2", 0, v},
		{"USE mysql", 0, nil},
		{"SET pseudo_thread_id=1", 0, v},
		{"SET timestamp=7", 0, v},
		{"SET timestamp=DEFAULT", 0, v},
	})
	h := newHouse(t, 2)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT)")
	exec(t, a, "SET insert_id=50")
	exec(t, b, "INSERT INTO t VALUES ()")
	exec(t, a, "INSERT INTO t VALUES ()")
	expect(t, b, "1,50", "SELECT GROUP_CONCAT(id ORDER BY id) FROM t")
	exec(t, a, "SET pseudo_thread_id=7")
	expect(t, a, "0", "SELECT IS_USED_LOCK('x') IS NOT NULL")
}

func TestSetStatementLeavesNothingForTheNextSession(t *testing.T) {
	h := newHouse(t, 1)
	a, b := h.client(t), h.client(t)
	want := value(t, b, "SELECT @@sql_mode")
	for _, q := range []string{"SET STATEMENT sql_mode='' FOR SELECT 1", "SET STATEMENT sql_mode='' FOR DO 1", "SET STATEMENT sql_mode='' FOR SELECT nosuch"} {
		_, _ = a.ExecContext(context.Background(), q)
		expectPins(t, h)
		exec(t, b, "DO 1")
		expect(t, a, want, "SELECT @@sql_mode")
		expect(t, b, want, "SELECT @@sql_mode")
	}
	exec(t, a, "SET STATEMENT sql_mode='' FOR CREATE TEMPORARY TABLE x (a INT)")
	expectPins(t, h, "temp_table")
}

func TestTemporaryTablesPinUnderEveryNameTheyHave(t *testing.T) {
	p := pins("temp_table")
	walk(t, []string{"CREATE TABLE b (a INT)"}, []step{
		{"CREATE TEMPORARY TABLE x (a INT)", 0, p},
		{"CREATE TEMPORARY TABLE x (a INT)", 1050, p},
		{"CREATE TEMPORARY TABLE IF NOT EXISTS x (a INT)", 0, p},
		{"DROP TABLE X", 1051, p},
		{"RENAME TABLE x TO `y y`", 0, p},
		{"DROP TABLE x", 1051, p},
		{"ALTER TABLE `y y` ADD c INT, RENAME TO mysql.z", 0, p},
		{"DROP TABLE mysql.z", 0, nil},
		{"CREATE TEMPORARY TABLE x SELECT nosuch", 1054, nil},
		{"CREATE TEMPORARY TABLE x (a INT)", 0, p},
		{"DROP TABLE x, nosuch", 1051, nil}, // MariaDB drops those that are there
		{"CREATE TEMPORARY TABLE b (z INT)", 0, p},
		{"DROP TABLE b", 0, nil},
		{"SELECT a FROM b", 0, nil},
		{"CREATE DATABASE IF NOT EXISTS temporary_home", 0, nil},
		{"CREATE TEMPORARY TABLE temporary_home.x (a INT)", 0, p},
		{"DROP DATABASE temporary_home", 0, p},
		{"SELECT * FROM temporary_home.x", 0, p},
		{"DROP TEMPORARY TABLE temporary_home.x", 0, nil},
		{"CREATE TEMPORARY SEQUENCE s", 0, p},
		{"DROP SEQUENCE s", 0, nil},
	})
}

func TestTableLocksPinUntilWhatReallyUnlocks(t *testing.T) {
	l := pins("tables_locked")
	walk(t, []string{"CREATE TABLE t (a INT)"}, []step{
		{"LOCK TABLES t READ", 0, l},
		{"COMMIT", 0, l},
		{"START TRANSACTION", 0, pins(inTransaction)},
		{"COMMIT", 0, nil},
		{"FLUSH TABLES WITH READ LOCK", 0, l},
		{"BEGIN", 0, l},
		{"COMMIT", 0, l},
		{"INSERT INTO t VALUES (1)", 1223, l},
		{"UNLOCK TABLES", 0, nil},
		{"FLUSH TABLES t WITH READ LOCK", 0, l},
		{"BEGIN", 0, pins(inTransaction)},
		{"COMMIT", 0, nil},
		{"BACKUP STAGE START", 0, l},
		{"UNLOCK TABLES", 0, l},
		{"BACKUP STAGE END", 0, nil},
		{"BACKUP LOCK t", 0, l},
		{"BACKUP UNLOCK", 0, nil},
		{"LOCK TABLES nosuch READ", 1146, nil},
	})
}

func TestUserLocksPinAsLongAsTheServerSaysThatTheyAreHeld(t *testing.T) {
	l := pins("user_lock")
	other := conn(t, open(t, server.DSN("")))
	expect(t, other, "1", "SELECT GET_LOCK('taken', 0)")
	walk(t, nil, []step{
		{"SELECT GET_LOCK('taken', 0)", 0, nil}, // times out
		{"DO GET_LOCK('a', 0), GET_LOCK('b', 0), GET_LOCK('a', 0)", 0, l},
		{"DO RELEASE_LOCK('A')", 0, l}, // another lock on MariaDB
		{"DO RELEASE_LOCK('a')", 0, l},
		{"DO RELEASE_LOCK('b')", 0, l},
		{"SELECT RELEASE_LOCK('a'), RELEASE_LOCK('a')", 0, nil},
		{"SELECT GET_LOCK('c', 0) UNION SELECT `get_lock`('d', 0)", 0, l},
		{"SELECT RELEASE_LOCK('c') FROM (SELECT 1) x", 0, l},
		{"SELECT RELEASE_ALL_LOCKS()", 0, nil},
		{"DO GET_LOCK(CONCAT('e'), 0)", 0, l},
		{"DO RELEASE_LOCK('e')", 0, l},
		{"DO RELEASE_ALL_LOCKS()", 0, nil},
		{"DO GET_LOCK(NULL, 0)", 0, l},
		{"DO RELEASE_ALL_LOCKS()", 0, nil},
	})
}

func TestOneShotTransactionSettingsPinUntilTheServerSaysTheyAreUsedUp(t *testing.T) {
	n := pins("next_transaction")
	walk(t, []string{"CREATE TABLE t (id INT PRIMARY KEY)"}, []step{
		{"SET TRANSACTION READ ONLY", 0, n},
		{"SELECT 1", 0, n},
		{"SELECT @@tx_isolation, @@tx_read_only", 0, n},
		{"INSERT INTO nosuch VALUES (1)", 1792, n},
		{"INSERT INTO t VALUES (1)", 1792, n},
		{"SELECT * FROM t", 0, nil},
		{"INSERT INTO t VALUES (1)", 0, nil},
		{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", 0, n},
		{"SET TRANSACTION READ ONLY", 0, n},
		{"SET TRANSACTION READ WRITE", 0, n},
		{"INSERT INTO t VALUES (2)", 0, nil},
		{"SET TRANSACTION READ ONLY", 0, n},
		{"COMMIT", 0, nil},
		{"SET TRANSACTION READ ONLY", 0, n},
		{"ROLLBACK", 0, nil},
		{"SET TRANSACTION READ ONLY", 0, n},
		{"CREATE TABLE u (a INT)", 0, nil},
		{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", 0, n},
		{"BEGIN", 0, n},
		{"SET TRANSACTION READ ONLY", 1568, n},
		{"SELECT * FROM t", 0, n},
		{"COMMIT", 0, nil},
		{"SET autocommit=0", 0, nil},
		{"SET TRANSACTION READ ONLY", 0, n},
		{"SELECT * FROM t", 0, n},
		{"COMMIT", 0, nil},
	})
}

func TestSavepointsWithAutocommitOffPinUntilTheirTransactionEnds(t *testing.T) {
	p := pins("savepoint")
	for _, end := range []string{"COMMIT", "ROLLBACK", "CREATE TABLE u (a INT)", "TRUNCATE t", "SET autocommit=1"} {
		walk(t, []string{"CREATE TABLE t (id INT PRIMARY KEY)", "SET autocommit=0"}, []step{
			{"SAVEPOINT s", 0, p},
			{"ROLLBACK TO s", 0, p},
			{end, 0, nil},
		})
	}
}

func TestProceduresPinOnlyIfTheirBodyMayLeaveSomething(t *testing.T) {
	walk(t, []string{
		"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v TIMESTAMP NULL)",
		"CREATE PROCEDURE plain(a INT) BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION ROLLBACK; START TRANSACTION; INSERT INTO t(v) VALUES (NOW()); COMMIT; SELECT 1; END",
		"CREATE PROCEDURE outer_plain() BEGIN CALL plain(1); CALL plain(2); END",
		"CREATE PROCEDURE deep(n INT) BEGIN IF n > 0 THEN CALL outer_plain(); CALL temp(n); END IF; END",
		"CREATE PROCEDURE temp(n INT) BEGIN CREATE OR REPLACE TEMPORARY TABLE tt (a INT); IF n > 1 THEN DROP TEMPORARY TABLE tt; END IF; END",
		"CREATE PROCEDURE locker() BEGIN DO GET_LOCK('in procedure', 0); END",
		"CREATE PROCEDURE dynamic() BEGIN EXECUTE IMMEDIATE CONCAT('DO ', 1); END",
		"CREATE PROCEDURE settings() BEGIN SET SESSION time_zone='+03:00'; END",
	}, []step{
		{"CALL plain(1)", 0, nil},
		{"CALL outer_plain", 0, nil},
		{"CALL nosuch()", 1305, nil},
	})
	h := newHouse(t, 2)
	a := h.client(t)
	for _, q := range []string{
		"CREATE PROCEDURE temp(n INT) BEGIN CREATE OR REPLACE TEMPORARY TABLE tt (a INT); IF n > 1 THEN DROP TEMPORARY TABLE tt; END IF; END",
		"CREATE PROCEDURE deep(n INT) BEGIN IF n > 0 THEN CALL temp(n); END IF; END",
		"CREATE PROCEDURE settings() BEGIN SET SESSION time_zone='+03:00'; END",
		"CREATE PROCEDURE locker() BEGIN DO GET_LOCK('in procedure', 0); END",
	} {
		exec(t, a, q)
	}
	exec(t, a, "CALL deep(1)")
	expectPins(t, h, "temp_table")
	exec(t, a, "DROP TABLE tt")
	expectPins(t, h)
	exec(t, a, "CALL deep(2)")
	expectPins(t, h)
	exec(t, a, "CALL settings()")
	expectPins(t, h)
	end := h.hold(t, 1)
	expect(t, a, "+03:00", "SELECT @@time_zone")
	end()
	exec(t, a, "CREATE OR REPLACE PROCEDURE deep(n INT) BEGIN CALL locker(); END")
	exec(t, a, "CALL deep(1)")
	expectPins(t, h, "procedure")
	expect(t, a, "0", "SELECT IS_FREE_LOCK('in procedure')")
}

func TestRoleFollowsItsSession(t *testing.T) {
	h := newHouse(t, 1)
	root := open(t, server.DSN(""))
	exec(t, root, "CREATE ROLE "+h.schema+"_role")
	t.Cleanup(func() { exec(t, root, "DROP ROLE "+h.schema+"_role") })
	a, b := h.client(t), h.client(t)
	role := h.schema + "_role"
	exec(t, a, "SET ROLE "+role)
	expectPins(t, h)
	expect(t, b, "NULL", "SELECT CURRENT_ROLE()")
	expect(t, a, role, "SELECT CURRENT_ROLE()")
	if _, err := b.ExecContext(context.Background(), "SET ROLE nosuch"); errorCode(err) != 1959 {
		t.Errorf("got %v, want 1959", err)
	}
	expect(t, b, "NULL", "SELECT CURRENT_ROLE()")
	exec(t, a, "CREATE TEMPORARY TABLE x (a INT)")
	closeHard(t, a) // the reset does not undo the role
	expect(t, b, "NULL", "SELECT CURRENT_ROLE()")
	exec(t, b, "SET ROLE "+role)
	exec(t, b, "SET ROLE NONE")
	expect(t, h.client(t), "NULL", "SELECT CURRENT_ROLE()")
	expect(t, b, "NULL", "SELECT CURRENT_ROLE()")
	expectPins(t, h)
}

func TestSessionTrackersAreTheClientsOwn(t *testing.T) {
	h := newHouse(t, 1)
	a, b := h.client(t), h.client(t)
	direct := conn(t, open(t, server.DSN(h.schema)))
	observe := []string{
		"SELECT CONCAT_WS('|', @@session_track_schema, @@session_track_state_change, @@session_track_transaction_info, @@session_track_system_variables, @@sql_mode, @@time_zone)",
		"SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME) FROM information_schema.session_variables WHERE VARIABLE_NAME LIKE 'session_track%'",
	}
	same := func(q string) {
		t.Helper()
		for _, o := range observe {
			if got, want := value(t, a, o), value(t, direct, o); got != want {
				t.Errorf("after %s: got %s, want %s", q, got, want)
			}
		}
		expect(t, b, "1", "SELECT @@session_track_schema")
	}
	same("login")
	for _, q := range []string{
		"SET session_track_schema=0", "SET session_track_schema=1", "SET @@session_track_state_change=ON",
		"SET session_track_system_variables=CONCAT(@@session_track_system_variables, ',sql_mode'), sql_mode='', @@time_zone='+02:00'",
		"SET SESSION session_track_system_variables=''", "SET session_track_schema=nosuch", "SET session_track_system_variables=DEFAULT, time_zone='+01:00'",
	} {
		_, errDirect := direct.ExecContext(context.Background(), q)
		if _, err := a.ExecContext(context.Background(), q); errorCode(err) != errorCode(errDirect) {
			t.Errorf("%s: got %v, want %v", q, err, errDirect)
		}
		expectPins(t, h)
		same(q)
	}
	exec(t, a, "SET time_zone='+07:00'") // our own trackers are on again
	expect(t, b, "SYSTEM", "SELECT @@time_zone")
	expect(t, a, "+07:00", "SELECT @@time_zone")
	var name, got string
	if err := a.QueryRowContext(context.Background(), "SHOW VARIABLES LIKE 'session_track_state_change'").Scan(&name, &got); err != nil || got != "ON" {
		t.Errorf("SHOW VARIABLES: %s, %v", got, err)
	}
	exec(t, a, "SET session_track_transaction_info=STATE")
	expectPins(t, h, "session_variable")
	exec(t, a, "SET session_track_transaction_info=OFF")
	expectPins(t, h)
	multi := h.client(t, func(c *mysql.Config) { c.MultiStatements = true })
	exec(t, multi, "SET session_track_schema=1; SET time_zone='+05:00'")
	expectPins(t, h, "unknown")
}

func TestRoleSetByAProcedureDoesNotReachTheNextSession(t *testing.T) {
	h := newHouse(t, 1)
	role := h.schema + "_role"
	root := open(t, server.DSN(h.schema))
	exec(t, root, "CREATE ROLE "+role)
	t.Cleanup(func() { exec(t, root, "DROP ROLE "+role) })
	exec(t, root, "CREATE PROCEDURE become() BEGIN SET ROLE "+role+"; END")
	a, b := h.client(t), h.client(t)
	exec(t, a, "CALL become()")
	expect(t, a, role, "SELECT CURRENT_ROLE()")
	closeHard(t, a)
	expect(t, b, "NULL", "SELECT CURRENT_ROLE()")
	expectPins(t, h)
}

func TestTheBodyOfACreatedRoutineDoesNotPin(t *testing.T) {
	walk(t, nil, []step{
		{"CREATE PROCEDURE p() BEGIN SET @x=1; CALL p(); DO GET_LOCK('a', 0); XA START 'a'; END", 0, nil},
		{"CREATE OR REPLACE DEFINER=CURRENT_USER FUNCTION f() RETURNS INT BEGIN SET @x=1; RETURN 1; END", 0, nil},
	})
}
