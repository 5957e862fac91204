package sqlscan

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The pieces that generated texts are made of: every marker and keyword, and what opens, closes or separates.
func pieces() []string {
	p := []string{
		" ", " ", "\n", "\t", ";", ",", "(", ")", "=", ":=", ":", "*", "/", "-", ".", "'", "''", `"`, `""`, "`", `\`, `\'`, `\N`, "@", "@@",
		"@a", "@'b'", "@`c`", "@@session", "@@session.", "@@identity", "identity", "warning_count", "/*", "*/", "/* x */", "/*!", "/*!50000", "/*M!",
		"/*+", "/*vt+", "--", "-- ", "#", "-- y\n", "1", "1.5", ".5", "1e5", "0x1F", "0b1", "1st", "e", "x", "'s'", `"d"`, "`i`", "value", "ä", "\x00", "\x01", "\xff",
	}
	for _, m := range markers {
		p = append(p, m.word, strings.ToUpper(m.word), "`"+m.word+"`", `"`+m.word+`"`, m.word+"(")
	}
	for k := KeywordOther + 1; k < numKeywords; k++ {
		p = append(p, k.String())
	}
	return p
}

// check holds Scan to what must be true of any text, and to what the Lexer says of it.
func check(t *testing.T, sql []byte, mode Mode) {
	t.Helper()
	before := bytes.Clone(sql)
	st := Scan(sql, mode)
	if again := Scan(bytes.Clone(sql), mode); again != st {
		t.Fatalf("Scan(%q, %b) differs between two calls:\n%+v\n%+v", sql, mode, st, again)
	}
	if !bytes.Equal(sql, before) {
		t.Fatalf("Scan changed %q to %q", before, sql)
	}
	if int(st.Body) > len(sql) {
		t.Fatalf("Scan(%q).Body = %d", sql, st.Body)
	}
	checkComments(t, sql, mode, st)

	first, second, flags := read(sql, mode)
	if st.First != first || st.Second != second {
		t.Fatalf("Scan(%q, %b) begins with %v %v, the Lexer says %v %v", sql, mode, st.First, st.Second, first, second)
	}
	if got := st.Flags &^ (Executable | Trailing); got != flags {
		t.Fatalf("Scan(%q, %b).Flags = %b, the Lexer says %b", sql, mode, got, flags)
	}
}

// checkComments also walks the tokens: they are in order, and no comment overlaps one.
func checkComments(t *testing.T, sql []byte, mode Mode, st Statement) {
	t.Helper()
	spans := st.Comments()
	l := NewLexer(sql, mode)
	var at uint32
	for {
		tok := l.Next()
		for len(spans) > 0 && spans[0].End <= tok.Start {
			c := spans[0]
			if c.Start < at || c.End <= c.Start {
				t.Fatalf("Scan(%q, %b): comment %v, but a token or comment ends at %d", sql, mode, c, at)
			}
			text := string(sql[c.Start:c.End])
			line := strings.HasPrefix(text, "--") || strings.HasPrefix(text, "#")
			block := len(text) >= 4 && strings.HasPrefix(text, "/*") && strings.HasSuffix(text, "*/")
			if !line && !block || strings.HasPrefix(text, "/*!") || strings.HasPrefix(text, "/*M!") || strings.HasPrefix(text, "/*+") {
				t.Fatalf("Scan(%q, %b): %q is no plain comment", sql, mode, text)
			}
			at, spans = c.End, spans[1:]
		}
		if tok.Kind == TokenEnd {
			break
		}
		if tok.Start < at || tok.End <= tok.Start || int(tok.End) > len(sql) {
			t.Fatalf("Lexer on %q (mode %b): token %+v after offset %d", sql, mode, tok, at)
		}
		at = tok.End
	}
	if len(spans) > 0 {
		t.Fatalf("Scan(%q, %b): comments %v overlap tokens", sql, mode, spans)
	}
}

func TestScanAgreesWithTheLexerOnGeneratedText(t *testing.T) {
	parts := pieces()
	r := rand.New(rand.NewPCG(1, 2))
	var sql []byte
	for range 200_000 {
		sql = sql[:0]
		for range 1 + r.IntN(14) {
			sql = append(sql, parts[r.IntN(len(parts))]...)
			if r.IntN(2) == 0 {
				sql = append(sql, ' ')
			}
		}
		check(t, sql, Mode(r.IntN(4)))
	}
}

func TestScanAgreesWithTheLexerOnEveryPrefix(t *testing.T) {
	for _, text := range oddTexts {
		for end := range len(text) + 1 {
			for mode := Mode(0); mode < 4; mode++ {
				check(t, []byte(text[:end]), mode)
			}
		}
	}
}

func TestScanTakesTimeInProportionToTheText(t *testing.T) {
	looksAhead := []string{"into/*", "into/**/", "into--\n", "into 'x' ", "@@.", "@@session . ", "get_lock/**/", "''\\", "-- \x00", "/*1*/;"}
	for _, p := range append(pieces(), looksAhead...) {
		for _, open := range []string{"", "'", "`"} {
			sql := []byte(open + strings.Repeat(p, 1<<18/len(p)))
			start := time.Now()
			Scan(sql, 0)
			// A few milliseconds are usual; reading the rest of the text again for each piece would take minutes.
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("Scan of %q and many times %q took %v", open, p, took)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	for i, text := range oddTexts {
		f.Add([]byte(text), uint8(i))
	}
	f.Fuzz(func(t *testing.T, sql []byte, mode uint8) { check(t, sql, Mode(mode&3)) })
}
