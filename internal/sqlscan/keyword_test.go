package sqlscan

import (
	"strings"
	"testing"
)

func TestEveryKeywordIsFoundInAnyCase(t *testing.T) {
	for k := KeywordOther + 1; k < numKeywords; k++ {
		word := k.String()
		mixed := strings.ToLower(word[:1]) + word[1:]
		for _, w := range []string{word, strings.ToLower(word), mixed} {
			if got := keywordOf([]byte(w)); got != k {
				t.Errorf("keywordOf(%q) = %v, want %v", w, got, k)
			}
			st := Scan([]byte(w+" "+w), 0)
			if st.First != k || st.Second != k {
				t.Errorf("Scan(%q twice) = %v %v, want %v", w, st.First, st.Second, k)
			}
		}
		for _, w := range []string{word + "x", "x" + word, word[:len(word)-1] + "_", word + "1", word + "ä"} {
			if got := keywordOf([]byte(w)); got == k {
				t.Errorf("keywordOf(%q) = %v, want another", w, got)
			}
		}
	}
}

func TestKeywordNamesItself(t *testing.T) {
	for k, want := range map[Keyword]string{KeywordNone: "none", KeywordOther: "other", numKeywords: "other", 255: "other", Select: "SELECT", XA: "XA", KeywordTemporary: "TEMPORARY"} {
		if got := k.String(); got != want {
			t.Errorf("Keyword(%d).String() = %q, want %q", k, got, want)
		}
	}
}

func TestScanReadsTheFirstTwoWords(t *testing.T) {
	for _, tt := range []struct {
		sql           string
		first, second Keyword
	}{
		{"", KeywordNone, KeywordNone},
		{"  \n\t", KeywordNone, KeywordNone},
		{"/* only a comment */", KeywordNone, KeywordNone},
		{"COMMIT", Commit, KeywordNone},
		{"commit;", Commit, KeywordNone},
		{"COMMIT; ROLLBACK WORK", Commit, KeywordNone},
		{"BEGIN WORK", Begin, Work},
		{"BEGIN NOT ATOMIC SELECT 1; END", Begin, Not},
		{"START TRANSACTION READ ONLY", Start, Transaction},
		{"start/**/transaction", Start, Transaction},
		{"START -- x\n TRANSACTION", Start, Transaction},
		{"ROLLBACK TO SAVEPOINT a", Rollback, To},
		{"COMMIT AND CHAIN", Commit, And},
		{"SELECT id FROM t", Select, KeywordOther},
		{"SELECT * FROM t", Select, KeywordNone},
		{"SELECT 1", Select, KeywordNone},
		{"SELECT 1st FROM t", Select, KeywordOther},
		{"SELECT .5 FROM t", Select, KeywordNone},
		{"SELECT'a'FROM t", Select, KeywordNone},
		{"SELECT`a`FROM t", Select, KeywordNone},
		{"SELECT@a FROM t", Select, KeywordNone},
		{"SELECT-1 FROM t", Select, KeywordNone},
		{"SELECT/2 FROM t", Select, KeywordNone},
		{`SELECT\N FROM t`, Select, KeywordOther},
		{"SELECT(1)FROM t", Select, KeywordNone},
		{"(SELECT 1)", Select, KeywordNone},
		{" ( ( /* x */ SELECT DISTINCT a FROM t))", Select, KeywordOther},
		{"(VALUES ROW(1))", Values, KeywordOther},
		{"TABLE t", Table, KeywordOther},
		{"WITH a AS (SELECT 1) SELECT * FROM a", With, KeywordOther},
		{"CREATE TEMPORARY TABLE t (a INT)", Create, KeywordTemporary},
		{"CREATE OR REPLACE TEMPORARY TABLE t (a INT)", Create, Or},
		{"SET @a = 1", Set, KeywordNone},
		{"SET NAMES utf8mb4", Set, Names},
		{"SET STATEMENT max_statement_time=1 FOR SELECT 1", Set, KeywordStatement},
		{"SET SESSION TRANSACTION READ ONLY", Set, Session},
		{"SET autocommit=0", Set, KeywordOther},
		{"LOCK TABLES t WRITE", Lock, Tables},
		{"XA START 'a'", XA, Start},
		{"XA END 'a'", XA, End},
		{"KILL QUERY 5", Kill, Query},
		{"EXECUTE IMMEDIATE 'SELECT 1'", Execute, Immediate},
		{"HANDLER t OPEN", Handler, KeywordOther},
		{"USE `db`", Use, KeywordNone},
		{"SHOW COUNT(*) WARNINGS", Show, Count},
		{"selects", KeywordOther, KeywordNone},
		{"SELECT_", KeywordOther, KeywordNone},
		{"t.SELECT", KeywordOther, KeywordNone},
		{"'a' SELECT", KeywordNone, KeywordNone},
		{"1 SELECT", KeywordNone, KeywordNone},
		{"; SELECT 1", KeywordNone, KeywordNone},
		{"\xef\xbb\xbfSELECT 1", KeywordOther, KeywordNone},

		{"/*conn_tag:a*/ BEGIN", Begin, KeywordNone},
		{"/* conn_tag:a */INSERT INTO t VALUES (1)", Insert, Into},
		{"/* x */ /* conn_tag:a */ SET autocommit=0", Set, KeywordOther},
		{"-- conn_tag:a\nLOCK TABLES t WRITE", Lock, Tables},
		{"# conn_tag:a\nCOMMIT", Commit, KeywordNone},
		{"/* conn_tag:a */ PREPARE s FROM 'SELECT 1'", Prepare, KeywordOther},
		{"/* conn_tag:a */ (SELECT 1)", Select, KeywordNone},
		{"--\nSELECT 1", Select, KeywordNone},
		{"--SELECT 1", KeywordNone, KeywordNone}, // two minus signs, not a comment
		{"/*+ hint */ SELECT 1", Select, KeywordNone},

		{"/*!50000 BEGIN */", Begin, KeywordNone},
		{"/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;", Set, KeywordNone},
		{"/*M!100100 SET @@max_statement_time=1 */", Set, KeywordNone},
		{"/*!100100START*/TRANSACTION", Start, Transaction},
		{"/*!START TRANSACTION*/", Start, Transaction},
		{"/*!*/ SELECT 1", Select, KeywordNone},
		{"/*m! SET a */ SELECT 1", Select, KeywordNone},
	} {
		st := Scan([]byte(tt.sql), 0)
		if st.First != tt.first || st.Second != tt.second {
			t.Errorf("Scan(%q) begins with %v %v, want %v %v", tt.sql, st.First, st.Second, tt.first, tt.second)
		}
	}
}
