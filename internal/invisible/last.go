package invisible

// lastMoves ask for what the last statement left.
var lastMoves = []move{
	say(14, "SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() AS ID", "SELECT LAST_INSERT_ID() FROM DUAL", "SELECT @@identity",
		"SELECT @@last_insert_id", "select last_insert_id ( )", "SELECT LAST_INSERT_ID() + 0, @@identity", "SELECT * FROM t WHERE id = LAST_INSERT_ID()"),
	script(10, line{"INSERT INTO t(v) VALUES (1)"}, line{"SELECT LAST_INSERT_ID()"}),
	say(5, "SELECT LAST_INSERT_ID(77)", "INSERT INTO t(v) VALUES (LAST_INSERT_ID())", "UPDATE t SET v = LAST_INSERT_ID(v + 1) WHERE id = 1",
		"SET last_insert_id=55", "SET @@identity=66", "DO LAST_INSERT_ID(5)", "INSERT INTO k(id, n) VALUES (LAST_INSERT_ID() + 1000, 1)",
		"SET @a=LAST_INSERT_ID()", "SELECT LAST_INSERT_ID(id) FROM t FORCE INDEX (PRIMARY) ORDER BY id"),
	script(4, line{"INSERT INTO t(id, v) VALUES (90{id}, 1)"}, line{"SELECT LAST_INSERT_ID()"}),
	script(3, line{"SET sql_auto_is_null=1"}, line{"INSERT INTO t(v) VALUES (1)"}, line{"SELECT id FROM t WHERE id IS NULL"}),
	script(6, line{"SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 2"}, line{"SELECT FOUND_ROWS()"}),
	script(4, line{"SELECT id FROM t WHERE id < {id} ORDER BY id", "UPDATE t SET v = 3", "SHOW TABLES", "SELECT nosuch"}, line{"SELECT FOUND_ROWS()"}),
	say(6, "SELECT FOUND_ROWS()"),
	script(6, line{"UPDATE t SET v = v + 1 WHERE id < {id}", "SELECT id FROM t ORDER BY id", "DO 1", "INSERT INTO t(v) VALUES (1),(2)", "SELECT nosuch"},
		line{"SELECT ROW_COUNT()"}),
	say(6, "SELECT ROW_COUNT()"),
	script(12, warned, warningLooks),
	say(6, warningLooks...),
	say(6, warned...),
	script(3, line{"CREATE SEQUENCE IF NOT EXISTS q"}, line{"SELECT NEXT VALUE FOR q"}, line{"SELECT LASTVAL(q)", "SELECT PREVIOUS VALUE FOR q"}).unless("lastval"),
	say(3, "SELECT CONNECTION_ID() = @@pseudo_thread_id", "SELECT id FROM t WHERE CONNECTION_ID() > 0 ORDER BY id"),
	say(3, "KILL QUERY 0", "KILL 4000000000").unless("kill"),
}

// warned leave warnings or errors.
var warned = line{
	"SELECT 1/0, 'abc'+1", "SELECT CAST('12x' AS INT)", "INSERT IGNORE INTO t(id) VALUES (1)", "DROP TABLE IF EXISTS nosuch",
	"CREATE TABLE IF NOT EXISTS t (a INT)", "SELECT nosuch", "SELEC 1", "INSERT INTO t(id) VALUES (1)",
}

// warningLooks ask for them.
var warningLooks = line{
	"SHOW WARNINGS", "SHOW ERRORS", "SHOW WARNINGS LIMIT 1", "SHOW WARNINGS LIMIT 1, 5", "SHOW COUNT(*) WARNINGS", "SHOW COUNT(*) ERRORS",
	"SELECT @@warning_count", "SELECT @@error_count", "SELECT @@warning_count, @@error_count, 1/0",
	"GET DIAGNOSTICS @n = NUMBER", "GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT",
}
