package invisible

// routineMoves call procedures and functions that change the session behind the text's back.
var routineMoves = []move{
	{weight: 3, routine: true, write: func(a *author) []Op { return all(a.say("CALL lib.set_var(%d)", a.id()), a.say("SELECT @p")) }},
	{weight: 2, routine: true, write: func(a *author) []Op {
		return all(a.say("CALL lib.make_temp()"), a.say("SELECT * FROM tmp_p"), a.say("DROP TEMPORARY TABLE IF EXISTS lib.tmp_p"))
	}},
	{weight: 2, routine: true, write: func(a *author) []Op {
		return all(a.say("CALL lib.set_mode('%s')", a.pick("ANSI_QUOTES", "", "nosuch")), a.say("SELECT @@sql_mode"))
	}},
	{weight: 2, routine: true, write: func(a *author) []Op {
		return all(a.say("CALL lib.take_lock('%s')", a.own("l4")), a.say("SELECT RELEASE_LOCK('%s')", a.own("l4")))
	}},
	{weight: 3, routine: true, write: func(a *author) []Op {
		return []Op{a.query("SET @z=7"), a.query("CALL lib.out_params(5, @y, @z)"), a.query("SELECT @y, @z")}
	}},
	{weight: 3, routine: true, write: func(a *author) []Op {
		return a.bind("CALL lib.out_params(?, ?, ?)", integer(5), Param{Kind: Null}, integer(7))
	}},
	{weight: 3, routine: true, write: func(a *author) []Op { return a.say("CALL lib.%s()", a.pick("two_results", "warn", "fails", "nosuch")) }},
	{weight: 2, routine: true, write: func(a *author) []Op { return all(a.say("CALL lib.begins()"), a.say("ROLLBACK")) }},
	{weight: 2, routine: true, write: func(a *author) []Op { return all(a.say("SELECT lib.set_var_f(%d)", a.id()), a.say("SELECT @f")) }},
	{weight: 1, routine: true, write: func(a *author) []Op {
		return all(a.say("SELECT lib.lock_f('%s')", a.own("l5")), a.say("SELECT IS_FREE_LOCK('%s')", a.own("l5")), a.say("SELECT RELEASE_ALL_LOCKS()"))
	}},
	{weight: 3, routine: true, write: func(a *author) []Op { return a.say("SELECT lib.twice(id) FROM t ORDER BY id") }},
}
