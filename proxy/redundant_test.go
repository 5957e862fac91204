package proxy_test

import "testing"

func TestSetToTheValueThatIsThereTakesNoConnection(t *testing.T) {
	h := newHouse(t, 1)
	c := h.client(t)
	exec(t, c, "SET time_zone='+03:00', sql_mode='ANSI_QUOTES', foreign_key_checks=0, wait_timeout=1000")
	exec(t, c, "SET NAMES latin1 COLLATE latin1_bin")
	expectInUse(t, h, 0)
	acquires := h.Snapshot().Pools[0].Stat.Acquires
	for _, q := range []string{"SET time_zone='+03:00'", "/* conn_tag:x */ set @@session.Time_Zone := '+03:00', autocommit=1", "SET SESSION autocommit = ON, wait_timeout=1000",
		"SET NAMES latin1 COLLATE latin1_bin", "SET NAMES 'latin1' COLLATE 'latin1_bin', foreign_key_checks=OFF", "SET LOCAL sql_mode='ansi_quotes'"} {
		exec(t, c, q)
		if got := h.Snapshot().Pools[0].Stat.Acquires; got != acquires {
			t.Errorf("%s: took a connection", q)
			acquires = got
		}
	}
	for _, q := range []string{"SET time_zone='+04:00'", "SET time_zone=DEFAULT", "SET NAMES latin1", "SET autocommit=0", "SET @@autocommit=1", "SET time_zone=CONCAT('+03:00')", "SET GLOBAL sql_warnings=0"} {
		exec(t, c, q)
		if got := h.Snapshot().Pools[0].Stat.Acquires; got == acquires {
			t.Errorf("%s: did not reach the server", q)
		} else {
			acquires = got
		}
	}
	expect(t, c, "latin1_swedish_ci", "SELECT @@collation_connection")
}
