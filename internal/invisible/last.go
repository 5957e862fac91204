package invisible

// lastMoves ask for what the last statement left.
var lastMoves = []move{
	{weight: 14, write: func(a *author) []Op {
		return a.say("%s", a.pick("SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() AS ID", "SELECT LAST_INSERT_ID() FROM DUAL", "SELECT @@identity", "SELECT @@last_insert_id", "select last_insert_id ( )", "SELECT LAST_INSERT_ID() + 0, @@identity", "SELECT * FROM t WHERE id = LAST_INSERT_ID()"))
	}},
	{weight: 10, write: func(a *author) []Op {
		return all(a.say("INSERT INTO t(v) VALUES (1)"), a.say("SELECT LAST_INSERT_ID()"))
	}},
	{weight: 5, write: func(a *author) []Op {
		return a.say("%s", a.pick("SELECT LAST_INSERT_ID(77)", "INSERT INTO t(v) VALUES (LAST_INSERT_ID())", "UPDATE t SET v = LAST_INSERT_ID(v + 1) WHERE id = 1", "SET last_insert_id=55", "SET @@identity=66", "DO LAST_INSERT_ID(5)", "INSERT INTO k(id, n) VALUES (LAST_INSERT_ID() + 1000, 1)", "SET @a=LAST_INSERT_ID()", "SELECT LAST_INSERT_ID(id) FROM t ORDER BY id"))
	}},
	{weight: 4, write: func(a *author) []Op {
		return all(a.say("INSERT INTO t(id, v) VALUES (%d, 1)", 900+a.id()), a.say("SELECT LAST_INSERT_ID()"))
	}},
	{weight: 3, needs: "autoisnull", write: func(a *author) []Op {
		return all(a.say("SET sql_auto_is_null=1"), a.say("INSERT INTO t(v) VALUES (1)"), a.say("SELECT id FROM t WHERE id IS NULL"))
	}},
	{weight: 6, needs: "foundrows", write: func(a *author) []Op {
		return all(a.say("SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 2"), a.say("SELECT FOUND_ROWS()"))
	}},
	{weight: 8, needs: "foundrows", write: func(a *author) []Op { return a.say("SELECT FOUND_ROWS()") }},
	{weight: 4, needs: "foundrows", write: func(a *author) []Op {
		return all(a.say("SELECT id FROM t WHERE id < %d", a.id()), a.say("SELECT FOUND_ROWS()"))
	}},
	{weight: 8, needs: "rowcount", write: func(a *author) []Op { return a.say("SELECT ROW_COUNT()") }},
	{weight: 4, needs: "rowcount", write: func(a *author) []Op {
		return all(a.say("UPDATE t SET v = v + 1 WHERE id < %d", a.id()), a.say("SELECT ROW_COUNT()"))
	}},
	{weight: 10, needs: "warnings", write: func(a *author) []Op {
		return all(a.say("%s", a.pick("SELECT 1/0, 'abc'+1", "SELECT CAST('x' AS INT)", "INSERT IGNORE INTO t(id) VALUES (1)", "DROP TABLE IF EXISTS nosuch", "SELECT nosuch", "SELEC 1", "INSERT INTO t(id) VALUES (1)")), a.say("%s", a.showWarnings()))
	}},
	{weight: 6, needs: "warnings", write: func(a *author) []Op { return a.say("%s", a.showWarnings()) }},
	{weight: 6, write: func(a *author) []Op {
		return a.say("%s", a.pick("SELECT 1/0, 'abc'+1", "SELECT CAST('12x' AS INT)", "DROP TABLE IF EXISTS nosuch", "CREATE TABLE IF NOT EXISTS t (a INT)"))
	}},
	{weight: 3, needs: "connectionid", write: func(a *author) []Op {
		return all(a.say("SELECT CONNECTION_ID() = @@pseudo_thread_id"), a.say("SELECT id FROM t WHERE CONNECTION_ID() > 0 ORDER BY id"))
	}},
	{weight: 3, needs: "kill", write: func(a *author) []Op { return a.say("%s", a.pick("KILL QUERY 0", "KILL 4000000000")) }},
	{weight: 3, needs: "lastval", write: func(a *author) []Op {
		return all(a.say("CREATE SEQUENCE IF NOT EXISTS q"), a.say("SELECT NEXT VALUE FOR q"), a.say("%s", a.pick("SELECT LASTVAL(q)", "SELECT PREVIOUS VALUE FOR q")))
	}},
}

func (a *author) showWarnings() string {
	return a.pick("SHOW WARNINGS", "SHOW ERRORS", "SHOW WARNINGS LIMIT 1", "SHOW WARNINGS LIMIT 1, 5", "SHOW COUNT(*) WARNINGS", "SHOW COUNT(*) ERRORS", "SELECT @@warning_count", "SELECT @@error_count", "SELECT @@warning_count, @@error_count, 1/0",
		"GET DIAGNOSTICS @n = NUMBER", "GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT")
}
