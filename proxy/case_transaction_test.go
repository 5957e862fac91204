package proxy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// expectHeld says whether the client's side holds a lease; the others hold none between commands.
func (w *twin) expectHeld(held bool) {
	w.t.Helper()
	n := 0
	if held {
		n = 1
	}
	for range 200 {
		if w.h.Snapshot().Pools[0].Stat.InUse == n {
			return
		}
		<-time.After(2 * time.Millisecond)
	}
	reasons, inUse := pinned(w.h)
	w.t.Errorf("%s%d leases are out, want %d; pins are %v", w.doing, inUse, n, reasons)
}

// expectTrans checks the flags of an answer.
func expectTrans(t testing.TB, what string, answer [][]byte, in bool) {
	t.Helper()
	if flags, _ := status(t, answer); flags&wire.StatusInTrans != 0 != in {
		t.Errorf("%s: flags %#x, want in transaction %t", what, flags, in)
	}
}

// Reported as vitessio/vitess#14111: the proxy kept a transaction open that the server no longer had, and began another one behind
// the client's back.
func TestStatementsThatCommitImplicitlyEndTheHold(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "CREATE TABLE old (a INT)", "CREATE VIEW view1 AS SELECT 1")
	for _, ddl := range []string{"CREATE TABLE z (a INT)", "ALTER TABLE z ADD b INT", "RENAME TABLE z TO y", "TRUNCATE TABLE y", "CREATE INDEX i ON y (a)", "DROP INDEX i ON y", "DROP TABLE y", "CREATE OR REPLACE VIEW view1 AS SELECT 2",
		"DROP VIEW view1", "CREATE PROCEDURE p() SELECT 1", "DROP PROCEDURE p", "CREATE FUNCTION f() RETURNS INT RETURN 1", "DROP FUNCTION f", "CREATE TRIGGER tr BEFORE INSERT ON old FOR EACH ROW SET NEW.a=1", "DROP TRIGGER tr",
		"CREATE SEQUENCE sq", "DROP SEQUENCE sq", "CREATE EVENT ev ON SCHEDULE EVERY 1 YEAR DO SELECT 1", "DROP EVENT ev", "ANALYZE TABLE t", "CHECK TABLE t", "OPTIMIZE TABLE t", "REPAIR TABLE t", "CACHE INDEX t IN nosuch", "FLUSH TABLES", "FLUSH STATUS",
		"CREATE USER %schema@nowhere", "GRANT SELECT ON %schema.* TO %schema@nowhere", "REVOKE SELECT ON %schema.* FROM %schema@nowhere", "RENAME USER %schema@nowhere TO %schema@elsewhere", "SET PASSWORD FOR %schema@elsewhere = PASSWORD('x')", "DROP USER %schema@elsewhere",
		"CREATE DATABASE %schema_x", "ALTER DATABASE %schema_x CHARACTER SET latin1", "DROP DATABASE %schema_x", "BEGIN", "START TRANSACTION", "SET autocommit=1", "LOCK TABLES t WRITE", "UNLOCK TABLES", "CREATE TABLE nosuch.z (a INT)", "DROP TABLE nosuch", "CREATE TABLE t (a INT)",
		"CREATE TEMPORARY TABLE tmp (a INT)", "ALTER TABLE tmp ADD b INT", "TRUNCATE TABLE tmp", "DROP TEMPORARY TABLE tmp", "SHOW TABLES", "EXPLAIN SELECT * FROM t", "SET time_zone='+01:00'", "USE %schema", "HELP 'select'",
		"DO SLEEP(0)", "SELECT 1", "SELECT nosuch", "KILL QUERY 4000000000", "RESET QUERY CACHE", "PURGE BINARY LOGS TO 'x'", "CHANGE MASTER TO MASTER_HOST='x'", "STOP SLAVE", "INSTALL SONAME 'nosuch'"} {
		w.doing = "in a transaction, " + ddl + ": "
		w.query("BEGIN")
		w.expectHeld(true)
		w.query("INSERT INTO t VALUES (1,1)", ddl)
		answer := w.query("DO 1")
		if flags, _ := status(t, answer); flags&wire.StatusInTrans == 0 && !strings.HasPrefix(ddl, "LOCK") {
			w.expectHeld(strings.HasPrefix(ddl, "CREATE TEMPORARY"))
		} else {
			w.expectHeld(true)
		}
		w.query("ROLLBACK", "SELECT COUNT(*) FROM t", "UNLOCK TABLES", "DELETE FROM t", "DROP TABLE IF EXISTS tmp")
	}
	expectPins(t, w.h)
	expectTrans(t, "BEGIN", w.query("BEGIN"), true)
	expectTrans(t, "CREATE TABLE", w.query("CREATE TABLE z (a INT)"), false)
	w.query("SET TRANSACTION READ ONLY", "BEGIN")
	w.fails(1792, "INSERT INTO t VALUES (1,1)")
	w.query("ROLLBACK")
	w.expectOthersUndisturbed()
}

// Reported as sysown/proxysql#1038: an error was taken for "no transaction", the ROLLBACK went elsewhere, and the lock stayed.
func TestErrorWithAutocommitOffKeepsTheTransactionAndItsLocks(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	b := w.h.client(t)
	exec(t, b, "USE "+w.viaName)
	exec(t, b, "SET innodb_lock_wait_timeout=0")
	w.query("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1,1)", "SET autocommit=0")
	insert := w.prepare("INSERT INTO t VALUES (?,9)")
	for i, fail := range []func(){func() { w.fails(1062, "INSERT INTO t VALUES (1,9)") }, func() { w.execute(insert, 1) },
		func() { w.fails(1062, "DO 1; INSERT INTO t VALUES (1,9); SELECT 1") }} {
		fail()
		w.expectHeld(true)
		expectError(t, 1205, b, "DELETE FROM t WHERE id=1")
		w.query("SELECT 1")
		expectError(t, 1205, b, "DELETE FROM t WHERE id=1")
		expectTrans(t, "ROLLBACK", w.query("ROLLBACK"), false)
		w.expectHeld(false)
		if i == 0 {
			exec(t, b, "BEGIN")
			exec(t, b, "DELETE FROM t WHERE id=1")
			exec(t, b, "ROLLBACK")
		}
	}
	exec(t, b, "DELETE FROM t WHERE id=1")
	for _, q := range []string{"SELECT nosuch", "nonsense", "SELECT * FROM nosuch", "USE nosuch", "SET nosuch=1", "SELECT * FROM t WHERE nosuch=1", "INSERT INTO t VALUES (1,2,3)"} {
		w.query(q)
		answer := w.query("DO 1")
		flags, _ := status(t, answer)
		w.expectHeld(flags&wire.StatusInTrans != 0)
		w.query("ROLLBACK")
	}
}

// Reported as sysown/proxysql#948: no flag tells of a savepoint outside a transaction, so the next statement went elsewhere.
func TestSavepointsAreFoundAgain(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	for _, tag := range []string{"", "/* conn_tag:a */ ", "-- conn_tag:a\n"} {
		w.query(tag+"SET autocommit=0", tag+"SAVEPOINT s1", tag+"INSERT INTO t VALUES (8,8)", tag+"ROLLBACK TO SAVEPOINT s1", tag+"COMMIT", tag+"SELECT COUNT(*) FROM t", tag+"COMMIT")
		w.query(tag+"SAVEPOINT s1", tag+"SAVEPOINT s2", tag+"RELEASE SAVEPOINT s1", tag+"ROLLBACK TO s2", tag+"RELEASE SAVEPOINT s1", tag+"ROLLBACK")
		w.expectHeld(false)
		w.query(tag+"SET autocommit=1", tag+"SAVEPOINT s1", tag+"ROLLBACK TO s1", tag+"RELEASE SAVEPOINT s1")
		w.query(tag+"BEGIN", tag+"SAVEPOINT a", tag+"INSERT INTO t VALUES (1,1)", tag+"ROLLBACK WORK TO SAVEPOINT a", tag+"SAVEPOINT `to`", tag+"INSERT INTO t VALUES (2,1)", tag+"ROLLBACK TO `to`", tag+"COMMIT", tag+"SELECT COUNT(*) FROM t")
		w.expectHeld(false)
	}
	save, back := w.prepare("SAVEPOINT s1"), w.prepare("ROLLBACK TO SAVEPOINT s1")
	w.query("SET autocommit=0")
	w.execute(save)
	w.query("INSERT INTO t VALUES (8,8)")
	w.execute(back)
	w.query("COMMIT", "SELECT COUNT(*) FROM t", "COMMIT", "DO 1; SAVEPOINT s1; DO 2", "INSERT INTO t VALUES (9,9)", "ROLLBACK TO s1", "ROLLBACK; SAVEPOINT s1; COMMIT")
	w.expectHeld(false)
}

// Reported as sysown/proxysql#4197, #2305 and #4599: the setting for one transaction went to whoever used the connection next.
func TestSettingsOfOneTransactionAreForThatOneAlone(t *testing.T) {
	w := newTwin(t, 2, twinCapabilities)
	b := w.h.client(t)
	exec(t, b, "CREATE TABLE b (v INT)")
	w.query("CREATE TABLE t (v INT)", "CREATE TABLE seen (v INT) SELECT 1 v", "SET innodb_lock_wait_timeout=0")
	for _, name := range []string{w.viaName, w.directName} {
		c := conn(t, open(t, server.DSN(name)))
		exec(t, c, "BEGIN")
		exec(t, c, "UPDATE seen SET v=2") // how the others read it tells their isolation level
		defer func() { exec(t, c, "ROLLBACK") }()
	}
	for _, begin := range []string{"BEGIN", "START TRANSACTION", "/* conn_tag:a */ begin work"} {
		w.query("SET TRANSACTION READ ONLY", "SELECT @@tx_read_only")
		exec(t, b, "INSERT INTO b(v) VALUES (1)")
		w.query("SELECT nosuch", begin) // a statement that fails does not use it up
		w.fails(1792, "INSERT INTO t(v) VALUES (2)")
		w.fails(1568, "SET TRANSACTION READ WRITE")
		w.query("ROLLBACK", "BEGIN", "INSERT INTO t(v) VALUES (3)", "COMMIT")
		w.expectHeld(false)
		for _, q := range []string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY", "SET tx_isolation='READ-UNCOMMITTED'", "SET @@session.tx_isolation='READ-COMMITTED'",
			"SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE", "SET LOCAL TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET tx_read_only=OFF",
			"DO 1; SET TRANSACTION READ ONLY", "SET transaction_isolation='SERIALIZABLE'", "SET STATEMENT tx_isolation='SERIALIZABLE' FOR SELECT 1"} {
			w.doing = q + ", " + begin + ": "
			w.query(q, "SELECT @@tx_isolation, @@tx_read_only", begin, "SELECT v FROM seen", "INSERT INTO t(v) VALUES (4)",
				"COMMIT", "INSERT INTO t(v) VALUES (5)", "BEGIN", "INSERT INTO t(v) VALUES (6)", "ROLLBACK", "SELECT @@tx_isolation, @@tx_read_only")
			exec(t, b, "INSERT INTO b(v) VALUES (7)")
			expect(t, b, "REPEATABLE-READ0", "SELECT CONCAT(@@tx_isolation, @@tx_read_only+0)")
			w.query("DELETE FROM t", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE")
			w.expectHeld(false)
		}
	}
	w.query("BEGIN")
	w.fails(1568, "SET TRANSACTION READ ONLY")
	w.fails(1568, "SET tx_isolation='SERIALIZABLE'; SET TRANSACTION READ ONLY")
	w.query("COMMIT", "SET TRANSACTION READ ONLY")
	w.command(wire.ComResetConnection, "")
	w.query("BEGIN", "INSERT INTO t(v) VALUES (8)", "COMMIT")
	w.expectHeld(false)
	w.expectOthersUndisturbed()
}

// Reported as roundcube/roundcubemail#7529, civicrm/civicrm-packages#446 and sysown/proxysql#1174: the statement that lost a
// deadlock was sent again, and committed alone without the earlier half of its transaction.
func TestVictimOfADeadlockLosesAllAndNothingIsSentAgain(t *testing.T) {
	h := newHouse(t, 2)
	root := open(t, server.DSN(h.schema))
	exec(t, root, "SET GLOBAL log_output='TABLE'")
	exec(t, root, "SET GLOBAL general_log=ON")
	t.Cleanup(func() {
		db := open(t, server.DSN(""))
		exec(t, db, "SET GLOBAL general_log=OFF")
		exec(t, db, "SET GLOBAL log_output='FILE'")
	})
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE l (id INT PRIMARY KEY, v INT)")
	exec(t, a, "INSERT INTO l VALUES (1,0),(2,0)")
	for round := range 4 {
		exec(t, a, "UPDATE l SET v=0")
		exec(t, a, "BEGIN")
		exec(t, b, "BEGIN")
		exec(t, a, "UPDATE l SET v=11 WHERE id=1")
		exec(t, b, "UPDATE l SET v=22 WHERE id=2")
		second := func(c execer, name string, id int) error {
			_, err := c.ExecContext(context.Background(), fmt.Sprintf("UPDATE l SET v=33 WHERE id=%d /* second of %s in round %d */", id, name, round))
			return err
		}
		blocked := make(chan error, 1)
		go func() { blocked <- second(b, "b", 1) }()
		err := second(a, "a", 2)
		other := <-blocked
		victim, winner, survived := a, b, "33|22" // the winner's two rows
		if errorCode(other) == 1213 {
			victim, winner, survived = b, a, "11|33"
			err, other = other, err
		}
		if errorCode(err) != 1213 || other != nil {
			t.Fatalf("got %v and %v, want one 1213", err, other)
		}
		expectInUse(t, h, 1)
		exec(t, winner, "COMMIT")
		expectInUse(t, h, 0)
		expect(t, victim, survived, "SELECT GROUP_CONCAT(v ORDER BY id SEPARATOR '|') FROM l")
		exec(t, victim, "UPDATE l SET v=99 WHERE id=2")
		expect(t, winner, "99", "SELECT v FROM l WHERE id=2") // it committed by itself
		exec(t, victim, "COMMIT")
		expect(t, root, "2", "SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE 'UPDATE l SET v=33%' AND argument LIKE ?", fmt.Sprintf("%% in round %d */", round))
	}
}

// A lock wait that times out undoes the statement and no more: the transaction goes on, and so does the hold.
func TestLockWaitTimeoutLeavesTheTransactionOpen(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1,1),(2,2)", "SET innodb_lock_wait_timeout=0")
	holders := []execer{conn(t, open(t, server.DSN(w.viaName))), conn(t, open(t, server.DSN(w.directName)))}
	for _, c := range holders {
		exec(t, c, "BEGIN")
		exec(t, c, "UPDATE t SET v=9 WHERE id=1")
	}
	w.query("BEGIN", "UPDATE t SET v=5 WHERE id=2")
	w.fails(1205, "UPDATE t SET v=5 WHERE id=1")
	w.fails(1205, "SELECT * FROM t WHERE id=1 FOR UPDATE NOWAIT")
	w.query("SELECT * FROM t FOR UPDATE SKIP LOCKED")
	w.expectHeld(true)
	expectTrans(t, "DO 1", w.query("DO 1"), true)
	w.query("COMMIT", "SELECT v FROM t WHERE id=2")
	w.expectHeld(false)
	for _, c := range holders {
		exec(t, c, "ROLLBACK")
	}
}

// Every way to begin and end a transaction, flags included.
func TestTransactionsBeginAndEndInEverySpelling(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	begins := []string{"BEGIN", "begin work", "START TRANSACTION", "START TRANSACTION READ ONLY", "START TRANSACTION READ WRITE", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
		"/* conn_tag:a */BEGIN", "/*!50000 BEGIN */", "/*M!100100 START TRANSACTION */", "SET autocommit=0", "SET @@autocommit=OFF", "SET autocommit=0, time_zone='+01:00'", "BEGIN; DO 1", "DO 1; BEGIN", "START  -- x\n TRANSACTION"}
	ends := []string{"COMMIT", "COMMIT WORK", "ROLLBACK", "ROLLBACK WORK", "COMMIT AND NO CHAIN", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "COMMIT NO RELEASE", "SET autocommit=1", "COMMIT; DO 1", "DO 1; ROLLBACK", "/* conn_tag:a */ COMMIT", "-- x\nCOMMIT", "BEGIN"}
	for i, begin := range begins {
		for j, end := range ends {
			if (i+j)%4 != 0 { // a quarter of the pairs has every begin and every end several times
				continue
			}
			w.query(begin, "INSERT INTO t(v) VALUES (1)", "SELECT COUNT(*) FROM t", end, "SELECT 1", "INSERT INTO t(v) VALUES (2)", "ROLLBACK", "SET autocommit=1", "SELECT COUNT(*) FROM t")
			w.expectHeld(false)
		}
	}
	w.query("SET completion_type=CHAIN", "BEGIN", "INSERT INTO t(v) VALUES (3)", "COMMIT", "INSERT INTO t(v) VALUES (4)", "ROLLBACK", "SELECT @@completion_type", "SET completion_type=NO_CHAIN", "ROLLBACK", "SELECT @@completion_type", "SELECT COUNT(*) FROM t")
	w.expectHeld(false)
	w.expectOthersUndisturbed()
}

// A distributed transaction stays on its connection until it is over.
func TestXATransactionsStayOnTheirConnection(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	id := fmt.Sprintf("'x%d'", time.Now().UnixNano())
	xa := func(steps ...string) {
		t.Helper()
		for _, s := range steps { // names are the server's, so the two sides need their own
			if strings.HasPrefix(s, "XA ") {
				s += " " + id + ",'%schema'"
				s = strings.Replace(s, "PHASE "+id+",'%schema'", id+",'%schema' ONE PHASE", 1)
			}
			w.query(s)
		}
	}
	xa("XA START", "INSERT INTO t VALUES (1,1)", "COMMIT", "BEGIN", "CREATE TABLE z (a INT)", "XA END", "SELECT 1", "INSERT INTO t VALUES (2,2)", "XA PREPARE", "SELECT 2", "XA COMMIT", "SELECT * FROM t")
	xa("XA BEGIN", "INSERT INTO t VALUES (3,3)", "XA END", "XA ROLLBACK", "SELECT * FROM t")
	xa("XA START", "INSERT INTO t VALUES (4,4)", "XA END", "XA COMMIT PHASE", "SELECT * FROM t", "XA COMMIT", "SELECT 3")
	xa("XA START", "INSERT INTO t VALUES (5,5)")
	w.command(wire.ComResetConnection, "")
	w.query("SELECT * FROM t")
	w.expectHeld(false)
}

// LOCK TABLES and transactions end each other.
func TestLockedTablesAndTransactionsEndEachOther(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "CREATE TABLE u (a INT)")
	for _, steps := range [][]string{
		{"LOCK TABLES t WRITE", "INSERT INTO t(v) VALUES (1)", "SELECT * FROM u", "BEGIN", "SELECT * FROM u", "COMMIT"},
		{"LOCK TABLE t READ, u WRITE", "INSERT INTO t(v) VALUES (1)", "INSERT INTO u VALUES (1)", "UNLOCK TABLES", "INSERT INTO t(v) VALUES (2)"},
		{"BEGIN", "INSERT INTO t(v) VALUES (3)", "LOCK TABLES u READ", "ROLLBACK", "SELECT * FROM t", "UNLOCK TABLES", "SELECT COUNT(*) FROM t"},
		{"SET autocommit=0", "LOCK TABLES t WRITE", "INSERT INTO t(v) VALUES (4)", "ROLLBACK", "SELECT * FROM u", "UNLOCK TABLES", "SELECT COUNT(*) FROM t", "COMMIT", "SET autocommit=1"},
		{"FLUSH TABLES t WITH READ LOCK", "INSERT INTO t(v) VALUES (5)", "UNLOCK TABLES", "INSERT INTO t(v) VALUES (5)"},
		{"FLUSH TABLES t FOR EXPORT", "UNLOCK TABLES"},
		{"LOCK TABLES t WRITE", "LOCK TABLES u WRITE", "SELECT * FROM t", "DROP TABLE IF EXISTS v", "UNLOCK TABLES"},
		{"LOCK TABLES nosuch WRITE", "SELECT COUNT(*) FROM t"},
		{"LOCK TABLES t WRITE", "LOCK TABLES nosuch WRITE", "SELECT COUNT(*) FROM t", "UNLOCK TABLES"},
		{"LOCK TABLES t WRITE; SELECT COUNT(*) FROM t", "SELECT * FROM u", "UNLOCK TABLES; SELECT * FROM u"},
		{"SELECT GET_LOCK('%schema', 1)", "SELECT GET_LOCK('%schema', 1), IS_FREE_LOCK('%schema')", "SELECT RELEASE_LOCK('%schema')", "SELECT IS_FREE_LOCK('%schema')", "SELECT RELEASE_LOCK('%schema'), RELEASE_LOCK('%schema')"},
		{"HANDLER t OPEN", "HANDLER t READ FIRST", "SELECT 1", "HANDLER t READ NEXT", "HANDLER t CLOSE", "HANDLER t READ NEXT"},
	} {
		w.query(steps...)
	}
	w.command(wire.ComResetConnection, "")
	w.expectHeld(false)
	w.query("HANDLER t READ NEXT")
	w.expectOthersUndisturbed()
}

// RELEASE has the server close the connection once the transaction has ended: the client's connection ends, and no other's.
func TestReleaseEndsTheConnectionThatAskedForIt(t *testing.T) {
	for _, ending := range [][]string{{"BEGIN", "COMMIT RELEASE"}, {"BEGIN", "ROLLBACK RELEASE"}, {"COMMIT RELEASE"}, {"SET completion_type=RELEASE", "BEGIN", "COMMIT"}, {"SET completion_type=2", "ROLLBACK"}} {
		w := newTwin(t, 2, twinCapabilities)
		w.query(ending...)
		if got, want := alive(w.via), alive(w.direct); got != want {
			t.Errorf("%q: the connection lives on: %t, directly %t", ending, got, want)
		}
		expectInUse(t, w.h, 0)
		w.expectOthersUndisturbed()
		for range 3 {
			expect(t, w.h.client(t), "1", "SELECT 1")
		}
	}
}

// alive reports whether the server still answers.
func alive(c *wiretest.Client) bool {
	if err := c.Send(wire.ComPing, ""); err != nil {
		return false
	}
	_, err := c.Next()
	return err == nil
}

// In a scope of its own, a variable of the transaction is for the next transaction alone, as SET TRANSACTION is.
func TestTransactionVariablesWithoutAScopeAreForTheNextTransactionAlone(t *testing.T) {
	w := newTwin(t, 2, twinCapabilities)
	b := w.h.client(t)
	exec(t, b, "CREATE TABLE b (v INT)")
	w.query("CREATE TABLE t (v INT)", "CREATE TABLE seen (v INT) SELECT 1 v", "SET innodb_lock_wait_timeout=0")
	for _, name := range []string{w.viaName, w.directName} {
		c := conn(t, open(t, server.DSN(name)))
		exec(t, c, "BEGIN")
		exec(t, c, "UPDATE seen SET v=2")
		defer func() { exec(t, c, "ROLLBACK") }()
	}
	for _, q := range []string{"SET @@tx_read_only=1", "SET @@tx_isolation='SERIALIZABLE'", "SET @@tx_isolation = 'READ-UNCOMMITTED'", "/* conn_tag:a */ SET @@TX_READ_ONLY := ON", "SET time_zone='+01:00', @@tx_read_only=1", "SET @@`tx_read_only`=1", "DO 1; SET @@tx_read_only=1"} {
		w.doing = q + ": "
		w.query(q, "SELECT @@tx_isolation, @@tx_read_only", "BEGIN", "SELECT v FROM seen", "INSERT INTO t(v) VALUES (4)", "COMMIT", "BEGIN", "SELECT v FROM seen", "INSERT INTO t(v) VALUES (5)", "COMMIT", "DELETE FROM t")
		exec(t, b, "BEGIN")
		exec(t, b, "INSERT INTO b(v) VALUES (1)")
		exec(t, b, "COMMIT")
		w.expectHeld(false)
	}
	w.expectOthersUndisturbed()
}
