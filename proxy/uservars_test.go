package proxy_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestUserVariablesAreEachSessionsOwnAndPinNothing(t *testing.T) {
	for _, size := range []int{1, 2} {
		h := newHouse(t, size)
		b := h.client(t)
		for _, q := range []string{"SET @v=1", "SELECT @v:=1", "SELECT 1 INTO @V", "/*!50000 SET @v=1 */", "SET autocommit=1, @`v`=1"} {
			a := h.client(t)
			if strings.HasPrefix(q, "SELECT @v") {
				value(t, a, q)
			} else {
				exec(t, a, q)
			}
			expectPins(t, h)
			expect(t, b, "NULL", "SELECT @v")
			expect(t, a, "1", "SELECT @v")
			exec(t, b, "SET @v='b'")
			expect(t, a, "2", "SELECT @v+1")
			expect(t, b, "b", "SELECT @v")
			exec(t, b, "SET @v=NULL")
			closeHard(t, a)
			eventually(t, "the lease is back", func() bool { return h.Snapshot().Pools[0].Stat.InUse == 0 })
		}
		expect(t, b, "NULL", "SELECT @v")
		expectPins(t, h)
	}
}

func TestUserVariablesKeepTheirTypeAndEveryByteOnAnotherConnection(t *testing.T) {
	h := newHouse(t, 1)
	a, b := h.client(t), h.client(t)
	direct := conn(t, open(t, server.DSN(h.schema)))
	const look = "SELECT CONCAT_WS('|', IFNULL(HEX(@v), 'NULL'), IFNULL(@v, 'NULL'), COLLATION(@v), CHARSET(@v), COERCIBILITY(@v))"
	const kind = "SELECT CONCAT(COLUMN_TYPE, IFNULL(COLLATION_NAME, '')) FROM information_schema.columns WHERE table_schema=DATABASE() AND table_name='kind'"
	for _, v := range []string{"5", "-5", "0", "18446744073709551615", "CAST(5 AS UNSIGNED)", "1.50", "-0.001", "1e0", "0.1e0", "1e300", "-2.5e-10", "PI()", "1/3", "TRUE", "'abc'", "''", "'it''s'", "'a\\\\b'",
		"_latin1 X'E9'", "_utf8mb4 X'F09F9880' COLLATE utf8mb4_bin", "X'00FF27'", "CAST('a' AS BINARY)", "NOW()", "DATE'2020-01-01'", "REPEAT('x', 70000)", "NULL", "CONVERT('x' USING ucs2)"} {
		for _, c := range []execQueryer{a, direct} {
			exec(t, c, "SET @v="+v)
		}
		exec(t, b, "SET @v='other'")
		if got, want := value(t, a, look), value(t, direct, look); got != want {
			t.Errorf("%s: got %.200s, want %.200s", v, got, want)
		}
		exec(t, b, "SET @w='other'")
		var got [2]string
		for i, c := range []execQueryer{a, direct} {
			exec(t, c, "CREATE OR REPLACE TABLE kind SELECT @v AS v")
			got[i] = value(t, c, kind)
		}
		if got[0] != got[1] {
			t.Errorf("%s: its column is %s, directly %s", v, got[0], got[1])
		}
	}
	expectPins(t, h)
}

func TestUserVariablesOfASessionThatWentAreGoneForTheNext(t *testing.T) {
	h := newHouse(t, 1)
	for range 3 {
		a := h.client(t)
		expect(t, a, "NULL", "SELECT @v")
		exec(t, a, "SET @v=1, @w='x'")
		closeHard(t, a)
		b := h.client(t)
		expect(t, b, "NULL", "SELECT CONCAT(@v, @w)")
		closeHard(t, b)
	}
}

func TestManyUserVariablesPinInsteadOfBeingCarriedAround(t *testing.T) {
	h := newHouse(t, 2)
	a, b := h.client(t), h.client(t)
	for i := range 70 {
		exec(t, a, fmt.Sprintf("SET @v%d=%d", i, i))
		exec(t, b, "DO 1")
	}
	expectPins(t, h, "user_variable")
	for i := range 70 {
		expect(t, a, fmt.Sprint(i), fmt.Sprintf("SELECT @v%d", i))
	}
}

func TestSessionWhoseUserVariablesDiedWithTheirBackendIsTold(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t)
	exec(t, a, "SET @v=1")
	id := value(t, a, backendIDSQL)
	exec(t, open(t, server.DSN("")), "KILL "+id)
	expectError(t, 1053, a, "SELECT @v")
}
