package sqlscan

import (
	"slices"
	"strings"
	"testing"
)

var kindNames = map[TokenKind]string{
	TokenWord: "word", TokenQuotedIdent: "ident", TokenString: "string", TokenNumber: "number",
	TokenUserVar: "user", TokenSysVar: "sys", TokenPunct: "punct",
}

func tokens(sql string, mode Mode) (all []string) {
	l := NewLexer([]byte(sql), mode)
	for t := l.Next(); t.Kind != TokenEnd; t = l.Next() {
		all = append(all, kindNames[t.Kind]+" "+string(t.Text))
	}
	return all
}

func TestLexerSplitsAsTheServerDoes(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		mode Mode
		want []string
	}{
		{"", 0, nil},
		{"SET a=1", 0, []string{"word SET", "word a", "punct =", "number 1"}},
		{"SELECT t.`a``b`, 'c''d'", 0, []string{"word SELECT", "word t", "punct .", "ident a``b", "punct ,", "string c''d"}},
		{`"a\"b" "c"`, 0, []string{`string a\"b`, "string c"}},
		{`"a\" "c""d"`, AnsiQuotes, []string{`ident a\`, `ident c""d`}},
		{"@a @'b c' @`d` @\"e\" @f.g$1 @", 0, []string{"user a", "user b c", "user d", "user e", "user f.g$1", "user "}},
		{"@@a @@session.b @@`c` @@local.`d` @@session . e", 0, []string{"sys a", "sys session.b", "sys `c`", "sys local.`d`", "sys session", "punct .", "word e"}},
		{"1 1.5 .5 1.5e-3 1e5 1E+5 1..2", 0, []string{"number 1", "number 1.5", "number .5", "number 1.5e-3", "number 1e5", "number 1E+5", "number 1", "punct .", "number .2"}},
		{"1st 1e 1ex 1e+x", 0, []string{"word 1st", "word 1e", "word 1ex", "word 1e", "punct +", "word x"}},
		{"0x1F 0x1g 0x 0b01 0b2 0X1F 0bab", 0, []string{"number 0x1F", "word 0x1g", "word 0x", "number 0b01", "word 0b2", "word 0X1F", "word 0bab"}},
		{"1.5into 1e0into 1.into", 0, []string{"number 1.5", "word into", "number 1e0", "word into", "number 1.", "word into"}},
		{`\Nint \x`, 0, []string{`word \N`, "word int", `punct \`, "word x"}},
		{"a:=1", 0, []string{"word a", "punct :", "punct =", "number 1"}},
		{"a/* x */b-- y\nc# z\nd--e", 0, []string{"word a", "word b", "word c", "word d", "punct -", "punct -", "word e"}},
		{"a /*!50000 b /* x */ c */ d */", 0, []string{"word a", "word b", "word c", "word d", "punct *", "punct /"}},
		{"/*M!100100 a */ /*+ b */ /*!12 c*/", 0, []string{"word a", "number 12", "word c"}},
		{"naïve $a _b", 0, []string{"word naïve", "word $a", "word _b"}},
		{"'a", 0, []string{"string a"}},
		{"'", 0, []string{"string "}},
		{"a /* b", 0, []string{"word a"}},
	} {
		if got := tokens(tt.sql, tt.mode); !slices.Equal(got, tt.want) {
			t.Errorf("tokens of %q (mode %b)\n got %q\nwant %q", tt.sql, tt.mode, got, tt.want)
		}
	}
}

func TestIdentUndoesQuotes(t *testing.T) {
	for sql, want := range map[string]string{
		"a": "a", "`a`": "a", "`a``b`": "a`b", "@a": "a", "@`a``b`": "a`b", "@'a''b'": "a'b", "'a''b'": "a'b", "``": "", "``````": "``", "@@session.x": "session.x",
	} {
		l := NewLexer([]byte(sql), 0)
		if got := l.Next().Ident(); got != want {
			t.Errorf("Ident of %s = %q, want %q", sql, got, want)
		}
	}
}

func TestIsMatchesWordsOnly(t *testing.T) {
	for sql, want := range map[string]bool{"table": true, "TABLE": true, "tAbLe": true, "tables": false, "`table`": false, "'table'": false, "@table": false, "": false} {
		l := NewLexer([]byte(sql), 0)
		if got := l.Next().Is("table"); got != want {
			t.Errorf("Is(table) of %q = %v, want %v", sql, got, want)
		}
	}
}

func TestLexerEndsForGoodAndKnowsWhatIsOpen(t *testing.T) {
	for sql, want := range map[string]bool{"": false, "a 'b'": false, "a 'b": true, "a `b": true, "a /* b": true, "a /*! b": true, "a /*! b */": false, "@'a": true, "@@`a": true, "a -- 'b": false} {
		l := NewLexer([]byte(sql), 0)
		for l.Next().Kind != TokenEnd {
		}
		for range 3 {
			if tok := l.Next(); tok.Kind != TokenEnd || int(tok.Start) != len(sql) {
				t.Errorf("after the end of %q: %+v", sql, tok)
			}
		}
		if got := l.Unterminated(); got != want {
			t.Errorf("Unterminated after %q = %v, want %v", sql, got, want)
		}
	}
}

func TestATokenCannotBeAppendedInto(t *testing.T) {
	sql := []byte("SET a=1")
	l := NewLexer(sql, 0)
	tok := l.Next()
	_ = append(tok.Text, "XXX"...)
	if got := string(sql); got != "SET a=1" {
		t.Errorf("text is now %q", got)
	}
}

// read finds with the Lexer what Scan finds on its own, as another way to the same answer.
func read(sql []byte, mode Mode) (first, second Keyword, flags Flags) {
	l := NewLexer(sql, mode)
	var prev, verb Token
	n, semicolons := 0, 0
	for t := l.Next(); t.Kind != TokenEnd; prev, t = t, l.Next() {
		next := l
		following := next.Next()
		if t.isPunct(';') {
			semicolons++
			n, verb = 0, Token{}
			continue
		}
		if n == 0 && semicolons > 0 {
			flags |= MultiStatement
		}
		if n > 0 || !t.isPunct('(') {
			n++
		}
		if t.Kind == TokenWord {
			k := keywordOf(t.Text)
			if n == 1 {
				verb = t
			}
			if semicolons == 0 && n == 1 {
				first = k
			}
			if semicolons == 0 && n == 2 && verb.Kind == TokenWord {
				second = k
			}
		}
		flags |= tokenFlags(prev, t, following, next, verb)
	}
	if l.Unterminated() {
		flags |= Unterminated
	}
	return first, second, flags
}

func tokenFlags(prev, t, following Token, rest Lexer, verb Token) (flags Flags) {
	called := following.isPunct('(')
	word := strings.ToLower(string(t.Text))
	switch t.Kind {
	case TokenUserVar:
		return UserVar
	case TokenSysVar:
		_, from, to, _ := sysVar(t.Text, 0, rest.mode)
		name := t.Text[from:to]
		if isScope(name) {
			if following.isPunct('.') {
				following = rest.Next()
			}
			name = following.Text
		}
		return SysVar | sysVarMarks(name)
	case TokenPunct:
		if t.isPunct('=') && prev.isPunct(':') && prev.End == t.Start {
			return AssignsUserVar
		}
		return 0
	case TokenWord, TokenQuotedIdent:
	default:
		return 0
	}
	plain := t.Kind == TokenWord
	switch word {
	case "into":
		if plain && following.Kind == TokenUserVar {
			return AssignsUserVar
		}
	case "next", "previous":
		if plain && following.Is("value") {
			return Sequence
		}
	case "warnings", "errors":
		if plain && verb.Is("show") {
			return Warnings
		}
	case "diagnostics":
		if plain && verb.Is("get") {
			return Warnings
		}
	case "session_track_schema", "session_track_state_change", "session_track_system_variables", "session_track_transaction_info",
		"session_variables", "system_variables", "variables_by_thread":
		if plain || int(t.End-t.Start) == len(t.Text)+2 { // an open quote has no name in it
			return Trackers
		}
	case "variables":
		if plain && verb.Is("show") {
			return Trackers
		}
	case "temporary":
		if plain {
			return Temporary
		}
	case "union", "intersect", "except", "offset", "procedure":
		if plain {
			return Combines
		}
	case "select":
		if plain && (verb.Is("insert") || verb.Is("replace") || verb.Is("create") || verb.Is("set")) {
			return Combines
		}
	case "limit":
		if second := rest.Next(); plain && second.isPunct(',') {
			return Combines
		}
	case "sql_calc_found_rows":
		if plain {
			return CalcFoundRows
		}
	case "pseudo_thread_id":
		if plain {
			return ConnectionID
		}
	case "last_insert_id":
		if plain || called {
			return LastInsertID
		}
	case "nextval", "lastval", "currval", "setval":
		if plain || called {
			return Sequence
		}
	case "row_count":
		if called || plain && verb.Is("get") {
			return RowCount
		}
	}
	if !called {
		return 0
	}
	switch word {
	case "found_rows":
		return FoundRows
	case "get_lock", "service_get_read_locks", "service_get_write_locks":
		return GetLock
	case "release_lock", "release_all_locks", "service_release_locks":
		return ReleaseLock
	case "connection_id":
		return ConnectionID
	}
	return 0
}
