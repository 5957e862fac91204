package invisible

// stateMoves change session variables, the schema, character sets and user variables, and look at them.
var stateMoves = []move{
	{weight: 12, write: func(a *author) []Op { return a.say("%s", a.assignment()) }},
	{weight: 14, write: func(a *author) []Op { return all(a.say("%s", a.assignment()), a.look()) }},
	{weight: 14, write: func(a *author) []Op { return a.look() }},
	{weight: 2, needs: "trackersoff", write: func(a *author) []Op {
		return a.say("SET %s", a.pick("session_track_schema=OFF", "session_track_schema=ON", "session_track_system_variables='sql_mode'", "session_track_state_change=ON", "session_track_system_variables=''"))
	}},
	{weight: 6, write: func(a *author) []Op {
		return a.say("SET SESSION sql_mode=%s", a.pick("'ANSI_QUOTES'", "'NO_BACKSLASH_ESCAPES'", "''", "'STRICT_ALL_TABLES,ANSI'", "DEFAULT", "'PIPES_AS_CONCAT'", "'ORACLE'", "'TRADITIONAL'", "'nosuch'", "CONCAT(@@sql_mode,',ANSI_QUOTES')"))
	}},
	{weight: 8, write: func(a *author) []Op {
		return a.say("%s", a.pick(`SELECT "a"`, `SELECT 'a\'b', 1 -- x'`, `SELECT "it's", 'say "x"'`, `SELECT 'x' || 'y'`, `SELECT 'a\\', "b\"c"`, "SELECT `v` FROM t WHERE \"id\" = 1", `SELECT 'tail\\' /* x */, 2`))
	}},
	{weight: 6, write: func(a *author) []Op {
		return []Op{a.query("USE %s", a.pick(a.home(), a.other(), "nosuch", "`"+a.home()+"`"))}
	}},
	{weight: 5, write: func(a *author) []Op { return []Op{{Verb: InitDB, Text: a.pick(a.home(), a.other(), "nosuch")}} }},
	{weight: 5, write: func(a *author) []Op {
		return all([]Op{a.query("USE %s", a.other())}, a.say("SELECT DATABASE()"), []Op{{Verb: InitDB, Text: a.home()}})
	}},
	{weight: 4, write: func(a *author) []Op { return a.say("SELECT DATABASE(), SCHEMA()") }},
	{weight: 8, write: func(a *author) []Op {
		return []Op{a.query("SET %s", a.pick("NAMES utf8mb4", "NAMES latin1", "NAMES DEFAULT", "NAMES binary", "NAMES nosuch",
			"CHARACTER SET latin1", "CHARSET utf8mb4", "CHARACTER SET DEFAULT"))}
	}},
	{weight: 5, needs: "resultcollation", write: func(a *author) []Op {
		return a.say("SET %s", a.pick("NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'", "character_set_results=NULL", "character_set_client=latin1", "collation_connection=utf8mb4_unicode_ci", "character_set_connection=ascii"))
	}},
	{weight: 6, write: func(a *author) []Op {
		return a.say("%s", a.pick("SELECT HEX('é'), 'é', CHARSET('x'), COLLATION('x')", "SELECT '😀', HEX('😀'), LENGTH('😀')", "SELECT _utf8mb4'x' = 'X', 'a' < 'B'", "SELECT s FROM t WHERE s = 'ONE'", "SELECT CHARSET(@s), COLLATION(@s), @s"))
	}},
	{weight: 3, write: func(a *author) []Op {
		return all(a.say("SET timestamp=%s", a.pick("1000000000", "1234567890.5", "DEFAULT")), a.say("SELECT @@timestamp < 1500000000"))
	}},
	{weight: 3, write: func(a *author) []Op {
		return all(a.say("SET insert_id=%d", 50+a.id()), a.say("INSERT INTO t(v) VALUES (1)"))
	}},
	{weight: 12, write: func(a *author) []Op { return a.say("%s", a.userVariable()) }},
	{weight: 14, write: func(a *author) []Op {
		return a.say("%s", a.pick("SELECT @a, @b, @c", "SELECT @a", "SELECT @a + 1, @b", "SELECT @a IS NULL", "SELECT v FROM t WHERE id = @a", "INSERT INTO t(v) VALUES (@a)", "SELECT @s, HEX(@s)", "SELECT @d, @d * 2", "SELECT @`a`, @A, @'b'"))
	}},
	{weight: 3, needs: "resetinsertid", write: func(a *author) []Op { return []Op{{Verb: ResetConn}} }},
	{weight: 2, write: func(a *author) []Op { return []Op{{Verb: ChangeUser, Text: a.pick(a.home(), a.home(), "", "two")}} }},
	{weight: 3, write: func(a *author) []Op {
		return []Op{a.query("%s", a.pick("/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */", "/*M!100100 SET @@max_statement_time=1000 */", "/*!99999 SET sql_mode='' */", "SELECT 1 /*!50000 + 1 */", "/*!50000 SET time_zone='+01:00' */", "/*! SELECT 5 */"))}
	}},
	{weight: 2, write: func(a *author) []Op {
		return a.say("SET STATEMENT %s FOR SELECT @@sql_mode, @@max_statement_time", a.pick("sql_mode=''", "max_statement_time=1000", "sql_mode='ANSI', max_statement_time=900"))
	}},
}

// assignment is a SET in one of its many spellings; some fail.
func (a *author) assignment() string {
	return a.pick(
		"SET time_zone='+05:00'", "SET SESSION time_zone='-03:00'", "SET LOCAL time_zone=DEFAULT", "SET @@time_zone='+00:00'", "SET @@session.time_zone='SYSTEM'", "SET @@local.time_zone='+01:00'",
		"SET sql_select_limit=2", "SET sql_select_limit=DEFAULT", "SET SQL_SELECT_LIMIT=18446744073709551615",
		"SET group_concat_max_len=5, time_zone='+02:00'", "SET @@session.group_concat_max_len=1024, @@sql_safe_updates=0",
		"SET net_write_timeout=1800, sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES')", "SET net_write_timeout=60+5",
		"SET sql_mode='ANSI_QUOTES,NO_ZERO_DATE', time_zone='+02:00', @x='a,b;c'", "SET @x='it''s', @y=\"q\", time_zone=DEFAULT",
		"SET lc_time_names='de_DE'", "SET lc_time_names=DEFAULT", "SET div_precision_increment=2", "SET div_precision_increment=DEFAULT",
		"SET auto_increment_increment=2", "SET auto_increment_increment=1", "SET sql_auto_is_null=0",
		"SET foreign_key_checks=0", "SET unique_checks=OFF", "SET unique_checks=ON", "SET sql_notes=0", "SET sql_notes=1", "SET sql_warnings=ON",
		"SET max_statement_time=1000", "SET max_statement_time=0", "SET wait_timeout=1000", "SET optimizer_switch='index_merge=off'", "SET optimizer_switch=DEFAULT",
		"SET nosuch=1", "SET time_zone='nowhere'", "SET sql_mode='nosuch'", "SET time_zone='+04:00', nosuch=1", "SET sql_select_limit='x'", "SET GLOBAL nosuch=1", "SET version=1",
		"SET max_error_count=2", "SET max_error_count=DEFAULT", "SET tx_isolation='READ-COMMITTED'", "SET @@tx_isolation=DEFAULT", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE",
		"SET tx_read_only=0", "SET big_tables=1", "SET default_storage_engine=MyISAM", "SET default_storage_engine=DEFAULT", "SET default_week_format=3", "SET low_priority_updates=1",
		"SET completion_type=0", "SET old_mode=''", "SET sql_quote_show_create=0", "SET max_sort_length=8", "SET rand_seed1=5, rand_seed2=6", "SET storage_engine=InnoDB",
		"SET standard_compliant_cte=OFF", "SET SESSION max_heap_table_size=1048576, @a=5", "SET sort_buffer_size=@@global.sort_buffer_size", "SET @a=@@sort_buffer_size", "SET innodb_lock_wait_timeout=0", "SET lock_wait_timeout=0",
	)
}

// look reads variables back, or shows what they do.
func (a *author) look() []Op {
	return a.say("%s", a.pick(
		"SELECT @@sql_mode, @@time_zone, @@sql_select_limit", "SELECT @@session.net_write_timeout, @@group_concat_max_len", "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection",
		"SHOW SESSION VARIABLES LIKE 'sql_mode'", "SHOW VARIABLES WHERE variable_name IN ('time_zone','lc_time_names','wait_timeout')", "SELECT @@lc_time_names, @@div_precision_increment, 1/3",
		"SELECT FROM_UNIXTIME(0), @@tx_isolation, @@tx_read_only", "SELECT id FROM t ORDER BY id", "SELECT @x, @y", "SELECT GROUP_CONCAT(id ORDER BY id) FROM t", "SELECT @@auto_increment_increment, @@sql_auto_is_null, @@unique_checks, @@foreign_key_checks",
		"SELECT DATE_FORMAT('2024-05-01', '%M %W'), WEEK('2024-05-05')", "SELECT @@autocommit, @@completion_type", "SELECT @@max_statement_time, @@wait_timeout, @@optimizer_switch LIKE '%index_merge=off%'",
		"SELECT @@default_storage_engine, @@big_tables, @@sql_notes, @@max_error_count, @@old_mode, @@max_sort_length, @@default_week_format", "SELECT @@session_track_schema, @@sort_buffer_size = @@global.sort_buffer_size",
		"SHOW SESSION VARIABLES LIKE 'collation_connection'", "SELECT @OLD_SQL_MODE", "SELECT RAND(5)", "SELECT @@character_set_database, @@collation_database, @@lock_wait_timeout",
	))
}

// userVariable assigns one in one of the ways there are.
func (a *author) userVariable() string {
	return a.pick(
		"SET @a=1", "SET @a:=2", "SET @a=NULL", "SET @b='text'", "SET @c=1.50", "SET @d=2.5e3", "SET @a=1, @b=2, @c='x,y'", "SET @a=@a+1", "SET @s='naïve✓'", "SET @s=_latin1'e'", "SET @s=x'00ff27'", "SET @s=CONVERT('x' USING latin1)",
		"SELECT @a:=5", "SELECT 7, 'x' INTO @a, @b", "SELECT v INTO @a FROM t WHERE id = 1", "SELECT id, v FROM t WHERE id = 99 INTO @a, @b", "SELECT @a:=v FROM t ORDER BY id", "SET @a=(SELECT MAX(id) FROM t)", "SET @b=CONCAT('a',@b,'\\\\')",
		"SET @d=CAST('1.25' AS DECIMAL(10,4))", "SET @d=-0.0", "SET @a=18446744073709551615", "SET @a=-5", "SET @`a`='back', @'b'=\"dq\"", "SET @c=NOW() IS NULL", "UPDATE t SET v = (@a:=v) WHERE id = 1", "SET @b='', @c=NULL", "SET @a=TRUE, @b=b'101'", "SELECT COUNT(*) FROM t INTO @a", "SET @c=DATE'2024-01-01'", "DO @a:=3", "SELECT 1 INTO @", "SELECT 1, 2 INTO @a",
	)
}
