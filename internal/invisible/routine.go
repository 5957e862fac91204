package invisible

// routineMoves call procedures and functions, which change the session behind the text's back.
var routineMoves = []move{
	script(3, line{"CALL lib.set_var({id})"}, line{"SELECT @p"}).calls(),
	script(2, line{"CALL lib.make_temp()"}, line{"SELECT * FROM lib.tmp_p"}, line{"DROP TEMPORARY TABLE IF EXISTS lib.tmp_p"}).calls(),
	script(2, line{"CALL lib.set_mode('NO_ZERO_DATE')", "CALL lib.set_mode('')", "CALL lib.set_mode('nosuch')"}, line{"SELECT @@sql_mode"}).calls().unless("stalemode"),
	script(2, line{"CALL lib.take_lock('l4{me}')"}, line{"SELECT RELEASE_LOCK('l4{me}')"}).calls(),
	script(3, line{"SET @z=7"}, line{"CALL lib.out_params(5, @y, @z)"}, line{"SELECT @y, @z"}).calls(),
	commands(3, func(a *author) []Op {
		return a.bind("CALL lib.out_params(?, ?, ?)", integer(5), Param{Kind: Null}, integer(7))
	}).calls(),
	say(3, "CALL lib.two_results()", "CALL lib.warn()", "CALL lib.fails()", "CALL lib.nosuch()").calls(),
	script(2, line{"CALL lib.begins()"}, line{"ROLLBACK"}).calls(),
	script(2, line{"SELECT lib.set_var_f({id})"}, line{"SELECT @f"}).calls(),
	script(1, line{"SELECT lib.lock_f('l5{me}')"}, line{"SELECT IS_FREE_LOCK('l5{me}')"}, line{"SELECT RELEASE_ALL_LOCKS()"}).calls(),
	say(3, "SELECT lib.twice(id) FROM t ORDER BY id").calls(),
}
