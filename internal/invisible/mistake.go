package invisible

// mistakeMoves are refused.
var mistakeMoves = []move{
	say(6,
		"INSERT INTO t(id) VALUES (1)", "INSERT INTO t(u) VALUES (1)", "SELEC 1", "SELECT * FROM nosuch", "SELECT nosuch FROM t",
		"INSERT INTO k(id, n) VALUES (9, NULL)", "INSERT INTO k(id) VALUES (8)", "SELECT * FROM nosuch.t", "DROP TABLE nosuch",
		"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT='x', MYSQL_ERRNO=1234", "SELECT (SELECT id FROM t)", "UPDATE t SET id = 1 WHERE id = 2",
		"INSERT INTO t(v) VALUES ('not a number')", "SELECT 1 FROM t GROUP BY nosuch", "SELECT SLEEP(1, 2)"),
}
