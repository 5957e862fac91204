package invisible

// protocolMoves are commands beside statements, and texts that are no single statement.
var protocolMoves = []move{
	commands(4, func(*author) []Op { return []Op{{Verb: Ping}} }),
	commands(2, func(*author) []Op { return []Op{{Verb: Statistics}} }),
	commands(4, func(*author) []Op { return []Op{{Verb: Reconnect}} }).inTurns(),
	commands(3, func(a *author) []Op { return []Op{{Verb: FieldList, Text: a.pick("t", "k", "nosuch")}} }),
	commands(3, func(a *author) []Op { return []Op{{Verb: SetOption, N: a.rng.IntN(2)}} }),
	raw(10,
		"INSERT INTO t(v) VALUES (1); SELECT LAST_INSERT_ID(); SELECT nosuch; SELECT 3", "SELECT 1; SELECT 2", "SELECT 1; /* conn_tag:a */",
		"SELECT 1 /* conn_tag:a */;", ";", "SELECT 1;;", "SET @a=5; SELECT @a", "BEGIN; UPDATE t SET v = v + 1 WHERE id = 1; COMMIT",
		"BEGIN; INSERT INTO t(v) VALUES (5)", "USE {other}; SELECT DATABASE()", "SET sql_mode='ANSI'; SELECT 'a' || 'b'", "SELECT 1; BEGIN; SELECT 2",
		"SET time_zone='+07:00'; SELECT nosuch; SET time_zone='+08:00'",
		"INSERT INTO t(v) VALUES (1),(2); UPDATE t SET v = 1 WHERE id = 2; DELETE FROM t WHERE id = 3",
		"SELECT GET_LOCK('l1{me}', 0); SELECT RELEASE_LOCK('l1{me}')", "CALL lib.two_results(); SELECT 3",
		"SET autocommit=0; INSERT INTO t(v) VALUES (3); ROLLBACK; SET autocommit=1", "SELECT 'a;b'; SELECT \"c;d\"",
		"PREPARE s FROM 'SELECT 4'; EXECUTE s; DEALLOCATE PREPARE s"),
	raw(2,
		"CREATE TEMPORARY TABLE x (a INT); INSERT INTO x VALUES (1); SELECT * FROM x; DROP TABLE x",
		"SELECT nosuch; DROP TABLE x, y", "SELECT nosuch; SELECT RELEASE_ALL_LOCKS(); UNLOCK TABLES", "SELECT nosuch; DEALLOCATE PREPARE s"),
	raw(2, "", " ", "/* conn_tag:a */", "-- x\n", "#"),
	raw(2,
		"SELECT '/* conn_tag:evil */'", "SELECT 1 AS `/* conn_tag:evil */`", "SELECT 'it''s /* conn_tag:evil */'", "SELECT 1 -- conn_tag:ok",
		"SELECT 1 # conn_tag:ok", "SELECT /* unterminated", "SELECT 'unterminated", "SELECT 1 /* a /* b */ + 1"),
	say(2,
		"SELECT REPEAT('a', 1638{id})", "SELECT REPEAT('b', 70000), 1 UNION ALL SELECT 'c', 2", // around the sizes of the proxy's buffers
		"SELECT seq, (SELECT seq FROM seq_1_to_3 WHERE seq >= IF(s.seq > 30, 1, 3)) FROM seq_1_to_50 s"), // fails after 30 rows
}
