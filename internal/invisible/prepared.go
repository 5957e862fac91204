package invisible

// preparedMoves are the binary protocol's own: types bound once, NULLs, long data, cursors, ids that are not valid.
var preparedMoves = []move{
	{weight: 6, write: func(a *author) []Op {
		s := a.slot()
		return []Op{{Verb: Prepare, Slot: s, Text: a.prepared("SELECT ? + 0, ?")}, {Verb: Execute, Slot: s, Params: []Param{integer(5), integer(6)}},
			{Verb: Execute, Slot: s, Unbound: true, Params: []Param{integer(8), integer(9)}}, {Verb: Execute, Slot: s, Unbound: true, Params: []Param{integer(10), {Kind: Null}}}, {Verb: Close, Slot: s}}
	}},
	{weight: 5, write: func(a *author) []Op {
		s := a.slot()
		return []Op{{Verb: Prepare, Slot: s, Text: a.prepared("SELECT ?, ?, ?")}, {Verb: Execute, Slot: s, Params: []Param{text("a"), {Double, "1.5"}, {Kind: Null}}}, {Verb: Execute, Slot: s, Params: []Param{integer(1), text("é"), integer(-1)}}}
	}},
	{weight: 4, write: func(a *author) []Op {
		s := a.slot()
		ops := []Op{{Verb: Prepare, Slot: s, Text: a.prepared("INSERT INTO k(id, n, b) VALUES (?, ?, ?)")}, {Verb: Long, Slot: s, N: 2, Text: "abc"}, {Verb: Long, Slot: s, N: 2, Text: "def"}}
		if a.chance(30) {
			ops = append(ops, Op{Verb: Reset, Slot: s}, Op{Verb: Long, Slot: s, N: 2, Text: "g"})
		}
		return append(ops, Op{Verb: Execute, Slot: s, Params: []Param{integer(20 + a.id()), integer(1), {Kind: Piece}}}, a.query("SELECT id, b FROM k WHERE id > 20 ORDER BY id"))
	}},
	{weight: 5, write: func(a *author) []Op {
		s := a.slot()
		ops := []Op{{Verb: Prepare, Slot: s, Text: a.prepared("SELECT id, v FROM t ORDER BY id")}, {Verb: Execute, Slot: s, Cursor: true}, {Verb: Fetch, Slot: s, N: 2}}
		switch a.rng.IntN(4) {
		case 0:
			ops = append(ops, Op{Verb: Fetch, Slot: s, N: 100}, Op{Verb: Fetch, Slot: s, N: 1})
		case 1:
			ops = append(ops, Op{Verb: Reset, Slot: s}, Op{Verb: Fetch, Slot: s, N: 1})
		case 2:
			ops = append(ops, Op{Verb: Execute, Slot: s})
		}
		return append(ops, Op{Verb: Close, Slot: s})
	}},
	{weight: 3, write: func(a *author) []Op {
		return []Op{{Verb: Execute, Slot: "never"}, {Verb: Reset, Slot: "never"}, {Verb: Fetch, Slot: "never", N: 1}, {Verb: Close, Slot: "never"}}
	}},
	{weight: 4, needs: "resetinsertid", write: func(a *author) []Op {
		s := a.slot()
		return []Op{{Verb: Prepare, Slot: s, Text: a.prepared("SELECT v FROM t WHERE id = ?")}, {Verb: Execute, Slot: s, Params: []Param{integer(1)}}, {Verb: ResetConn}, {Verb: Execute, Slot: s, Params: []Param{integer(1)}}, {Verb: Ping}}
	}},
	{weight: 2, write: func(a *author) []Op {
		s := a.slot()
		return []Op{{Verb: Prepare, Slot: s, Text: a.prepared("SELECT 2")}, {Verb: ChangeUser, Text: a.home()}, {Verb: Execute, Slot: s}, {Verb: Ping}}
	}},
	{weight: 4, write: func(a *author) []Op {
		s := a.slot()
		return all([]Op{{Verb: Prepare, Slot: s, Text: a.prepared("SELECT * FROM k WHERE id = ?")}, {Verb: Execute, Slot: s, Params: []Param{integer(1)}}},
			a.say("%s", a.pick("ALTER TABLE k ADD COLUMN extra INT", "ALTER TABLE k DROP COLUMN extra", "DROP TABLE k", "CREATE TABLE k (id INT PRIMARY KEY, n INT)", "ALTER TABLE k MODIFY n BIGINT NOT NULL")),
			[]Op{{Verb: Execute, Slot: s, Params: []Param{integer(1)}}})
	}},
	{weight: 4, needs: "preparedcontext", write: func(a *author) []Op {
		s := a.slot()
		return all([]Op{{Verb: Prepare, Slot: s, Text: "SELECT id, v FROM t WHERE id = ?"}}, a.say("USE %s", a.other()), []Op{{Verb: Execute, Slot: s, Params: []Param{integer(1)}}}, a.say("USE %s", a.home()), []Op{{Verb: Execute, Slot: s, Params: []Param{integer(1)}}})
	}},
	{weight: 3, needs: "preparedcontext", write: func(a *author) []Op {
		s := a.slot()
		return all([]Op{{Verb: Prepare, Slot: s, Text: `SELECT "a", 'b' || 'c', @@sql_mode`}, {Verb: Execute, Slot: s}}, a.say("SET sql_mode='ANSI,PIPES_AS_CONCAT'"), []Op{{Verb: Execute, Slot: s}, {Verb: Prepare, Slot: s + "b", Text: `SELECT "a", 'b' || 'c', @@sql_mode`}, {Verb: Execute, Slot: s + "b"}})
	}},
	{weight: 3, write: func(a *author) []Op {
		s := a.slot()
		return []Op{{Verb: Prepare, Slot: s, Text: a.pick("SELEC", "SELECT nosuch", "SELECT * FROM nosuch", "SELECT ?; SELECT 2", "USE two", "LOCK TABLES t READ", "SELECT 1 FROM t WHERE", "SHOW WARNINGS LIMIT 0", "")}, {Verb: Execute, Slot: s}}
	}},
	{weight: 3, needs: "preparedcontext", write: func(a *author) []Op {
		s := a.slot()
		return all([]Op{{Verb: Prepare, Slot: s, Text: "SELECT 'é', ?"}}, a.say("SET NAMES latin1"), []Op{{Verb: Execute, Slot: s, Params: []Param{text("é")}}}, a.say("SET NAMES utf8mb4"), []Op{{Verb: Execute, Slot: s, Params: []Param{text("é")}}})
	}},
}
