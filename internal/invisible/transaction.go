package invisible

// transactionMoves open, end and bend transactions.
var transactionMoves = []move{
	{weight: 14, write: func(a *author) []Op {
		return a.say("%s", a.pick("BEGIN", "START TRANSACTION", "START TRANSACTION READ ONLY", "START TRANSACTION READ WRITE", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "/*!50000 BEGIN */", "BEGIN WORK"))
	}},
	{weight: 16, write: func(a *author) []Op {
		return a.say("%s", a.pick("COMMIT", "ROLLBACK", "COMMIT WORK", "ROLLBACK WORK", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "COMMIT AND NO CHAIN NO RELEASE"))
	}},
	{weight: 8, write: func(a *author) []Op {
		return a.say("SET autocommit=%s", a.pick("0", "0", "1", "OFF", "ON", "DEFAULT", "2"))
	}},
	{weight: 4, write: func(a *author) []Op {
		return all(a.say("SET autocommit=0"), a.say("INSERT INTO t(id, v) VALUES (1, 9)"), a.say("ROLLBACK"), a.say("SET autocommit=1"))
	}},
	{weight: 4, write: func(a *author) []Op {
		return all(a.say("SET autocommit=0"), a.say("SAVEPOINT s1"), a.say("INSERT INTO t(v) VALUES (8)"), a.say("ROLLBACK TO SAVEPOINT s1"), a.say("COMMIT"), a.say("SET autocommit=1"))
	}},
	{weight: 6, write: func(a *author) []Op {
		return a.say("%s", a.pick("SAVEPOINT s1", "SAVEPOINT s2", "ROLLBACK TO s1", "ROLLBACK TO SAVEPOINT s2", "RELEASE SAVEPOINT s1"))
	}},
	{weight: 6, write: func(a *author) []Op {
		return a.say("%s", a.pick("SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED, READ WRITE", "SET TRANSACTION READ WRITE", "SET @@tx_isolation='SERIALIZABLE'"))
	}},
	{weight: 4, write: func(a *author) []Op {
		return all(a.say("SET TRANSACTION READ ONLY"), a.say("BEGIN"), a.say("INSERT INTO t(v) VALUES (2)"), a.say("ROLLBACK"), a.say("INSERT INTO t(v) VALUES (3)"))
	}},
	{weight: 4, write: func(a *author) []Op {
		return all(a.say("BEGIN"), a.say("INSERT INTO t(v) VALUES (1)"), a.say("%s", a.pick("CREATE TABLE IF NOT EXISTS z (a INT)", "ALTER TABLE k COMMENT 'x'", "TRUNCATE k", "DROP TABLE IF EXISTS z", "CREATE TEMPORARY TABLE tmp_z (a INT)", "ANALYZE TABLE k", "CREATE INDEX i ON t(v)", "DROP INDEX i ON t")), a.say("ROLLBACK"), a.say("SELECT COUNT(*) FROM t"))
	}},
	{weight: 4, write: func(a *author) []Op {
		id := a.own("x" + a.pick("1", "2"))
		return all(a.say("XA START '%s'", id), a.say("UPDATE t SET v = v + 1 WHERE id = %d", a.id()), a.say("XA END '%s'", id), a.say("%s", a.endXA(id)), a.say("%s '%s'", a.pick("XA COMMIT", "XA ROLLBACK"), id))
	}},
	{weight: 2, write: func(a *author) []Op {
		return a.say("SET completion_type=%s", a.pick("0", "1", "'CHAIN'", "NO_CHAIN", "DEFAULT"))
	}},
	{weight: 5, write: func(a *author) []Op { return a.say("SELECT @@in_transaction, @@autocommit") }},
	{weight: 4, write: func(a *author) []Op {
		return a.say("SELECT * FROM t WHERE id = %d %s", a.id(), a.pick("FOR UPDATE", "LOCK IN SHARE MODE", "FOR UPDATE SKIP LOCKED", "FOR UPDATE NOWAIT"))
	}},
	{weight: 2, write: func(a *author) []Op { return a.say("BEGIN NOT ATOMIC SELECT 1; INSERT INTO t(v) VALUES (4); END") }},
}

// endXA ends the first half of a branch that was worked on.
func (a *author) endXA(id string) string {
	ends := []string{"XA ROLLBACK '" + id + "'", "XA COMMIT '" + id + "' ONE PHASE"}
	if !a.off.any("xaprepare") {
		ends = append(ends, "XA PREPARE '"+id+"'")
	}
	return a.pick(ends...)
}
