package proxy

import (
	"bytes"
	"strings"

	"github.com/conntag/conntag/internal/sqlscan"
)

// known is a value of the server's that the proxy knows better than the backend connection that a statement runs on.
type known byte

const (
	knownNothing known = iota
	knownConnectionID
	knownThreadID // @@pseudo_thread_id
	knownRowCount
	knownFoundRows
	knownWarningCount
	knownErrorCount
)

var knownFunctions = map[string]known{
	"connection_id": knownConnectionID, "row_count": knownRowCount, "found_rows": knownFoundRows,
}

var knownVariables = map[string]known{
	"pseudo_thread_id": knownThreadID, "warning_count": knownWarningCount, "error_count": knownErrorCount,
}

// unsigned reports whether the server says that the value has no sign.
func (k known) unsigned() bool { return k != knownRowCount && k != knownFoundRows }

// calledAt reports what the token t calls if it is one of the functions without arguments; rest stands behind t, and
// the offset is that behind the closing parenthesis. The server takes the name in identifier quotes, too.
func calledAt(t sqlscan.Token, rest sqlscan.Lexer) (k known, end uint32) {
	if t.Kind != sqlscan.TokenWord && t.Kind != sqlscan.TokenQuotedIdent {
		return knownNothing, 0
	}
	if k = knownFunctions[strings.ToLower(string(t.Text))]; k == knownNothing || !isPunct(rest.Next(), '(') {
		return knownNothing, 0
	}
	last := rest.Next()
	if !isPunct(last, ')') {
		return knownNothing, 0
	}
	return k, last.End
}

// readAt is calledAt for system variables. The scope may be a token of its own: blanks may stand around the dot.
func readAt(t sqlscan.Token, rest sqlscan.Lexer) (k known, end uint32) {
	if t.Kind != sqlscan.TokenSysVar {
		return knownNothing, 0
	}
	scope, name, scoped := bytes.Cut(t.Text, []byte{'.'})
	end = t.End
	switch {
	case scoped && len(name) > 0:
	case isOwnScope(scope):
		if !scoped && !isPunct(rest.Next(), '.') {
			return knownNothing, 0
		}
		last := rest.Next()
		scoped, name, end = true, last.Text, last.End
	default:
		name = scope
	}
	if scoped && !isOwnScope(scope) {
		return knownNothing, 0
	}
	return knownVariables[strings.ToLower(string(bytes.Trim(name, "`\"")))], end
}

// isOwnScope reports whether @@scope.name is the session's own value.
func isOwnScope(scope []byte) bool {
	return bytes.EqualFold(scope, []byte("session")) || bytes.EqualFold(scope, []byte("local"))
}
