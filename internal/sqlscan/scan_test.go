package sqlscan

import (
	"slices"
	"strings"
	"testing"
)

func TestScanRaisesFlags(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want Flags
	}{
		{pointSelect, 0},
		{insert, 0},
		{ormJoin, Combines},
		{sqlcommenter, 0},
		{"SELECT '@a', \"@@b\", `@c`, 'get_lock(1)' /* @d := 1 */ -- @@e\n# temporary", 0},
		{"", 0},

		{"SELECT @a", UserVar},
		{"SELECT @'a'", UserVar},
		{"SELECT @`a`", UserVar},
		{`SELECT @"a"`, UserVar},
		{"SELECT @", UserVar},
		{"SELECT @@a", SysVar},
		{"SELECT @@session.a, @b", SysVar | UserVar},
		{"SELECT @a := 1", UserVar | AssignsUserVar},
		{"SET x := 1", AssignsUserVar},
		{"SELECT a : = 1", 0},
		{"SELECT 1 INTO @a", UserVar | AssignsUserVar},
		{"SELECT 1 into/* x */-- y\n@a", UserVar | AssignsUserVar},
		{"SELECT 1.5INTO @a", UserVar | AssignsUserVar},
		{"SELECT 1e5into @a", UserVar | AssignsUserVar},
		{"SELECT 1.into @a", UserVar | AssignsUserVar},
		{"SELECT 1.5e-3into @a", UserVar | AssignsUserVar},
		{`SELECT \Ninto @a`, UserVar | AssignsUserVar},
		{"SELECT 1 /*! INTO */ @a", UserVar | AssignsUserVar | Executable},
		{"SELECT 1 INTO /*!50000 @a */", UserVar | AssignsUserVar | Executable},
		{"INSERT INTO t SELECT @a", UserVar | Combines},
		{"SELECT into1 @a", UserVar},
		{"SELECT 1 INTO @@a", SysVar},

		{"SELECT LAST_INSERT_ID()", LastInsertID},
		{"SELECT `last_insert_id` ()", LastInsertID},
		{"SELECT `last_insert_id` FROM t", 0},
		{"SET last_insert_id=3", LastInsertID},
		{"SELECT @@last_insert_id", SysVar | LastInsertID},
		{"SELECT @@IDENTITY", SysVar | LastInsertID},
		{"SELECT @@session.identity", SysVar | LastInsertID},
		{"SELECT @@`identity`", SysVar | LastInsertID},
		{"SELECT @@session.`identity`", SysVar | LastInsertID},
		{"SELECT @@local.'identity'", SysVar | LastInsertID},
		{"SELECT @@session . identity", SysVar | LastInsertID},
		{"SELECT @@session. /* x */ `identity`", SysVar | LastInsertID},
		{"SELECT @@session, identity", SysVar},
		{"SELECT identity FROM t", 0},
		{"SELECT @identity", UserVar},
		{"SELECT FOUND_ROWS()", FoundRows},
		{"SELECT found_rows/**/ ()", FoundRows},
		{"SELECT found_rows FROM t", 0},
		{"SELECT SQL_CALC_FOUND_ROWS * FROM t", CalcFoundRows},
		{"SELECT row_count()", RowCount},
		{"SELECT `row_count`()", RowCount},
		{"SELECT row_count, `row_count` FROM t", 0},
		{"GET DIAGNOSTICS @n = ROW_COUNT", Warnings | RowCount | UserVar},
		{"SELECT GET_LOCK('a', 1)", GetLock},
		{"SELECT `get_lock`('a', 1)", GetLock},
		{"SELECT mariadb_schema.get_lock('a', 1)", GetLock},
		{"SELECT service_get_read_locks('a', 'b', 1), service_get_write_locks('a', 'b', 1)", GetLock},
		{"DO RELEASE_LOCK('a')", ReleaseLock},
		{"DO RELEASE_ALL_LOCKS()", ReleaseLock},
		{"DO service_release_locks('a')", ReleaseLock},
		{"SELECT IS_FREE_LOCK('a'), IS_USED_LOCK('a'), get_lock_x('a'), get_lock FROM t", 0},
		{"SELECT CONNECTION_ID()", ConnectionID},
		{"SELECT connection_id FROM t", 0},
		{"SET pseudo_thread_id = 5", ConnectionID},
		{"SELECT @@pseudo_thread_id", SysVar | ConnectionID},
		{"SHOW WARNINGS", Warnings},
		{"SHOW COUNT(*) ERRORS", Warnings},
		{"/* conn_tag:a */ show warnings limit 5", Warnings},
		{"SELECT 1; SHOW WARNINGS", Warnings | MultiStatement},
		{"SELECT warnings, errors FROM t", 0},
		{"SHOW TABLES; SELECT warnings FROM t", MultiStatement},
		{"GET CURRENT DIAGNOSTICS CONDITION 1 @a = MESSAGE_TEXT", Warnings | UserVar},
		{"SELECT diagnostics FROM t", 0},
		{"SELECT @@warning_count, @@session.error_count", SysVar | Warnings},
		{"SELECT warning_count FROM t", 0},
		{"SELECT NEXT VALUE FOR s", Sequence},
		{"SELECT previous/**/value FOR s", Sequence},
		{"SELECT nextval(s)", Sequence},
		{"SELECT LASTVAL(s)", Sequence},
		{"SELECT s.currval", Sequence},
		{"SELECT setval(s, 5)", Sequence},
		{"HANDLER t READ NEXT", 0},
		{"SELECT 1 UNION SELECT 2", Combines},
		{"SELECT a FROM t LIMIT 5", 0},
		{"SELECT a FROM t LIMIT 5 OFFSET 10", Combines},
		{"SELECT a FROM t LIMIT 10,5", Combines},
		{"SELECT a FROM t LIMIT ? , ?", Combines},
		{"INSERT INTO t SELECT 1", Combines},
		{"CREATE TABLE t AS SELECT 1", Combines},
		{"SELECT `union`, 'offset' FROM t", 0},
		{"SELECT next, value FROM t", 0},
		{"CREATE TEMPORARY TABLE t (a INT)", Temporary},
		{"create or replace temporary table t (a int)", Temporary},
		{"CREATE /*!32312 TEMPORARY */ TABLE t (a INT)", Temporary | Executable},
		{"DROP TEMPORARY TABLE t", Temporary},
		{"INSERT INTO `temporary` (a) VALUES (1)", 0},

		{"SELECT 1;", 0},
		{"SELECT 1; ", 0},
		{"SELECT 1;;", 0},
		{"SELECT 1; SELECT 2", MultiStatement},
		{"SELECT 1;/**/;SELECT 2", MultiStatement},
		{"SELECT 1; (SELECT 2)", MultiStatement},
		{"SELECT 1; 'x'", MultiStatement},
		{"; SELECT 1", MultiStatement},
		{"SELECT ';'; -- ;\n", Trailing},
		{"SELECT 1; /* conn_tag:a */", Trailing},
		{"SELECT 1 /* conn_tag:a */;", 0},
		{"SELECT 1; # a", Trailing},
		{"SELECT 1; /*+ a */", Trailing},
		{"SELECT 1; /* a */ SELECT 2", MultiStatement},
		{"SELECT 1; /* a */ SELECT 2; /* b */", MultiStatement | Trailing},
		{"SELECT 1 /* conn_tag:a */; SELECT SLEEP(1) /* conn_tag:b */", MultiStatement},
		{"SELECT 1; /*! SELECT 2 */", MultiStatement | Executable},
		{"SELECT 1; /*! */", Trailing | Executable},

		{"SELECT 1 /*! + 1 */", Executable},
		{"SELECT 1 /*! + /* x */ 1 */ + @a", Executable | UserVar},
		{"SELECT 1 */ @a", UserVar},
		{"/*!99999 SET sql_mode='' */", Executable},
		{"SELECT 1 /*! + 1", Executable | Unterminated},
		{"SELECT 1 /* a", Unterminated},
		{"SELECT 1 /*/", Unterminated},
		{"SELECT 'a", Unterminated},
		{"SELECT 'a''", Unterminated},
		{`SELECT 'a\'`, Unterminated},
		{"SELECT \"a", Unterminated},
		{"SELECT `a", Unterminated},
		{"SELECT @'a", Unterminated | UserVar},
		{"SELECT @@`a", Unterminated | SysVar},
		{"SELECT 1 -- 'a", 0},
		{"SELECT 1 # \"a", 0},
		{"SELECT 1 --'a'\n", 0},
	} {
		if got := Scan([]byte(tt.sql), 0).Flags; got != tt.want {
			t.Errorf("Scan(%q).Flags = %b, want %b", tt.sql, got, tt.want)
		}
	}
}

func TestEveryMarkerWorksInEveryCase(t *testing.T) {
	for _, m := range markers {
		before, after := "SELECT ", "("
		switch m.when {
		case ifShow:
			before = "SHOW "
		case ifGet:
			before = "GET "
		case ifUserVar:
			after = " @a"
		case ifValue:
			after = " VALUE FOR s"
		case ifPair:
			after = " 1, 2"
		case ifWrites:
			before = "INSERT "
		}
		for _, w := range []string{m.word, strings.ToUpper(m.word), strings.ToUpper(m.word[:1]) + m.word[1:]} {
			if st := Scan([]byte(before+w+after), 0); st.Flags&m.flag == 0 {
				t.Errorf("Scan(%q) does not raise %b", before+w+after, m.flag)
			}
			if st := Scan([]byte(before+"x"+w+after), 0); st.Flags&m.flag&^UserVar != 0 {
				t.Errorf("Scan(%q) raises %b", before+"x"+w+after, st.Flags)
			}
		}
	}
}

func TestScanFollowsTheMode(t *testing.T) {
	const both = AnsiQuotes | NoBackslashEscapes
	for _, tt := range []struct {
		sql  string
		mode Mode
		want Flags
	}{
		{`SELECT 'a\' , @b, '`, 0, 0},
		{`SELECT 'a\' , @b, '`, NoBackslashEscapes, UserVar | Unterminated},
		{`SELECT 'a\' , @b`, NoBackslashEscapes, UserVar},
		{`SELECT "a\" , @b, "`, 0, 0},
		{`SELECT "a\" , @b`, AnsiQuotes, UserVar},
		{`SELECT "a\" , @b`, NoBackslashEscapes, UserVar},
		{`SELECT "a\" , @b`, both, UserVar},
		{`SELECT 'a\' , @b, '`, AnsiQuotes, 0},
		{"SELECT `a\\` , @b", 0, UserVar},
		{`SELECT "get_lock"('a', 1)`, 0, 0},
		{`SELECT "get_lock"('a', 1)`, AnsiQuotes, GetLock},
	} {
		if got := Scan([]byte(tt.sql), tt.mode).Flags; got != tt.want {
			t.Errorf("Scan(%q, %b).Flags = %b, want %b", tt.sql, tt.mode, got, tt.want)
		}
	}
}

func comments(sql string, mode Mode) []string {
	st := Scan([]byte(sql), mode)
	var texts []string
	for _, c := range st.Comments() {
		texts = append(texts, sql[c.Start:c.End])
	}
	return texts
}

func TestCommentsAreFoundWhereverTheyStand(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		mode Mode
		want []string
	}{
		{"SELECT 1", 0, nil},
		{"/* a */ SELECT /* b */ 1 /* c */", 0, []string{"/* a */", "/* b */", "/* c */"}},
		{"-- a\nSELECT 1 # b\n-- c", 0, []string{"-- a", "# b", "-- c"}},
		{"--\tx\r\nSELECT 1 --", 0, []string{"--\tx\r", "--"}},
		{"SELECT 1 --x\n", 0, nil},
		{"SELECT 1;/*a*/", 0, []string{"/*a*/"}},
		{"/**//***/SELECT 1", 0, []string{"/**/", "/***/"}},
		{"SELECT '/* evil */'", 0, nil},
		{`SELECT "-- evil"`, 0, nil},
		{"SELECT 1 AS `/* evil */`", 0, nil},
		{"SELECT 'it''s /* evil */'", 0, nil},
		{`SELECT 'a\' /* evil */'`, 0, nil},
		{`SELECT 'a\' /* ok */, '`, NoBackslashEscapes, []string{"/* ok */"}},
		{`SELECT "a\" /* ok */`, AnsiQuotes, []string{"/* ok */"}},
		{"SELECT @'/* evil */', @@`/* evil */`", 0, nil},
		{"SELECT /*+ evil */ 1 /*vt+ evil */ /*VT+ evil */", 0, nil},
		{"SELECT 1 /*! + 1 */ /*M! + 2 */ /*!50000 + 3 */", 0, nil},
		{"SELECT 1 /*! + /* a */ 1 */ /* b */", 0, []string{"/* a */", "/* b */"}},
		{"/*VT_SPAN_CONTEXT=abc*/ SELECT 1", 0, []string{"/*VT_SPAN_CONTEXT=abc*/"}},
		{"/* a /* b */ SELECT 1", 0, []string{"/* a /* b */"}},
		{"/* a */ SELECT 1 /* evil", 0, []string{"/* a */"}},
		{"/*1*//*2*//*3*//*4*//*5*//*6*//*7*//*8*/", 0, []string{"/*1*/", "/*2*/", "/*3*/", "/*4*/", "/*5*/", "/*6*/", "/*7*/", "/*8*/"}},
		{"/*1*//*2*//*3*//*4*//*5*//*6*//*7*//*8*//*9*//*10*/", 0, []string{"/*1*/", "/*2*/", "/*3*/", "/*4*/", "/*7*/", "/*8*/", "/*9*/", "/*10*/"}},
	} {
		if got := comments(tt.sql, tt.mode); !slices.Equal(got, tt.want) {
			t.Errorf("comments of %q (mode %b) = %q, want %q", tt.sql, tt.mode, got, tt.want)
		}
	}
}

func TestBodyIsTheFirstByteThatCounts(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1":                      "SELECT 1",
		" /* a */ # b\n -- c\nSELECT 1": "SELECT 1",
		"/* a */ (SELECT 1)":            "(SELECT 1)",
		"/* a *//*!40101 SET x=1 */;":   "/*!40101 SET x=1 */;",
		"/*+ a */ ;":                    ";",
		" /* a */ ":                     "",
		"":                              "",
		"'a'":                           "'a'",
	} {
		if st := Scan([]byte(sql), 0); sql[st.Body:] != want {
			t.Errorf("Scan(%q).Body is at %q, want %q", sql, sql[st.Body:], want)
		}
	}
}

func TestQuotesAreReadAlikeShortAndLong(t *testing.T) {
	for _, inside := range []string{"", "''", `\'`, `\\`, `\'''`, `''\\`, "''''", "/* x */", `\`} {
		for _, pad := range []int{0, shortString - 3, shortString - 2, shortString - 1, shortString, shortString + 1, 3 * shortString} {
			for _, tail := range []string{"", strings.Repeat("y", shortString)} {
				sql := "'" + strings.Repeat("x", pad) + inside + tail + "', @a"
				want := UserVar
				if inside == `\` && tail == "" {
					want = Unterminated
				}
				if got := Scan([]byte(sql), 0).Flags; got != want {
					t.Errorf("Scan(%q).Flags = %b, want %b", sql, got, want)
				}
			}
		}
	}
}

func TestScanAllocatesNothing(t *testing.T) {
	for _, sql := range oddTexts {
		text := []byte(sql)
		n := testing.AllocsPerRun(10, func() {
			st := Scan(text, 0)
			for _, c := range st.Comments() {
				sink += int(c.End)
			}
			l := NewLexer(text, 0)
			for t := l.Next(); t.Kind != TokenEnd; t = l.Next() {
				sink += len(t.Text)
			}
		})
		if n != 0 {
			t.Errorf("Scan and Lexer on %q: %v allocations, want 0", sql, n)
		}
	}
}

var sink int
