package invisible

// ordinaryMoves are what an application's ORM sends all day.
var ordinaryMoves = []move{
	say(60, "SELECT id, v, s FROM t WHERE id = {id}"),
	say(15, "SELECT COUNT(*), SUM(v), MAX(id) FROM t"),
	say(8,
		"(SELECT id FROM t WHERE id < {id} ORDER BY id) UNION SELECT id FROM k ORDER BY 1",
		"SELECT k.id, (SELECT COUNT(*) FROM t WHERE t.id <= k.id) AS c FROM k WHERE k.id IN (SELECT id FROM t) ORDER BY k.id",
		"SELECT t.id, k.d FROM t LEFT JOIN k ON k.id = t.id ORDER BY t.id LIMIT {id}",
		"WITH c AS (SELECT id FROM t WHERE id < {id}) SELECT COUNT(*) FROM c",
		"VALUES ({id}, 'a'), (2, 'b')",
		"DO 1",
		"EXPLAIN SELECT * FROM t WHERE id = {id}"),
	say(3, "SHOW TABLES", "SHOW COLUMNS FROM t", "DESCRIBE k", "SHOW CREATE TABLE k"),
	say(25, "INSERT INTO t(v, s) VALUES ({id}, 'x')"),
	say(20, "UPDATE t SET v = v + 1 WHERE id = {id}"),
	say(8, "UPDATE t SET v = 7 WHERE id < {id}", "UPDATE t, k SET t.v = k.n, k.n = k.n + 1 WHERE t.id = k.id AND k.id = {id}"),
	say(10, "DELETE FROM t WHERE id = {id}", "DELETE FROM t WHERE id = {id} RETURNING id, v"),
	say(8, "INSERT INTO t(v) VALUES (1),(2),(3)", "INSERT INTO t(v) SELECT n FROM k"),
	say(8, "INSERT IGNORE INTO t(id, u) VALUES ({id}, 1)"),
	say(12,
		"INSERT INTO t(u, v) VALUES ({id}, 1) ON DUPLICATE KEY UPDATE v = v + 1",
		"INSERT INTO t(u, v) VALUES ({id}, 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)"),
	say(12, "REPLACE INTO k(id, n, d) VALUES ({id}, 3, 4.005)", "INSERT INTO k(id, n, w) VALUES ({id}, 1, 'tool')"),
	say(5, "INSERT INTO t(v) VALUES ({id}) RETURNING id"),
	say(5, "UPDATE two.t SET v = v + 1 WHERE id = 1", "INSERT INTO two.t(v) VALUES ({id})").inTurns(),
	commands(20, func(a *author) []Op { return a.bind("SELECT * FROM t WHERE id = ?", a.key()) }),
	commands(15, func(a *author) []Op {
		return a.bind("INSERT INTO t(v, s) VALUES (?, ?)", a.key(), text(a.pick("x", "it's", "naïve✓", "")))
	}),
	commands(10, func(a *author) []Op { return a.bind("UPDATE t SET s = ? WHERE id = ?", text("y"), a.key()) }),
	commands(6, func(a *author) []Op { // see files for what the client has
		file, mode := a.pick("rows", "dups", "wrong", "nosuch"), a.pick("", "IGNORE ", "REPLACE ")
		return []Op{a.query("LOAD DATA LOCAL INFILE '" + file + "' " + mode + "INTO TABLE t (id, v)")}
	}),
	commands(12, shortTransaction),
}

// shortTransaction is a unit of work.
func shortTransaction(a *author) []Op {
	ops := []Op{a.query(a.pick("BEGIN", "START TRANSACTION", "begin work"))}
	for range 1 + a.rng.IntN(3) {
		ops = append(ops, a.say(a.pick(
			"SELECT v FROM t WHERE id = {id} FOR UPDATE",
			"UPDATE t SET v = v - 1 WHERE id = {id}",
			"INSERT INTO t(v) VALUES (0)",
			"DELETE FROM k WHERE id = {id}",
			"SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
		))...)
	}
	return append(ops, a.query(a.pick("COMMIT", "COMMIT", "ROLLBACK", "commit work")))
}
