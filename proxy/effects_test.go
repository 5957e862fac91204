package proxy

import (
	"slices"
	"strings"
	"testing"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// pinsAfter is what a session is pinned by after statements that all succeeded outside a transaction.
func pinsAfter(status wire.Status, statements ...string) []string {
	s := state{schema: "app", status: status}
	for _, q := range statements {
		st := sqlscan.Scan([]byte(q), s.mode)
		var effects []effect
		if mayTouchState(&st, s.pins != 0) {
			effects = s.expand(readEffects([]byte(q), &st, s.mode), &st.Flags)
		}
		s.settle(effects, outcome{status: status, hasStatus: true})
	}
	return s.pins.words()
}

func TestEffectsPinAndUnpin(t *testing.T) {
	cases := []struct {
		statements []string
		pins       []string
	}{
		{[]string{"SELECT 1"}, nil},
		{[]string{"SELECT @a, @@b"}, nil},
		{[]string{"SELECT 'get_lock(', \"@x := 1\", `into @x`"}, nil},
		{[]string{"CREATE TABLE temporary_things (a INT)"}, nil},
		{[]string{"create /* x */ temporary\ttable if not exists `a``b` (x int)"}, []string{"temp_table"}},
		{[]string{"CREATE TEMPORARY TABLE app.x (a INT)", "DROP TABLE x"}, nil},
		{[]string{"CREATE TEMPORARY TABLE x (a INT)", "DROP TABLE other.x"}, []string{"temp_table"}},
		{[]string{"CREATE TEMPORARY TABLE x (a INT)", "DROP TABLE y, x RESTRICT"}, nil},
		{[]string{"CREATE TEMPORARY TABLE x (a INT)", "DROP VIEW x"}, []string{"temp_table"}},
		{[]string{"SELECT GET_LOCK('a',1)", "SELECT RELEASE_ALL_LOCKS()"}, nil},
		{[]string{"SELECT GET_LOCK(name,1) FROM t", "SELECT RELEASE_LOCK('a')"}, []string{"user_lock"}},
		{[]string{"SELECT GET_LOCK('a',1)", "SELECT RELEASE_LOCK('a') FROM t"}, []string{"user_lock"}},
		{[]string{"SELECT GET_LOCK('a',1)", "SELECT RELEASE_LOCK(CONCAT('a'))"}, []string{"user_lock"}},
		{[]string{"SET time_zone = @a"}, nil},
		{[]string{"SET TRANSACTION READ ONLY"}, []string{"next_transaction"}},
		{[]string{"SET SESSION TRANSACTION READ ONLY"}, nil},
		{[]string{"LOCK TABLES a READ, b WRITE", "UNLOCK TABLES"}, nil},
		{[]string{"FLUSH TABLES WITH READ LOCK"}, []string{"tables_locked"}},
		{[]string{"FLUSH TABLES"}, nil},
		{[]string{"PREPARE p FROM 'x'", "PREPARE q FROM 'y'", "DEALLOCATE PREPARE P"}, []string{"prepared_stmt"}},
		{[]string{"CALL p()"}, []string{"procedure"}},
		{[]string{"XA START 'x'"}, []string{"xa"}},
		{[]string{"XA START 'x','y',1", "XA END 'x','y',1", "XA COMMIT 'x','y',1 ONE PHASE"}, nil},
		{[]string{"HANDLER t OPEN"}, []string{"handler"}},
		{[]string{"HANDLER app.t OPEN AS `A`", "HANDLER t OPEN b", "HANDLER a CLOSE"}, []string{"handler"}},
		{[]string{"HANDLER app.t OPEN AS `A`", "HANDLER t OPEN b", "ALTER ONLINE TABLE t ADD c INT"}, nil},
		{[]string{"HANDLER t OPEN", "TRUNCATE t"}, nil},
		{[]string{"HANDLER t OPEN", "ALTER TABLE u ADD t INT"}, []string{"handler"}},
		{[]string{"CREATE TEMPORARY TABLE x (a INT)", "RENAME TABLE x TO y, y TO z", "DROP TABLE y", "DROP TABLE Z"}, []string{"temp_table"}},
		{[]string{"CREATE TEMPORARY TABLE x (a INT)", "ALTER TABLE x ADD b INT, RENAME COLUMN a TO c, RENAME other.y", "DROP TABLE other.y"}, nil},
		{[]string{"FLUSH TABLES WITH READ LOCK", "BEGIN"}, []string{"tables_locked"}},
		{[]string{"FLUSH LOCAL TABLES a, b WITH READ LOCK", "BEGIN"}, nil},
		{[]string{"BACKUP STAGE START", "BACKUP LOCK t", "BACKUP UNLOCK"}, []string{"tables_locked"}},
		{[]string{`PREPARE s FROM 'SELECT \'@a:=1\''`, "EXECUTE s", "DROP PREPARE S"}, nil},
		{[]string{"PREPARE s FROM CONCAT('SELECT ', 1)", "EXECUTE s USING @a", "DROP PREPARE S"}, []string{"unknown"}},
		{[]string{"EXECUTE IMMEDIATE 'SELECT ?' USING @a"}, nil},
		{[]string{`EXECUTE IMMEDIATE "CREATE TEMPORARY TABLE x (a CHAR DEFAULT '''')"`}, []string{"temp_table"}},
		{[]string{"EXECUTE IMMEDIATE CONCAT('x')"}, []string{"unknown"}},
		{[]string{"SET STATEMENT max_statement_time=(1) FOR CREATE TEMPORARY TABLE x (a INT)"}, []string{"temp_table"}},
		{[]string{"SET " + strings.Repeat("sql_mode='',", wholeLen) + "sql_mode=''"}, []string{"unknown"}},
		{[]string{"SELECT 'unclosed"}, []string{"unknown"}},
		{[]string{"SELECT SQL_CALC_FOUND_ROWS 1", "SELECT FOUND_ROWS()"}, nil},
		{[]string{"/*!50000 CREATE TEMPORARY TABLE x (a INT) */"}, []string{"temp_table"}},
		{[]string{"SAVEPOINT s"}, nil},
	}
	for _, c := range cases {
		if got := pinsAfter(wire.StatusAutocommit, c.statements...); !slices.Equal(got, c.pins) {
			t.Errorf("%q: got pins %v, want %v", c.statements, got, c.pins)
		}
	}
	if got := pinsAfter(0, "SAVEPOINT s", "ROLLBACK TO s"); !slices.Equal(got, []string{"savepoint"}) {
		t.Errorf("savepoint with autocommit off: got %v", got)
	}
	if got := pinsAfter(0, "SAVEPOINT s", "ROLLBACK"); got != nil {
		t.Errorf("after rollback: got %v", got)
	}
}

func TestFailedStatementsBeginNoPinUnlessTheyMayHaveDoneTheirWork(t *testing.T) {
	for q, want := range map[string]pinSet{
		"CREATE TEMPORARY TABLE x (a INT)":           0,
		"PREPARE s FROM 'nonsense'":                  0,
		"LOCK TABLES nosuch READ":                    0,
		"DO GET_LOCK('a', 1), nosuch":                1 << attribution.UserLock,
		"CREATE TEMPORARY TABLE x (a INT); nonsense": 1 << attribution.TempTable,
	} {
		var s state
		st := sqlscan.Scan([]byte(q), 0)
		s.settle(readEffects([]byte(q), &st, 0), outcome{code: 1064})
		if s.pins != want {
			t.Errorf("%s: got %v, want %v", q, s.pins.words(), want.words())
		}
	}
}

func TestUserVariablesThatMayHaveANewValueAreNoted(t *testing.T) {
	for q, want := range map[string][]string{
		"SELECT @a, @@b":                          nil,
		"SELECT 'into @x', \"@y := 1\"":           nil,
		"SET @a = 1":                              {"@`a`"},
		"SET sql_mode = '', @A := 2, @`b``c`='x'": {"@`a`", "@`b``c`"},
		"SELECT a INTO @x FROM t":                 {"@`x`"},
		"SELECT @n := @n + 1 FROM t":              {"@`n`"},
		"CALL p(@out)":                            {"@`out`"},
		"LOAD DATA INFILE 'f' INTO TABLE t (@v)":  {"@`v`"},
		"GET DIAGNOSTICS @n = NUMBER":             {"@`n`"},
		"SELECT 1; SET @'q r'=1; SELECT 2":        {"@`q r`"},
		"SET @a=1, nosuch=2":                      {"@`a`"},
	} {
		for _, code := range []uint16{0, 1193} {
			var s state
			st := sqlscan.Scan([]byte(q), 0)
			if mayTouchState(&st, false) {
				s.settle(readEffects([]byte(q), &st, 0), outcome{code: code})
			}
			if got := s.settings.unresolved(); !slices.Equal(got, want) {
				t.Errorf("%s, ended with %d: got %v, want %v", q, code, got, want)
			}
		}
	}
}

func TestAnErrorWithAutocommitOffLeavesADoubtThatTheNextStatusResolves(t *testing.T) {
	var s state
	s.settle(nil, outcome{code: 1062})
	if s.atSafePoint() {
		t.Error("at a safe point although a transaction may be open")
	}
	s.settle(nil, outcome{hasStatus: true})
	if !s.atSafePoint() {
		t.Error("in doubt although the server said that no transaction is open")
	}
}

func FuzzReadEffects(f *testing.F) {
	for _, q := range []string{"SET @a=1, b=2", "CREATE TEMPORARY TABLE `a", "DROP TABLE a.b,", "DEALLOCATE PREPARE", "PREPARE", "DO GET_LOCK(", "SET", "SET @@x", "KILL", "/*!"} {
		f.Add([]byte(q), byte(0))
	}
	f.Fuzz(func(t *testing.T, sql []byte, mode byte) {
		s := state{schema: "app"}
		st := sqlscan.Scan(sql, sqlscan.Mode(mode&3))
		effects := readEffects(sql, &st, sqlscan.Mode(mode&3))
		if len(effects) > 0 && !mayTouchState(&st, true) {
			for _, e := range effects { // the quick look must let through whatever begins a pin
				if e.kind == effectPin || e.kind == effectCreateTemp || e.kind == effectGetLock || e.kind == effectPrepare {
					t.Errorf("%q has the effect %v and gets no look", sql, e)
				}
			}
		}
		s.settle(effects, outcome{})
	})
}
