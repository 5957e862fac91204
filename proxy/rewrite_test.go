package proxy_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy"
)

// In the tables, {id}, {rows}, {found}, {warn} stand for what an answered read becomes in front of its text.
var answerMarks = strings.NewReplacer("{id}", "IF(1,CAST(1000000001 AS UNSIGNED),", "{rows}", "IF(1,-1,", "{found}", "IF(1,5,", "{warn}", "IF(1,CAST(5 AS UNSIGNED),")

func TestReadsAreAnsweredAndColumnsKeepTheirNames(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT CONNECTION_ID()", "SELECT {id}CONNECTION_ID()) AS 'CONNECTION_ID()'"},
		{"/* conn_tag:a */ select connection_id() as c;", "/* conn_tag:a */ select {id}connection_id()) as c;"},
		{"SELECT ROW_COUNT ( ) , Found_Rows()", "SELECT {rows}ROW_COUNT ( )) AS 'ROW_COUNT ( )' , {found}Found_Rows()) AS 'Found_Rows()'"},
		{"SELECT row_count/*x*/(/*y*/) /*z*/", "SELECT {rows}row_count/*x*/(/*y*/)) AS 'row_count/*x*/(/*y*/)' /*z*/"},
		{"SELECT row_count -- x\n()", "SELECT {rows}row_count -- x\n()) AS 'row_count -- x\n()'"},
		{"SELECT /*!50000 row_count( */ )", "SELECT /*!50000 {rows}row_count( */ )) AS 'row_count(  )'"},
		{"SELECT row_count()/*! +1*/", "SELECT {rows}row_count())/*! +1 AS 'row_count() +1'*/"},
		{"SELECT `row_count`()", "SELECT {rows}`row_count`()) AS '`row_count`()'"},
		{"SELECT @@warning_count, @@SESSION . error_count, @@local.`pseudo_thread_id`",
			"SELECT {warn}@@warning_count) AS '@@warning_count', {warn}@@SESSION . error_count) AS '@@SESSION . error_count', " +
				"{id}@@local.`pseudo_thread_id`) AS '@@local.`pseudo_thread_id`'"},
		{"SELECT ROW_COUNT()+1 FROM dual", "SELECT {rows}ROW_COUNT())+1 AS 'ROW_COUNT()+1' FROM dual"},
		{"SELECT a, ROW_COUNT() x, 'it''s', ROW_COUNT()+'a\\'b' FROM t",
			"SELECT a, {rows}ROW_COUNT()) x, 'it''s', {rows}ROW_COUNT())+'a\\'b' AS 'ROW_COUNT()+''a\\\\''b''' FROM t"},
		{"SELECT * FROM (SELECT row_count() UNION SELECT connection_id()) d",
			"SELECT * FROM (SELECT {rows}row_count()) AS 'row_count()' UNION SELECT {id}connection_id()) AS 'connection_id()') d"},
		{"SELECT (SELECT row_count())", "SELECT (SELECT {rows}row_count())) AS '(SELECT row_count())'"},
		{"SELECT ((SELECT * FROM (SELECT row_count()) d))", "SELECT ((SELECT * FROM (SELECT {rows}row_count()) AS 'row_count()') d)) AS '((SELECT * FROM (SELECT row_count()) d))'"},
		{"SELECT SQL_NO_CACHE DISTINCT row_count()", "SELECT SQL_NO_CACHE DISTINCT {rows}row_count()) AS 'row_count()'"},
		{"SELECT NOW() + INTERVAL row_count() DAY", "SELECT NOW() + INTERVAL {rows}row_count()) DAY AS 'NOW() + INTERVAL row_count() DAY'"},
		{"SELECT NOW() + INTERVAL row_count() DAY day", "SELECT NOW() + INTERVAL {rows}row_count()) DAY day"},
		{"SELECT CASE row_count() WHEN 1 THEN 2 END, CASE row_count() WHEN 1 THEN 2 END e",
			"SELECT CASE {rows}row_count()) WHEN 1 THEN 2 END AS 'CASE row_count() WHEN 1 THEN 2 END', CASE {rows}row_count()) WHEN 1 THEN 2 END e"},
		{"SELECT row_count() + a.`b`, row_count() + a.b c", "SELECT {rows}row_count()) + a.`b` AS 'row_count() + a.`b`', {rows}row_count()) + a.b c"},
		{"SELECT NEXT VALUE FOR s + row_count()", "SELECT NEXT VALUE FOR s + {rows}row_count()) AS 'NEXT VALUE FOR s + row_count()'"},
		{"SELECT row_count() LIKE _utf8'x', row_count() 'x'", "SELECT {rows}row_count()) LIKE _utf8'x' AS 'row_count() LIKE _utf8''x''', {rows}row_count()) 'x'"},
		{"SELECT 1 FROM t WHERE id = CONNECTION_ID() ORDER BY ROW_COUNT()", "SELECT 1 FROM t WHERE id = {id}CONNECTION_ID()) ORDER BY {rows}ROW_COUNT())"},
		{"(SELECT row_count()) UNION (SELECT 2) LIMIT 1", "(SELECT {rows}row_count()) AS 'row_count()') UNION (SELECT 2) LIMIT 1"},
		{"WITH c AS (SELECT row_count()) SELECT * FROM c", "WITH c AS (SELECT {rows}row_count()) AS 'row_count()') SELECT * FROM c"},
		{"INSERT INTO t VALUES (CONNECTION_ID()) RETURNING id, ROW_COUNT()", "INSERT INTO t VALUES ({id}CONNECTION_ID())) RETURNING id, {rows}ROW_COUNT()) AS 'ROW_COUNT()'"},
		{"INSERT INTO row_count () SELECT ROW_COUNT()", "INSERT INTO row_count () SELECT {rows}ROW_COUNT()) AS 'ROW_COUNT()'"},
		{"CREATE TABLE c (a INT DEFAULT (connection_id())) SELECT connection_id() AS b", "CREATE TABLE c (a INT DEFAULT (connection_id())) SELECT {id}connection_id()) AS b"},
		{"SET @@warning_count = 1, @a = @@warning_count", "SET @@warning_count = 1, @a = {warn}@@warning_count)"},
		{"SET STATEMENT max_statement_time=1 FOR SELECT @@warning_count, @@error_count",
			"SET STATEMENT max_statement_time=1 FOR SELECT {warn}@@warning_count) AS '@@warning_count', {warn}@@error_count) AS '@@error_count'"},
		{"SELECT 1; SELECT ROW_COUNT(), CONNECTION_ID()", "SELECT 1; SELECT ROW_COUNT(), {id}CONNECTION_ID()) AS 'CONNECTION_ID()'"},
		{"BEGIN; SELECT CONNECTION_ID() a", "BEGIN; SELECT {id}CONNECTION_ID()) a"},
		{"{fn row_count()}", ""},
		{"SELECT {fn row_count()}, ?", "SELECT {fn {rows}row_count())} AS '{fn row_count()}', ?"},
		{"KILL CONNECTION_ID()", "KILL {id}CONNECTION_ID())"},
	} {
		want := answerMarks.Replace(c.want)
		if c.want == "" {
			want = c.sql
		}
		if got, _ := proxy.Answered(c.sql, 0); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, want)
		}
	}
}

func TestWhatIsNoReadOfTheSessionStays(t *testing.T) {
	for _, sql := range []string{
		"SELECT 'row_count()', \"connection_id()\", `row_count`, row_count, row_count+(1)",
		"SELECT 1 /* row_count() */ -- connection_id()\n, 2 # row_count()",
		"SELECT x.row_count(), x . connection_id(), `x`.`row_count`()",
		"SELECT row_count(1), my_row_count(), @row_count, @@global.warning_count, @@x.warning_count, @@warning_counts",
		"GET DIAGNOSTICS @n = ROW_COUNT",
		"INSERT INTO connection_id () VALUES ()",
		"INSERT IGNORE row_count() VALUES ()",
		"CALL row_count()",
		"CREATE VIEW v AS SELECT connection_id()",
		"CREATE OR REPLACE FUNCTION f() RETURNS INT RETURN connection_id()",
		"CREATE PROCEDURE p() BEGIN SELECT connection_id(); SELECT connection_id(); END",
		"CREATE TABLE c (a INT DEFAULT (connection_id()), b INT AS (a) CHECK (a <> connection_id()))",
		"ALTER TABLE c ADD d INT DEFAULT (connection_id())",
		"BEGIN NOT ATOMIC SELECT connection_id(); SELECT row_count(); END",
		"IF connection_id() THEN SELECT connection_id(); END IF",
		"PREPARE s FROM 'SELECT connection_id()'",
		"SET @@pseudo_thread_id = 7",
		"SELECT 1; SELECT row_count(), @@warning_count",
		"SELECT 1) row_count()",
		"", ";", "(", "SELECT", "SELECT row_count(", "SELECT @@", "SELECT @@session.", "SELECT 'row_count()",
	} {
		if got, changed := proxy.Answered(sql, 0); changed {
			t.Errorf("%s\nbecame %s", sql, got)
		}
	}
}

func TestANameIsWrittenAsTheSessionReadsStrings(t *testing.T) {
	const sql = `SELECT row_count() + "a\" FROM t`
	want := answerMarks.Replace(`SELECT {rows}row_count()) + "a\" AS 'row_count() + "a\"' FROM t`)
	if got, _ := proxy.Answered(sql, sqlscan.AnsiQuotes|sqlscan.NoBackslashEscapes); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// FuzzAnswer: whatever the text, only insertions are made, and they close what they open.
func FuzzAnswer(f *testing.F) {
	for _, sql := range []string{
		"SELECT ROW_COUNT(), /*! connection_id() */ x FROM (SELECT @@warning_count) d; SELECT connection_id()",
		"SELECT CASE row_count() WHEN 1 THEN 'a\\'b' END, {fn found_rows()} -- x\n LIMIT 1",
		"INSERT INTO t() SELECT connection_id() RETURNING @@session . error_count",
		"SET STATEMENT a=1 FOR SELECT /*!50000 row_count( */ )",
	} {
		f.Add([]byte(sql), byte(0))
	}
	f.Fuzz(func(t *testing.T, sql []byte, mode byte) {
		m := sqlscan.Mode(mode) & (sqlscan.AnsiQuotes | sqlscan.NoBackslashEscapes)
		got, changed := proxy.Answered(string(sql), m)
		if !changed {
			return
		}
		if before, after := balance(sql, m), balance([]byte(got), m); before != after {
			t.Errorf("%q (%v)\nbecame %q (%v)", sql, before, got, after)
		}
		rest := []byte(got)
		for _, c := range sql { // sql is a subsequence of what it became
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				t.Fatalf("%q\nlost bytes: %q", sql, got)
			}
			rest = rest[i+1:]
		}
	})
}

// balance is how many parentheses a text leaves open, and whether a quote or a comment is open at its end.
func balance(sql []byte, mode sqlscan.Mode) (b struct {
	open         int
	unterminated bool
}) {
	l := sqlscan.NewLexer(sql, mode)
	for t := l.Next(); t.Kind != sqlscan.TokenEnd; t = l.Next() {
		if t.Kind == sqlscan.TokenPunct {
			switch t.Text[0] {
			case '(':
				b.open++
			case ')':
				b.open--
			}
		}
	}
	b.unterminated = l.Unterminated()
	return b
}
