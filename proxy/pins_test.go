package proxy_test

import "testing"

func TestPinsEndWhenTheirCauseEnds(t *testing.T) {
	cases := []struct {
		name         string
		begin        []string
		reason       string
		end          []string
		stillBetween string // a statement between, after which the pin still stands
	}{
		{"temporary table", []string{"CREATE TEMPORARY TABLE x (a INT)"}, "temp_table", []string{"DROP TABLE x"}, "INSERT INTO x VALUES (1)"},
		{"two temporary tables", []string{"CREATE TEMPORARY TABLE x (a INT)", "/* c */ create or replace temporary table `y y` select 1 a"}, "temp_table",
			[]string{"DROP TEMPORARY TABLE IF EXISTS x, `y y`"}, "SELECT 1"},
		{"temporary table in another schema", []string{"CREATE TEMPORARY TABLE mysql.x (a INT)"}, "temp_table", []string{"DROP TABLE mysql.x"}, "SELECT 1"},
		{"user lock", []string{"DO GET_LOCK('l', 1)"}, "user_lock", []string{"DO RELEASE_LOCK('l')"}, "DO RELEASE_LOCK('other')"},
		{"user lock held twice", []string{"DO GET_LOCK('l', 1)", "DO GET_LOCK('l', 1)"}, "user_lock", []string{"DO RELEASE_LOCK('l')", "DO RELEASE_LOCK('l')"}, "DO 1"},
		{"all user locks", []string{"DO GET_LOCK('a', 1), GET_LOCK(CONCAT('b'), 1)"}, "user_lock", []string{"DO RELEASE_ALL_LOCKS()"}, "DO RELEASE_LOCK('b')"},
		{"lock tables", []string{"LOCK TABLES t WRITE"}, "tables_locked", []string{"UNLOCK TABLES"}, "INSERT INTO t VALUES (1)"},
		{"lock tables ended by begin", []string{"-- conn_tag:a\nLOCK TABLES t WRITE"}, "tables_locked", []string{"BEGIN", "COMMIT"}, "DO 1"},
		{"text prepare", []string{"PREPARE s FROM 'SELECT 1'"}, "prepared_stmt", []string{"DEALLOCATE PREPARE s"}, "DO 1"},
		{"text prepare dropped", []string{"PREPARE s FROM 'SELECT 1'"}, "prepared_stmt", []string{"DROP PREPARE s"}, "DO 1"},
		{"one-shot isolation", []string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"}, "next_transaction", []string{"BEGIN", "COMMIT"}, "DO 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, 2)
			a := h.client(t)
			exec(t, a, "CREATE TABLE t (a INT)")
			expectPins(t, h)
			for _, q := range c.begin {
				exec(t, a, q)
				expectPins(t, h, c.reason)
			}
			if c.stillBetween != "" {
				exec(t, a, c.stillBetween)
				expectPins(t, h, c.reason)
			}
			for _, q := range c.end {
				exec(t, a, q)
			}
			expectPins(t, h)
		})
	}
}

func TestPinnedSessionLeavesNothingBehindWhenItsClientGoes(t *testing.T) {
	h := newHouse(t, 1)
	for _, q := range []string{"CREATE TEMPORARY TABLE x (a INT)", "DO GET_LOCK('l', 0)", "SET @a=1", "BEGIN", "SET time_zone='+03:00'",
		"LOCK TABLES t WRITE", "PREPARE s FROM 'SELECT 1'", "SET insert_id=77", "SET TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ ONLY"} {
		t.Run(q, func(t *testing.T) {
			exec(t, open(t, server.DSN(h.schema)), "CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY AUTO_INCREMENT)")
			db := open(t, h.dsn())
			a := conn(t, db)
			exec(t, a, q)
			_ = a.Close()
			_ = db.Close()
			eventually(t, "the lease comes back", func() bool { return h.Snapshot().Pools[0].Stat.InUse == 0 })
			b := h.client(t)
			expect(t, b, "NULL", "SELECT @a")
			expect(t, b, "1", "SELECT IS_FREE_LOCK('l')")
			expect(t, b, "SYSTEM", "SELECT @@time_zone")
			expectError(t, 1243, b, "EXECUTE s")
			exec(t, b, "CREATE TEMPORARY TABLE x (a INT)")
			exec(t, b, "DROP TABLE x")
			exec(t, b, "TRUNCATE TABLE t")
			exec(t, b, "INSERT INTO t VALUES ()")
			expect(t, b, "1", "SELECT MAX(id) FROM t")
		})
	}
}
