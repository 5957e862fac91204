package invisible

// transactionMoves open, end and bend transactions.
var transactionMoves = []move{
	say(14, "BEGIN", "START TRANSACTION", "START TRANSACTION READ ONLY", "START TRANSACTION READ WRITE",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT", "/*!50000 BEGIN */", "BEGIN WORK"),
	say(16, "COMMIT", "ROLLBACK", "COMMIT WORK", "ROLLBACK WORK", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "COMMIT AND NO CHAIN NO RELEASE"),
	say(8, "SET autocommit=0", "SET autocommit=0", "SET autocommit=1", "SET autocommit=OFF", "SET autocommit=ON", "SET autocommit=DEFAULT", "SET autocommit=2"),
	script(4, line{"SET autocommit=0"}, line{"INSERT INTO t(id, v) VALUES (1, 9)"}, line{"ROLLBACK"}, line{"SET autocommit=1"}),
	script(4, line{"SET autocommit=0"}, line{"SAVEPOINT s1"}, line{"INSERT INTO t(v) VALUES (8)"}, line{"ROLLBACK TO SAVEPOINT s1"}, line{"COMMIT"},
		line{"SET autocommit=1"}),
	say(6, "SAVEPOINT s1", "SAVEPOINT s2", "ROLLBACK TO s1", "ROLLBACK TO SAVEPOINT s2", "RELEASE SAVEPOINT s1"),
	say(6, "SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET TRANSACTION READ WRITE",
		"SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED, READ WRITE"),
	say(2, "SET @@tx_isolation='SERIALIZABLE'", "SET @@tx_isolation=DEFAULT", "SET @@tx_read_only=1"),
	script(4, line{"SET TRANSACTION READ ONLY"}, line{"BEGIN"}, line{"INSERT INTO t(v) VALUES (2)"}, line{"ROLLBACK"}, line{"INSERT INTO t(v) VALUES (3)"}),
	script(4, line{"BEGIN"}, line{"INSERT INTO t(v) VALUES (1)"}, commitsImplicitly, line{"ROLLBACK"}, line{"SELECT COUNT(*) FROM t"}),
	say(2, "SET completion_type=0", "SET completion_type=1", "SET completion_type='CHAIN'", "SET completion_type=NO_CHAIN", "SET completion_type=DEFAULT"),
	say(5, "SELECT @@in_transaction, @@autocommit"),
	say(4, "SELECT * FROM t WHERE id = {id} FOR UPDATE", "SELECT * FROM t WHERE id = {id} LOCK IN SHARE MODE",
		"SELECT * FROM t WHERE id = {id} FOR UPDATE SKIP LOCKED", "SELECT * FROM t WHERE id = {id} FOR UPDATE NOWAIT"),
	say(2, "BEGIN NOT ATOMIC SELECT 1; INSERT INTO t(v) VALUES (4); END"),
	branch(4, "XA ROLLBACK 'x{x}{me}'", "XA COMMIT 'x{x}{me}' ONE PHASE"),
	branch(2, "XA PREPARE 'x{x}{me}'"),
	commands(1, func(a *author) []Op {
		ops := []Op{a.query("BEGIN"), a.query("UPDATE t SET v = v + 1 WHERE id = 1"), a.query(a.pick("COMMIT RELEASE", "ROLLBACK RELEASE", "COMMIT AND NO CHAIN RELEASE"))}
		if a.chance(30) {
			ops = append([]Op{a.query("SET completion_type='RELEASE'")}, a.query("COMMIT"))
		}
		return append(ops, Op{Verb: Ping}, Op{Verb: Reconnect})
	}).inTurns(),
}

// commitsImplicitly ends a transaction, but for the temporary table.
var commitsImplicitly = line{
	"CREATE TABLE IF NOT EXISTS z (a INT)", "ALTER TABLE k COMMENT 'x'", "TRUNCATE k", "DROP TABLE IF EXISTS z", "ANALYZE TABLE k",
	"CREATE INDEX i ON t(v)", "DROP INDEX i ON t", "CREATE TEMPORARY TABLE tmp_z (a INT)",
}

// branch is an XA transaction whose first half ends in one of the given ways.
func branch(weight int, ends ...string) move {
	return script(weight, line{"XA START 'x{x}{me}'"}, line{"UPDATE t SET v = v + 1 WHERE id = {id}"}, line{"XA END 'x{x}{me}'"}, ends,
		line{"XA COMMIT 'x{x}{me}'", "XA ROLLBACK 'x{x}{me}'"})
}
