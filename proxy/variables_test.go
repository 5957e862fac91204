package proxy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// settingsSQL are SETs in many spellings; the values are such that a leak or a loss shows.
var settingsSQL = []string{
	"SET time_zone='+05:00'", "SET SESSION time_zone = 'SYSTEM'", "SET @@time_zone='-03:30'", "SET @@session.time_zone=DEFAULT", "SET LOCAL time_zone='+00:00'",
	"SET sql_mode='ANSI_QUOTES'", "SET sql_mode=''", "SET sql_mode=CONCAT(@@sql_mode,',NO_BACKSLASH_ESCAPES')", "SET sql_mode=DEFAULT", "set Sql_Mode = 4",
	"SET NAMES utf8mb4", "SET NAMES latin1", "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET NAMES 'utf8mb3'", "SET NAMES DEFAULT", "SET CHARACTER SET latin1",
	"SET character_set_results=NULL", "SET character_set_results=utf8mb4", "SET collation_connection='latin1_german1_ci'", "SET character_set_connection=latin2",
	"SET autocommit=0", "SET autocommit=1", "SET @@autocommit=OFF", "SET autocommit=ON, time_zone='+01:00'", "SET autocommit=1, net_write_timeout=1800",
	"SET wait_timeout=1000", "SET max_statement_time=12.5", "SET group_concat_max_len=4096, sql_select_limit=17", "SET sql_select_limit=DEFAULT",
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", "SET SESSION TRANSACTION READ WRITE", "SET tx_isolation='SERIALIZABLE'",
	"SET foreign_key_checks=0", "SET foreign_key_checks=1", "SET unique_checks=OFF", "SET lc_time_names='de_DE'", "SET div_precision_increment=7", "SET optimizer_switch='index_merge=off'",
	"SET default_storage_engine=MyISAM", "SET sql_safe_updates=1", "SET sql_big_selects=0", "SET lock_wait_timeout=7, innodb_lock_wait_timeout=3", "SET sort_buffer_size=65536*2",
	"SET nosuch=1", "SET time_zone='nosuch'", "SET time_zone='+02:00', nosuch=2", "/* conn_tag:x */ SET -- y\n time_zone = '+07:00'", "/*!40101 SET time_zone='+09:00' */", "/*M!100100 SET max_statement_time=1 */",
	"/*!99999 SET sql_mode='' */", "SET GLOBAL sql_warnings=1", "USE mysql", "USE nosuch", "COMMIT", "SET STATEMENT max_statement_time=9 FOR SELECT 1",
}

// observedSQL shows everything that settingsSQL can change.
const observedSQL = `SELECT CONCAT_WS('|', @@time_zone, @@sql_mode, @@character_set_client, @@character_set_connection, IFNULL(@@character_set_results, 'NULL'), @@collation_connection,
	@@autocommit, @@wait_timeout, @@max_statement_time, @@group_concat_max_len, @@sql_select_limit, @@tx_isolation, @@tx_read_only, @@foreign_key_checks, @@unique_checks, @@lc_time_names,
	@@div_precision_increment, @@optimizer_switch, @@default_storage_engine, @@sql_safe_updates, @@sql_big_selects, @@lock_wait_timeout, @@innodb_lock_wait_timeout, @@sort_buffer_size,
	@@net_write_timeout, @@session_track_schema, IFNULL(DATABASE(), 'NULL'), COLLATION('a'))`

func TestSessionVariablesAreThoseOfADirectConnection(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { variables(t, seed) })
	}
}

func variables(t *testing.T, seed uint64) {
	h := newHouse(t, 2)
	rnd := rand.New(rand.NewPCG(7, seed))
	logins := []func(*mysql.Config){
		func(*mysql.Config) {},
		func(c *mysql.Config) { c.Collation = "latin1_swedish_ci" },
		func(c *mysql.Config) { c.Collation = "utf8mb4_unicode_ci"; c.DBName = "" },
		func(c *mysql.Config) { c.Collation = "utf8mb4_bin" },
	}
	for round := range 6 {
		type pair struct{ via, direct execQueryer }
		var pairs []pair
		for _, login := range logins {
			cfg, err := mysql.ParseDSN(server.DSN(h.schema))
			if err != nil {
				t.Fatal(err)
			}
			login(cfg)
			pairs = append(pairs, pair{h.client(t, login), conn(t, open(t, cfg.FormatDSN()))})
		}
		for step := range 40 {
			p := pairs[rnd.IntN(len(pairs))]
			q := settingsSQL[rnd.IntN(len(settingsSQL))]
			_, direct := p.direct.ExecContext(context.Background(), q)
			_, via := p.via.ExecContext(context.Background(), q)
			if errorCode(via) != errorCode(direct) {
				t.Fatalf("round %d, step %d, %s: error %v, directly %v; sessions %+v", round, step, q, via, direct, h.Sessions())
			}
			p = pairs[rnd.IntN(len(pairs))]
			if got, want := value(t, p.via, observedSQL), value(t, p.direct, observedSQL); got != want {
				t.Fatalf("round %d, step %d, after %s:\ngot  %s\nwant %s", round, step, q, got, want)
			}
		}
		for _, p := range pairs {
			exec(t, p.via, "ROLLBACK")
		}
		if got := h.Snapshot().Pools[0].Stat.InUse; got > 2 {
			t.Fatalf("%d leases", got)
		}
		for _, p := range pairs {
			closeHard(t, p.via)
		}
	}
}

type execQueryer interface {
	execer
	queryer
}
