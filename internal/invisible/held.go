package invisible

// heldMoves take what lives on one connection, use it and give it back: temporary tables, locks, handlers, texts prepared
// by SQL.
var heldMoves = []move{
	{weight: 5, write: func(a *author) []Op {
		return a.say("CREATE TEMPORARY TABLE %s (a INT)", a.pick("x", "y", "IF NOT EXISTS x"))
	}},
	{weight: 6, write: func(a *author) []Op {
		return a.say("%s", a.pick("INSERT INTO x VALUES (1)", "SELECT * FROM x", "SELECT COUNT(*) FROM y", "DROP TEMPORARY TABLE x", "DROP TABLE x, y", "DROP TEMPORARY TABLE IF EXISTS x", "DROP TABLE IF EXISTS y"))
	}},
	{weight: 4, write: func(a *author) []Op {
		return all(a.say("CREATE TEMPORARY TABLE x AS SELECT id FROM t"), a.say("SELECT COUNT(*) FROM x"), a.say("DROP TABLE x"))
	}},
	{weight: 2, write: func(a *author) []Op {
		return all(a.say("CREATE TEMPORARY TABLE t (a INT)"), a.say("SELECT * FROM t"), a.say("DROP TEMPORARY TABLE t"))
	}},
	{weight: 2, write: func(a *author) []Op {
		return all(a.say("CREATE TEMPORARY TABLE x LIKE k"), a.say("ALTER TABLE x RENAME TO y"), a.say("SELECT * FROM y"), a.say("DROP TABLE y"))
	}},
	{weight: 5, write: func(a *author) []Op { return a.say("SELECT GET_LOCK('%s', 0)", a.lock()) }},
	{weight: 5, write: func(a *author) []Op {
		return a.say("%s", a.pick("SELECT RELEASE_LOCK('"+a.lock()+"')", "SELECT RELEASE_ALL_LOCKS()", "DO RELEASE_LOCK('"+a.lock()+"')", "SELECT IS_FREE_LOCK('"+a.lock()+"')", "SELECT IS_USED_LOCK('"+a.lock()+"') IS NULL", "DO GET_LOCK('"+a.lock()+"', 0)"))
	}},
	{weight: 3, write: func(a *author) []Op {
		return all(a.say("SELECT GET_LOCK('%s', 0), GET_LOCK('%s', 0)", a.own("l1"), a.own("l2")), a.say("SELECT IS_FREE_LOCK('%s')", a.own("l2")), a.say("SELECT RELEASE_ALL_LOCKS()"))
	}},
	{weight: 2, write: func(a *author) []Op {
		return all(a.say("SET @l='%s'", a.own("l3")), a.say("SELECT GET_LOCK(@l, 0)"), a.say("SELECT RELEASE_LOCK(@l)"))
	}},
	{weight: 3, write: func(a *author) []Op {
		return all([]Op{a.query("LOCK TABLES %s", a.pick("t WRITE", "t READ", "t READ, k WRITE", "t AS a READ", "nosuch READ"))}, a.say("%s", a.pick("SELECT COUNT(*) FROM t", "INSERT INTO t(v) VALUES (1)", "SELECT * FROM k")), []Op{a.query("UNLOCK TABLES")})
	}},
	{weight: 1, turns: true, write: func(a *author) []Op {
		return all([]Op{a.query("FLUSH TABLES WITH READ LOCK")}, a.say("INSERT INTO t(v) VALUES (1)"), []Op{a.query("UNLOCK TABLES")})
	}},
	{weight: 1, write: func(a *author) []Op {
		return []Op{a.query("FLUSH TABLES t WITH READ LOCK"), a.query("SELECT COUNT(*) FROM t"), a.query("UNLOCK TABLES")}
	}},
	{weight: 3, write: func(a *author) []Op {
		return all(a.say("HANDLER t OPEN%s", a.pick("", " AS h")), a.say("HANDLER %s READ FIRST", a.pick("t", "h")), a.say("HANDLER t READ NEXT LIMIT 2"), a.say("HANDLER %s CLOSE", a.pick("t", "h")))
	}},
	{weight: 5, write: func(a *author) []Op {
		return all([]Op{a.query("PREPARE s FROM '%s'", a.pick("SELECT 1", "SELECT ? + 1", "INSERT INTO t(v) VALUES (?)", "SET @z = 5", "SELEC", "CREATE TEMPORARY TABLE tmp_s (a INT)"))}, []Op{a.query("EXECUTE s%s", a.pick("", " USING 4", " USING @a"))}, []Op{a.query("%s PREPARE s", a.pick("DEALLOCATE", "DROP"))})
	}},
	{weight: 2, write: func(a *author) []Op {
		return []Op{a.query("%s", a.pick("EXECUTE s", "DEALLOCATE PREPARE s", "EXECUTE IMMEDIATE 'SELECT 3'", "EXECUTE IMMEDIATE 'SET @e = 1'", "EXECUTE IMMEDIATE 'SELECT ?' USING 9", "PREPARE s FROM @b"))}
	}},
}

func (a *author) lock() string { return a.own(a.pick("l1", "l2", "L1")) }
