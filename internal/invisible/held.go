package invisible

// heldMoves take what lives on one connection, use it and give it back: temporary tables, locks, handlers, texts prepared
// by SQL.
var heldMoves = []move{
	say(5, "CREATE TEMPORARY TABLE x (a INT)", "CREATE TEMPORARY TABLE y (a INT)", "CREATE TEMPORARY TABLE IF NOT EXISTS x (a INT)"),
	say(6, "INSERT INTO x VALUES (1)", "SELECT * FROM x", "SELECT COUNT(*) FROM y", "DROP TEMPORARY TABLE x", "DROP TABLE x, y",
		"DROP TEMPORARY TABLE IF EXISTS x", "DROP TABLE IF EXISTS y"),
	script(4, line{"CREATE TEMPORARY TABLE x AS SELECT id FROM t ORDER BY id"}, line{"SELECT COUNT(*) FROM x"}, line{"DROP TABLE x"}),
	script(2, line{"CREATE TEMPORARY TABLE t (a INT)"}, line{"SELECT * FROM t"}, line{"DROP TEMPORARY TABLE t"}),
	script(2, line{"CREATE TEMPORARY TABLE x LIKE k"}, line{"ALTER TABLE x RENAME TO y"}, line{"SELECT * FROM y"}, line{"DROP TABLE y"}),
	say(5, "SELECT GET_LOCK('l1{me}', 0)", "SELECT GET_LOCK('l2{me}', 0)", "SELECT GET_LOCK('L1{me}', 0)", "DO GET_LOCK('l1{me}', 0)"),
	say(5, "SELECT RELEASE_LOCK('l1{me}')", "SELECT RELEASE_LOCK('l2{me}')", "DO RELEASE_LOCK('l1{me}')", "SELECT RELEASE_ALL_LOCKS()",
		"SELECT IS_FREE_LOCK('l1{me}')", "SELECT IS_USED_LOCK('l2{me}') IS NULL"),
	script(3, line{"SELECT GET_LOCK('l1{me}', 0), GET_LOCK('l2{me}', 0)"}, line{"SELECT IS_FREE_LOCK('l2{me}')"}, line{"SELECT RELEASE_ALL_LOCKS()"}),
	script(2, line{"SET @l='l3{me}'"}, line{"SELECT GET_LOCK(@l, 0)"}, line{"SELECT RELEASE_LOCK(@l)"}),
	script(3, line{"LOCK TABLES t WRITE", "LOCK TABLES t READ", "LOCK TABLES t READ, k WRITE", "LOCK TABLES t AS a READ", "LOCK TABLES nosuch READ"},
		line{"SELECT COUNT(*) FROM t", "INSERT INTO t(v) VALUES (1)", "SELECT * FROM k"}, line{"UNLOCK TABLES"}),
	script(1, line{"FLUSH TABLES WITH READ LOCK"}, line{"INSERT INTO t(v) VALUES (1)"}, line{"UNLOCK TABLES"}).inTurns(),
	script(1, line{"FLUSH TABLES t WITH READ LOCK"}, line{"SELECT COUNT(*) FROM t"}, line{"UNLOCK TABLES"}),
	script(3, line{"HANDLER t OPEN", "HANDLER t OPEN AS h"}, line{"HANDLER t READ FIRST", "HANDLER h READ FIRST"}, line{"HANDLER t READ NEXT LIMIT 2"},
		line{"HANDLER t CLOSE", "HANDLER h CLOSE"}),
	script(5, line{"PREPARE s FROM 'SELECT 1'", "PREPARE s FROM 'SELECT ? + 1'", "PREPARE s FROM 'INSERT INTO t(v) VALUES (?)'", "PREPARE s FROM 'SET @z = 5'",
		"PREPARE s FROM 'SELEC'", "PREPARE s FROM 'CREATE TEMPORARY TABLE tmp_s (a INT)'", "PREPARE s FROM @b"},
		line{"EXECUTE s", "EXECUTE s USING 4", "EXECUTE s USING @a"}, line{"DEALLOCATE PREPARE s", "DROP PREPARE s"}),
	say(2, "EXECUTE s", "DEALLOCATE PREPARE s", "EXECUTE IMMEDIATE 'SELECT 3'", "EXECUTE IMMEDIATE 'SET @e = 1'", "EXECUTE IMMEDIATE 'SELECT ?' USING 9"),
}
