package invisible

// preparedMoves are the binary protocol's own: types bound once, NULLs, long data, cursors, ids that are not valid.
var preparedMoves = []move{
	commands(6, func(a *author) []Op {
		s := a.slot()
		return []Op{a.prepare(s, "SELECT ? + 0, ?"), execute(s, integer(5), integer(6)), unbound(s, integer(8), integer(9)),
			unbound(s, integer(10), Param{Kind: Null}), {Verb: Close, Slot: s}}
	}),
	commands(5, func(a *author) []Op {
		s := a.slot()
		return []Op{a.prepare(s, "SELECT ?, ?, ?"), execute(s, text("a"), Param{Double, "1.5"}, Param{Kind: Null}), execute(s, integer(1), text("é"), integer(-1))}
	}),
	commands(4, longData),
	commands(5, cursor),
	commands(3, func(*author) []Op {
		return []Op{execute("never"), {Verb: Reset, Slot: "never"}, {Verb: Fetch, Slot: "never", N: 1}, {Verb: Close, Slot: "never"}}
	}),
	commands(4, func(a *author) []Op {
		s := a.slot()
		return []Op{a.prepare(s, "SELECT v FROM t WHERE id = ?"), execute(s, integer(1)), {Verb: ResetConn}, execute(s, integer(1)), {Verb: Ping}}
	}),
	commands(2, func(a *author) []Op {
		s := a.slot()
		return []Op{a.prepare(s, "SELECT 2"), {Verb: ChangeUser, Text: a.home()}, execute(s), {Verb: Ping}}
	}),
	around(4, "SELECT * FROM k WHERE id = ?", line{"ALTER TABLE k ADD COLUMN extra INT", "ALTER TABLE k DROP COLUMN extra", "DROP TABLE k",
		"CREATE TABLE k (id INT PRIMARY KEY, n INT)", "ALTER TABLE k MODIFY n BIGINT NOT NULL"}),
	around(4, "SELECT id, v FROM t WHERE id = ?", line{"USE {other}", "USE {home}"}),
	around(3, `SELECT "a", 'b' || 'c', @@sql_mode, ?`, line{"SET sql_mode='ANSI,PIPES_AS_CONCAT'", "SET sql_mode=DEFAULT"}),
	around(3, "SELECT 'é', ?", line{"SET NAMES latin1", "SET NAMES utf8mb4"}),
	commands(3, func(a *author) []Op {
		s := a.slot()
		return []Op{{Verb: Prepare, Slot: s, Text: a.pick("SELEC", "SELECT nosuch", "SELECT * FROM nosuch", "SELECT ?; SELECT 2", "USE "+a.other(),
			"LOCK TABLES t READ", "SELECT 1 FROM t WHERE", "SHOW WARNINGS LIMIT 0", "")}, execute(s)}
	}),
}

func execute(slot string, params ...Param) Op { return Op{Verb: Execute, Slot: slot, Params: params} }

func unbound(slot string, params ...Param) Op {
	return Op{Verb: Execute, Slot: slot, Params: params, Unbound: true}
}

// around executes a statement with one parameter before and after what changes the ground under it.
func around(weight int, text string, changes line) move {
	return commands(weight, func(a *author) []Op {
		s := a.slot()
		ops := []Op{a.prepare(s, text), execute(s, integer(1))}
		ops = append(ops, a.say(a.pick(changes...))...)
		ops = append(ops, execute(s, integer(1)))
		ops = append(ops, a.say(a.pick(changes...))...)
		return append(ops, execute(s, integer(2)), a.prepare(s, text), execute(s, integer(1)))
	})
}

// longData sends a parameter in pieces; a reset in the middle drops those before it.
func longData(a *author) []Op {
	s := a.slot()
	ops := []Op{a.prepare(s, "INSERT INTO k(id, n, b) VALUES (?, ?, ?)"), {Verb: Long, Slot: s, N: 2, Text: "abc"}, {Verb: Long, Slot: s, N: 2, Text: "def"}}
	if a.chance(30) {
		ops = append(ops, Op{Verb: Reset, Slot: s}, Op{Verb: Long, Slot: s, N: 2, Text: "g"})
	}
	return append(ops, execute(s, integer(20+a.rng.IntN(6)), integer(1), Param{Kind: Piece}), a.query("SELECT id, b FROM k WHERE id >= 20 ORDER BY id"))
}

// cursor leaves rows at the server and fetches some, all, or none of them.
func cursor(a *author) []Op {
	s := a.slot()
	ops := []Op{a.prepare(s, "SELECT id, v FROM t ORDER BY id"), {Verb: Execute, Slot: s, Cursor: true}, {Verb: Fetch, Slot: s, N: 2}}
	switch a.rng.IntN(4) {
	case 0:
		ops = append(ops, Op{Verb: Fetch, Slot: s, N: 100}, Op{Verb: Fetch, Slot: s, N: 1})
	case 1:
		ops = append(ops, Op{Verb: Reset, Slot: s}, Op{Verb: Fetch, Slot: s, N: 1})
	case 2:
		ops = append(ops, execute(s))
	}
	return append(ops, Op{Verb: Close, Slot: s})
}
