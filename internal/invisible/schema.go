package invisible

// schemaMoves change the current schema and the character sets.
var schemaMoves = []move{
	say(6, "USE {home}", "USE {other}", "USE nosuch", "USE `{home}`"),
	say(4, "SELECT DATABASE(), SCHEMA()"),
	commands(5, func(a *author) []Op { return []Op{{Verb: InitDB, Text: a.pick(a.home(), a.other(), "nosuch")}} }),
	commands(5, func(a *author) []Op {
		ops := append([]Op{a.query("USE {other}")}, a.say("SELECT DATABASE()")...)
		return append(ops, Op{Verb: InitDB, Text: a.home()})
	}),
	say(8, "SET NAMES utf8mb4", "SET NAMES latin1", "SET NAMES DEFAULT", "SET NAMES binary", "SET NAMES nosuch",
		"SET CHARACTER SET latin1", "SET CHARSET utf8mb4", "SET CHARACTER SET DEFAULT"),
	say(5, "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'", "SET character_set_results=NULL", "SET character_set_client=latin1",
		"SET collation_connection=utf8mb4_unicode_ci", "SET character_set_connection=ascii"),
	say(6, "SELECT HEX('é'), 'é', CHARSET('x'), COLLATION('x')", "SELECT '😀', HEX('😀'), LENGTH('😀')",
		"SELECT _utf8mb4'x' = 'X', 'a' < 'B'", "SELECT s FROM t WHERE s = 'ONE'", "SELECT CHARSET(@s), COLLATION(@s), @s"),
}
