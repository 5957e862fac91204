package proxy

import (
	"bytes"
	"strings"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// isSetAlready reports whether a SET gives session variables the values that they have: drivers and ORMs do that at every
// connect. Without a lease it need not reach a server. Only plain literals are looked at, and only values that the server has
// reported or that every login has. A client that tracks is told of a SET that changes nothing, too, so its SETs all go out.
func (s *Session) isSetAlready(sql []byte, st *sqlscan.Statement) bool {
	const other = sqlscan.MultiStatement | sqlscan.Trailing | sqlscan.Executable | sqlscan.Unterminated | sqlscan.UserVar | sqlscan.Trackers | sqlscan.ConnectionID
	if s.lease.Valid() || st.Flags&other != 0 || s.login.caps.Has(wire.SessionTrack) {
		return false
	}
	lex := sqlscan.NewLexer(sql, s.state.mode)
	lex.Next() // SET
	for {
		var ok bool
		t := lex.Next()
		if t.Is("names") {
			t, ok = s.namesAre(&lex)
		} else {
			t, ok = s.variableIs(t, &lex)
		}
		switch {
		case !ok:
			return false
		case t.Kind == sqlscan.TokenEnd:
			return true
		case !isPunct(t, ','):
			return false
		}
	}
}

// namesAre reads what follows NAMES, and the token behind it.
func (s *Session) namesAre(lex *sqlscan.Lexer) (next sqlscan.Token, ok bool) {
	charset, plain := plainLiteral(lex.Next())
	collation := s.srv.backend.server.Load().defaults[charset]
	next = lex.Next()
	if next.Is("collate") {
		var also bool
		collation, also = plainLiteral(lex.Next())
		plain = plain && also
		next = lex.Next()
	}
	ok = plain && collation != ""
	for i, name := range append(charsetNames[:len(charsetNames):len(charsetNames)], resultsCollation) {
		want := charset
		if i >= len(charsetNames)-1 {
			want = collation
		}
		value, _ := s.state.settings.get(name)
		ok = ok && value == want
	}
	return next, ok
}

// variableIs reads an assignment that begins with t, and the token behind it.
func (s *Session) variableIs(t sqlscan.Token, lex *sqlscan.Lexer) (next sqlscan.Token, ok bool) {
	if t.Is("session") || t.Is("local") {
		t = lex.Next()
	}
	name := strings.ToLower(string(t.Text))
	switch t.Kind {
	case sqlscan.TokenWord:
	case sqlscan.TokenSysVar:
		scope, rest, scoped := strings.Cut(name, ".")
		if !scoped || scope != "session" && scope != "local" {
			return t, false // a global one, or one for the next transaction
		}
		name = rest
	default:
		return t, false
	}
	if t = lex.Next(); isPunct(t, ':') {
		t = lex.Next()
	}
	if !isPunct(t, '=') || isCharset(name) {
		return t, false
	}
	value, plain := plainLiteral(lex.Next())
	has, known := s.state.settings.get(name)
	return lex.Next(), plain && known && sameSetting(has, value)
}

// plainLiteral is a word, a number or a string without any escape, in small letters.
func plainLiteral(t sqlscan.Token) (value string, ok bool) {
	switch t.Kind {
	case sqlscan.TokenWord:
		ok = !t.Is("default")
	case sqlscan.TokenNumber:
		ok = true
	case sqlscan.TokenString:
		ok = !bytes.ContainsAny(t.Text, `\'"`)
	}
	return strings.ToLower(string(t.Text)), ok
}

// sameSetting reports whether a literal means the value that the server reported.
func sameSetting(has, literal string) bool {
	switch has {
	case "ON":
		return literal == "on" || literal == "1" || literal == "true"
	case "OFF":
		return literal == "off" || literal == "0" || literal == "false"
	}
	return strings.EqualFold(has, literal)
}
