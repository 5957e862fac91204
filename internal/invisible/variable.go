package invisible

// variableMoves set session variables, well and badly, and read them back or see what they do.
var variableMoves = []move{
	say(12, assignments...),
	script(14, assignments, looks),
	say(14, looks...),
	say(6,
		"SET SESSION sql_mode='ANSI_QUOTES'", "SET SESSION sql_mode='NO_BACKSLASH_ESCAPES'", "SET SESSION sql_mode=''",
		"SET sql_mode='STRICT_ALL_TABLES,ANSI'", "SET sql_mode=DEFAULT", "SET sql_mode='PIPES_AS_CONCAT'", "SET sql_mode='ORACLE'",
		"SET sql_mode='TRADITIONAL'", "SET @@sql_mode='nosuch'", "SET sql_mode=CONCAT(@@sql_mode,',ANSI_QUOTES')"),
	say(8, // what means something else in another sql_mode
		`SELECT "a"`, `SELECT 'a\'b', 1 -- x'`, `SELECT "it's", 'say "x"'`, `SELECT 'x' || 'y'`, `SELECT 'a\\', "b\"c"`,
		"SELECT `v` FROM t WHERE \"id\" = 1", `SELECT 'tail\\' /* x */, 2`),
	script(3, line{"SET timestamp=1000000000", "SET timestamp=1234567890.5", "SET timestamp=DEFAULT"}, line{"SELECT @@timestamp < 1500000000"}),
	script(3, line{"SET insert_id=5{id}"}, line{"INSERT INTO t(v) VALUES (1)"}),
	say(2, "SET session_track_schema=OFF", "SET session_track_schema=ON", "SET session_track_system_variables='sql_mode'",
		"SET session_track_system_variables=''", "SET session_track_state_change=ON"),
	say(2, "SET STATEMENT max_statement_time=1000 FOR SELECT @@max_statement_time, @@sql_mode"),
	say(2, "SET STATEMENT sql_mode='' FOR SELECT @@sql_mode", "SET STATEMENT sql_mode='ANSI' FOR SELECT @@sql_mode"),
	say(4,
		"/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */", "/*M!100100 SET @@max_statement_time=1000 */",
		"/*!99999 SET sql_mode='' */", "SELECT 1 /*!50000 + 1 */", "/*!50000 SET time_zone='+01:00' */", "/*! SELECT 5 */"),
	commands(3, func(*author) []Op { return []Op{{Verb: ResetConn}} }),
	commands(2, func(a *author) []Op { return []Op{{Verb: ChangeUser, Text: a.pick(a.home(), a.home(), "", a.other())}} }),
}

// assignments are SET in its many spellings. Some fail, and some of those after they have set something.
var assignments = line{
	"SET time_zone='+05:00'", "SET SESSION time_zone='-03:00'", "SET LOCAL time_zone=DEFAULT", "SET @@time_zone='+00:00'",
	"SET @@session.time_zone='SYSTEM'", "SET @@local.time_zone='+01:00'", "SET time_zone='nowhere'", "SET time_zone='+04:00', nosuch=1",
	"SET sql_select_limit=2", "SET sql_select_limit=DEFAULT", "SET SQL_SELECT_LIMIT=18446744073709551615", "SET sql_select_limit='x'",
	"SET group_concat_max_len=5, time_zone='+02:00'", "SET @@session.group_concat_max_len=1024, @@sql_safe_updates=0",
	"SET net_write_timeout=1800, sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES')", "SET net_write_timeout=60+5",
	"SET sql_mode='ANSI_QUOTES,NO_ZERO_DATE', time_zone='+02:00', @x='a,b;c'", "SET @x='it''s', @y=\"q\", time_zone=DEFAULT",
	"SET lc_time_names='de_DE'", "SET lc_time_names=DEFAULT", "SET div_precision_increment=2", "SET div_precision_increment=DEFAULT",
	"SET auto_increment_increment=2", "SET auto_increment_increment=1", "SET sql_auto_is_null=0",
	"SET foreign_key_checks=0", "SET unique_checks=OFF", "SET unique_checks=ON", "SET sql_notes=0", "SET sql_notes=1", "SET sql_warnings=ON",
	"SET max_statement_time=1000", "SET max_statement_time=0", "SET wait_timeout=1000",
	"SET optimizer_switch='index_merge=off'", "SET optimizer_switch=DEFAULT", "SET max_error_count=2", "SET max_error_count=DEFAULT",
	"SET tx_isolation='READ-COMMITTED'", "SET @@session.tx_isolation=DEFAULT", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
	"SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE", "SET tx_read_only=0",
	"SET big_tables=1", "SET default_storage_engine=MyISAM", "SET default_storage_engine=DEFAULT", "SET storage_engine=InnoDB",
	"SET default_week_format=3", "SET low_priority_updates=1", "SET completion_type=0", "SET old_mode=''", "SET sql_quote_show_create=0",
	"SET max_sort_length=8", "SET rand_seed1=5, rand_seed2=6", "SET standard_compliant_cte=OFF", "SET SESSION max_heap_table_size=1048576, @a=5",
	"SET sort_buffer_size=@@global.sort_buffer_size", "SET @a=@@sort_buffer_size", "SET innodb_lock_wait_timeout=0", "SET lock_wait_timeout=0",
	"SET nosuch=1", "SET GLOBAL nosuch=1", "SET version=1",
}

// looks read variables back, or show what they do.
var looks = line{
	"SELECT @@sql_mode, @@time_zone, @@sql_select_limit", "SELECT @@session.net_write_timeout, @@group_concat_max_len",
	"SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection",
	"SHOW SESSION VARIABLES LIKE 'sql_mode'", "SHOW SESSION VARIABLES LIKE 'collation_connection'",
	"SHOW VARIABLES WHERE variable_name IN ('time_zone','lc_time_names','wait_timeout')",
	"SELECT @@lc_time_names, @@div_precision_increment, 1/3", "SELECT DATE_FORMAT('2024-05-01', '%M %W'), WEEK('2024-05-05')",
	"SELECT FROM_UNIXTIME(0), @@tx_isolation, @@tx_read_only", "SELECT id FROM t ORDER BY id", "SELECT @x, @y", "SELECT @OLD_SQL_MODE",
	"SELECT GROUP_CONCAT(id ORDER BY id) FROM t", "SELECT @@auto_increment_increment, @@sql_auto_is_null, @@unique_checks, @@foreign_key_checks",
	"SELECT @@autocommit, @@completion_type", "SELECT @@max_statement_time, @@wait_timeout, @@optimizer_switch LIKE '%index_merge=off%'",
	"SELECT @@default_storage_engine, @@big_tables, @@sql_notes, @@max_error_count, @@old_mode, @@max_sort_length, @@default_week_format",
	"SELECT @@session_track_schema, @@sort_buffer_size = @@global.sort_buffer_size", "SELECT RAND(5)",
	"SELECT @@character_set_database, @@collation_database, @@lock_wait_timeout",
}
