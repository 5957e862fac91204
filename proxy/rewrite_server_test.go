package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy"
)

// shapes draws SELECTs of every form that the server names columns in.
type shapes struct {
	*rand.Rand
	depth int
	inner []string // what names the column of a scalar subquery
}

func (s *shapes) of(choices ...string) string { return choices[s.IntN(len(choices))] }

// blank is what may stand between two tokens.
func (s *shapes) blank() string {
	switch s.IntN(12) {
	case 0:
		return " /* a 'quote */ "
	case 1:
		return "\n -- \"line\n"
	case 2:
		return "\t# x\n"
	case 3:
		return "   "
	case 4:
		return " /*! */ "
	}
	return " "
}

func (s *shapes) read() string {
	b := s.blank
	if s.IntN(2) == 0 {
		b = func() string { return "" }
	}
	return s.of("ROW_COUNT"+b()+"("+b()+")", "connection_id("+b()+")", "Found_Rows()", "`row_count`"+b()+"()",
		"@@warning_count", "@@session"+b()+"."+b()+"Error_Count", "@@local.`warning_count`", "@@pseudo_thread_id", "/*! row_count() */", "/*M!100100 connection_id("+" */ )")
}

func (s *shapes) expr() string {
	s.depth++
	defer func() { s.depth-- }()
	if s.depth > 3 || s.IntN(3) == 0 {
		return s.of(s.read(), s.read(), "a", "t.b", "t . `a`", "7", "'it''s'", `'back\\slash\n'`, "'é😀'", "NULL", "_utf8mb4'x'", "x'41'", "@v", "NOW()", "DATE '2020-01-01'")
	}
	e, b := s.expr, s.blank
	switch s.IntN(16) {
	case 0:
		return "(" + b() + e() + b() + ")"
	case 1:
		return e() + b() + s.of("+", "-", "*", "DIV", "MOD", "AND", "or", "XOR", "=", "<=>", "LIKE") + b() + e()
	case 2:
		return "CASE " + e() + b() + "WHEN " + e() + " THEN " + e() + b() + "END"
	case 3:
		return "COALESCE(" + e() + b() + "," + e() + ")"
	case 4:
		return "(SELECT" + b() + e() + b() + s.of(append(s.inner, "", "FROM t LIMIT 1")...) + ")"
	case 5:
		return s.of("NOT ", "- ", "BINARY ") + e()
	case 6:
		return "CAST(" + e() + b() + "AS CHAR)"
	case 7:
		return e() + " IS" + s.of(" ", " NOT ") + "NULL"
	case 8:
		return e() + " IN (" + e() + "," + e() + ")"
	case 9:
		return "EXISTS(SELECT " + e() + ")"
	case 10:
		return "NOW() + INTERVAL " + e() + b() + s.of("DAY", "hour", "YEAR_MONTH")
	case 11:
		return "EXTRACT(YEAR FROM NOW()) + " + e()
	case 12:
		return "IF(" + e() + "," + e() + "," + e() + ")"
	case 13:
		return e() + " BETWEEN " + e() + " AND " + e()
	case 14:
		return "CONCAT(" + e() + "," + b() + e() + ") COLLATE utf8mb4_bin"
	}
	return "/*! " + e() + " */"
}

func (s *shapes) named() string {
	e := s.expr()
	return s.of(e, e, e, e+s.blank()+"AS"+s.blank()+s.of("x", "`x y`", "'s'"), e+s.blank()+s.of("nick", "day", "`q`", "'str'", "end"))
}

func (s *shapes) list() string {
	items := make([]string, 1+s.IntN(3))
	for i := range items {
		items[i] = s.blank() + s.named() + s.blank()
	}
	return s.of("", "", "DISTINCT ", "SQL_NO_CACHE ", "HIGH_PRIORITY ALL ") + strings.Join(items, ",")
}

func (s *shapes) statement() string {
	one := func() string { return s.blank() + s.named() + s.blank() }
	switch s.IntN(8) {
	case 0:
		return "SELECT" + one() + "UNION SELECT" + one() + "UNION ALL SELECT 1 LIMIT 2"
	case 1:
		return "SELECT * FROM (SELECT" + s.list() + "FROM t) d"
	case 2: // the server takes an inner name for the outer one's there
		inner := s.inner
		s.inner = nil
		defer func() { s.inner = inner }()
		return "WITH c AS (SELECT" + s.list() + ") SELECT c.*," + s.list() + "FROM c, t"
	case 3:
		return "(SELECT" + one() + ") UNION (SELECT" + one() + ")"
	case 4:
		return "SELECT " + s.list() + "FROM t WHERE TRUE OR " + s.expr() + " GROUP BY " + s.expr() + " ORDER BY " + s.expr() + " LIMIT 1"
	case 5:
		return "SELECT COUNT(*)," + s.list() + "FROM t FOR UPDATE"
	case 6:
		return "INSERT INTO t(a) VALUES (1) RETURNING" + s.list()
	}
	return "SELECT " + s.list()
}

func TestAnAnsweredStatementHasTheColumnsOfTheOriginal(t *testing.T) {
	c := directClient(t, "")
	run := func(sql string) (*mysql.Result, error) { return c.Execute(sql) }
	for _, sql := range []string{"SET NAMES utf8mb4", "SET sql_mode=''", "CREATE TEMPORARY TABLE mysql.t (a INT, b VARCHAR(20))", "USE mysql", "INSERT INTO t VALUES (1,'x'),(2,'y')"} {
		if _, err := run(sql); err != nil {
			t.Fatal(err)
		}
	}
	s := shapes{Rand: rand.New(rand.NewPCG(7, 8)), inner: []string{"AS z", "z"}}
	compared := 0
	for range 6000 {
		sql := s.statement()
		answered, changed := proxy.Answered(sql, 0)
		if !changed {
			continue
		}
		want, wantErr := run(sql)
		got, gotErr := run(answered)
		a, b := serverCode(gotErr), serverCode(wantErr)
		if a == outOfRange || b == outOfRange { // depends on the values, and they differ
			continue
		}
		if a != b {
			t.Fatalf("%s\nbecame %s\nand ended with %v instead of %v", sql, answered, gotErr, wantErr)
		}
		if wantErr != nil {
			continue
		}
		compared++
		if a, b := answeredColumns(got), answeredColumns(want); a != b {
			t.Fatalf("%s\nbecame %s\nwith columns\n%swhere it had\n%s", sql, answered, a, b)
		}
	}
	t.Logf("compared %d statements", compared)
	if compared < 900 {
		t.Errorf("only %d statements were compared", compared)
	}
}

const outOfRange = 1690

func answeredColumns(r *mysql.Result) string {
	var b strings.Builder
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "%q\n", []byte(f.Data))
	}
	return b.String()
}

func serverCode(err error) uint16 {
	if e := (*mysql.MyError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// directClient is a connection past the proxy.
func directClient(t testing.TB, schema string) *client.Conn {
	t.Helper()
	c, err := client.ConnectWithContext(context.Background(), server.Addr(), mariadbtest.User, mariadbtest.Password, schema, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
