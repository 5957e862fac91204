package invisible

import "fmt"

// ordinaryMoves are what an application's ORM sends all day.
var ordinaryMoves = []move{
	{weight: 60, write: func(a *author) []Op { return a.say("SELECT id, v, s FROM t WHERE id = %d", a.id()) }},
	{weight: 20, write: func(a *author) []Op { return a.bind("SELECT * FROM t WHERE id = ?", integer(a.id())) }},
	{weight: 15, write: func(a *author) []Op { return a.say("SELECT COUNT(*), SUM(v), MAX(id) FROM t") }},
	{weight: 25, write: func(a *author) []Op { return a.say("INSERT INTO t(v, s) VALUES (%d, 'x')", a.id()) }},
	{weight: 15, write: func(a *author) []Op {
		return a.bind("INSERT INTO t(v, s) VALUES (?, ?)", integer(a.id()), text(a.pick("x", "it's", "naïve✓", "")))
	}},
	{weight: 8, write: func(a *author) []Op { return a.say("INSERT INTO t(v) VALUES (1),(2),(3)") }},
	{weight: 20, write: func(a *author) []Op { return a.say("UPDATE t SET v = v + 1 WHERE id = %d", a.id()) }},
	{weight: 8, write: func(a *author) []Op { return a.say("UPDATE t SET v = 7 WHERE id < %d", a.id()) }},
	{weight: 10, write: func(a *author) []Op { return a.bind("UPDATE t SET s = ? WHERE id = ?", text("y"), integer(a.id())) }},
	{weight: 10, write: func(a *author) []Op { return a.say("DELETE FROM t WHERE id = %d", a.id()) }},
	{weight: 8, write: func(a *author) []Op { return a.say("INSERT IGNORE INTO t(id, u) VALUES (%d, 1)", a.id()) }},
	{weight: 8, write: func(a *author) []Op {
		return a.say("INSERT INTO t(u, v) VALUES (%d, 1) ON DUPLICATE KEY UPDATE v = v + 1", a.id())
	}},
	{weight: 4, write: func(a *author) []Op {
		return a.say("INSERT INTO t(u, v) VALUES (%d, 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)", a.id())
	}},
	{weight: 8, write: func(a *author) []Op { return a.say("REPLACE INTO k(id, n, d) VALUES (%d, 3, 4.005)", a.id()) }},
	{weight: 6, write: func(a *author) []Op { return a.say("INSERT INTO k(id, n, w) VALUES (%d, 1, 'tool')", a.id()) }},
	{weight: 8, write: func(a *author) []Op {
		return a.say("(SELECT id FROM t WHERE id < %d ORDER BY id) UNION SELECT id FROM k ORDER BY 1", a.id())
	}},
	{weight: 8, write: func(a *author) []Op {
		return a.say("SELECT k.id, (SELECT COUNT(*) FROM t WHERE t.id <= k.id) AS c FROM k WHERE k.id IN (SELECT id FROM t) ORDER BY k.id")
	}},
	{weight: 5, write: func(a *author) []Op {
		return a.say("SELECT t.id, k.d FROM t LEFT JOIN k ON k.id = t.id ORDER BY t.id LIMIT %d", a.id())
	}},
	{weight: 5, write: func(a *author) []Op { return a.say("DELETE FROM t WHERE id = %d RETURNING id, v", a.id()) }},
	{weight: 5, needs: "returning", write: func(a *author) []Op { return a.say("INSERT INTO t(v) VALUES (%d) RETURNING id", a.id()) }},
	{weight: 4, write: func(a *author) []Op { return a.say("INSERT INTO t(v) SELECT n FROM k") }},
	{weight: 4, write: func(a *author) []Op {
		return a.say("UPDATE t, k SET t.v = k.n, k.n = k.n + 1 WHERE t.id = k.id AND k.id = %d", a.id())
	}},
	{weight: 6, write: func(a *author) []Op {
		return []Op{a.query("LOAD DATA LOCAL INFILE '%s' %sINTO TABLE t (id, v)", a.pick("rows", "dups", "wrong", "nosuch"), a.pick("", "IGNORE ", "REPLACE "))}
	}},
	{weight: 3, write: func(a *author) []Op { return a.say("EXPLAIN SELECT * FROM t WHERE id = %d", a.id()) }},
	{weight: 3, write: func(a *author) []Op {
		return a.say("%s", a.pick("SHOW TABLES", "SHOW COLUMNS FROM t", "DESCRIBE k", "SHOW INDEX FROM t", "SHOW CREATE TABLE k"))
	}},
	{weight: 12, write: func(a *author) []Op { return shortTransaction(a) }},
	{weight: 6, write: func(a *author) []Op {
		return a.say("WITH c AS (SELECT id FROM t WHERE id < %d) SELECT COUNT(*) FROM c", a.id())
	}},
	{weight: 4, write: func(a *author) []Op { return a.say("DO 1") }},
	{weight: 4, write: func(a *author) []Op {
		return a.say("VALUES (%d, 'a'), (2, 'b')", a.id())
	}},
	{weight: 3, turns: true, write: func(a *author) []Op { return a.say("UPDATE two.t SET v = v + 1 WHERE id = 1") }},
	{weight: 3, turns: true, write: func(a *author) []Op { return a.say("INSERT INTO two.t(v) VALUES (%d)", a.id()) }},
}

// shortTransaction is a unit of work.
func shortTransaction(a *author) []Op {
	ops := []Op{a.query("%s", a.pick("BEGIN", "START TRANSACTION", "begin work"))}
	for range 1 + a.rng.IntN(3) {
		ops = append(ops, a.say("%s", a.pick(
			fmt.Sprintf("SELECT v FROM t WHERE id = %d FOR UPDATE", a.id()),
			fmt.Sprintf("UPDATE t SET v = v - 1 WHERE id = %d", a.id()),
			"INSERT INTO t(v) VALUES (0)",
			fmt.Sprintf("DELETE FROM k WHERE id = %d", a.id()),
			"SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
		))...)
	}
	return append(ops, a.query("%s", a.pick("COMMIT", "COMMIT", "ROLLBACK", "commit work")))
}
