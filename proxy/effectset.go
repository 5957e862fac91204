package proxy

import (
	"bytes"
	"strings"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
)

// set reads what stands behind SET. Session variables are the trackers' business; here is what they don't see.
func (r *effectReader) set(h []sqlscan.Token) {
	word := func(i int, w string) bool { return i < len(h) && h[i].Is(w) }
	if word(0, "statement") {
		r.setStatement(h[1:])
		return
	}
	r.add(effect{kind: effectOwnState, whether: true})
	switch {
	case word(0, "transaction"):
		r.add(effect{kind: effectNextTrx})
	case isScopeWord(h) && word(1, "transaction"), word(0, "password"), word(0, "default") && word(1, "role"):
	case word(0, "role"):
		r.add(effect{kind: effectRole})
	case word(0, "resource"), word(0, "default"):
		r.pin(attribution.Unknown)
	default:
		r.assignments(h)
	}
}

// setStatement reads SET STATEMENT name = value, … FOR statement. The trackers report the values that the variables have
// for the statement; that they are back comes with the next OK.
func (r *effectReader) setStatement(h []sqlscan.Token) {
	r.add(effect{kind: effectOwnState, whether: true})
	r.add(effect{kind: effectRead, whether: true})
	r.add(effect{kind: effectLate, whether: true})
	depth := 0
	for i, t := range h {
		depth += nesting(t)
		if depth == 0 && t.Is("for") {
			if h = h[i+1:]; len(h) > 1 && h[0].Is("set") && h[1].Is("statement") { // as deep as the text is long
				r.pin(attribution.Unknown)
			} else {
				r.read(h)
			}
			return
		}
	}
}

// assignments reads [scope] name = value, ….
func (r *effectReader) assignments(h []sqlscan.Token) {
	depth, start := 0, 0
	for i, t := range h {
		if isPunct(t, '(') { // a subquery or a function: it may read tables
			r.add(effect{kind: effectRead})
		}
		depth += nesting(t)
		if depth == 0 && isPunct(t, ',') {
			r.assignment(h[start:i])
			start = i + 1
		}
	}
	r.assignment(h[start:])
}

// assignment reads one of them.
func (r *effectReader) assignment(h []sqlscan.Token) {
	if isScopeWord(h) {
		h = h[1:]
	}
	if len(h) == 0 {
		return
	}
	t := h[0]
	if t.Kind == sqlscan.TokenUserVar {
		return
	}
	name, scoped := variable(h)
	switch name {
	case "names", "charset", "character":
		r.ask("collation_connection")
		r.add(effect{kind: effectResults, name: name, whether: true})
		if r.flags&sqlscan.Trackers != 0 {
			for _, n := range charsetNames {
				r.ask(n)
			}
		}
		return
	case "character_set_connection", "collation_connection":
		r.ask("collation_connection")
	case "character_set_results":
		r.add(effect{kind: effectResults, name: name, whether: true})
	}
	switch {
	case strings.HasPrefix(name, "session_track_"), name == "":
	// MariaDB's trackers report "x = …" and "@@session.x = …", but not "@@x = …". While the trackers are the client's own,
	// they may report nothing.
	case t.Kind == sqlscan.TokenSysVar && !scoped && oneShot(name):
		r.add(effect{kind: effectNextTrx, whether: true})
	case t.Kind == sqlscan.TokenSysVar && !scoped, unrestorable(name), r.flags&sqlscan.Trackers != 0:
		r.ask(name)
	}
}

// oneShot reports whether SET @@name without a scope is for the next transaction only.
func oneShot(name string) bool {
	switch name {
	case "tx_isolation", "tx_read_only", "transaction_isolation", "transaction_read_only":
		return true
	}
	return false
}

// ask has the server asked for a session variable once the statement has ended, however it ended.
func (r *effectReader) ask(name string) {
	r.add(effect{kind: effectAsk, name: name, whether: true})
}

// variable is the name of the system variable that h begins with, and whether a scope stands before it; empty for
// anything else, and for a global one.
func variable(h []sqlscan.Token) (name string, scoped bool) {
	t := h[0]
	switch t.Kind {
	case sqlscan.TokenWord, sqlscan.TokenQuotedIdent:
		return strings.ToLower(t.Ident()), false
	case sqlscan.TokenSysVar:
		text := t.Text
		if scope, rest, ok := bytes.Cut(text, []byte{'.'}); ok {
			if bytes.EqualFold(scope, []byte("global")) {
				return "", true
			}
			text, scoped = rest, true
		} else if len(h) > 2 && isPunct(h[1], '.') { // @@session . name
			return strings.ToLower(h[2].Ident()), true
		}
		return strings.ToLower(strings.Trim(string(text), "`")), scoped
	}
	return "", false
}

func isScopeWord(h []sqlscan.Token) bool {
	return len(h) > 1 && (h[0].Is("session") || h[0].Is("local") || h[0].Is("global")) && !isPunct(h[1], '=')
}

// nesting is what a token adds to the depth of parentheses.
func nesting(t sqlscan.Token) int {
	switch {
	case isPunct(t, '('):
		return 1
	case isPunct(t, ')'):
		return -1
	}
	return 0
}
