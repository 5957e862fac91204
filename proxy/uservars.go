package proxy

import (
	"bytes"
	"strings"

	"github.com/conntag/conntag/proxy/wire"
)

// maxUserVars is how many user variables of a session are put onto other connections; with more of them it is pinned.
const maxUserVars = 64

// unresolvedValue stands for a user variable's value until somebody reads it off the connection that has it.
const unresolvedValue = "?"

// userVarName is how a user variable is called among the settings: as SQL writes it, in small letters, since names that
// differ only in case are one variable.
func userVarName(name string) string {
	return "@`" + strings.ReplaceAll(strings.ToLower(name), "`", "``") + "`"
}

func isUserVar(name string) bool { return strings.HasPrefix(name, "@") }

// userVars counts the user variables in the set.
func (s *settings) userVars() (n int) {
	for _, e := range s.entries() {
		if isUserVar(e.name) {
			n++
		}
	}
	return n
}

// hasUserVarsBesides reports whether there are user variables in the set that are not in o.
func (s *settings) hasUserVarsBesides(o *settings) bool {
	if s == o {
		return false
	}
	for _, e := range s.entries() {
		if _, also := o.get(e.name); isUserVar(e.name) && !also {
			return true
		}
	}
	return false
}

// unresolved names the user variables whose values are only on the connection.
func (s *settings) unresolved() (names []string) {
	for _, e := range s.entries() {
		if isUserVar(e.name) && e.value == unresolvedValue {
			names = append(names, e.name)
		}
	}
	return names
}

// selectUserVars asks for all that it takes to set the variables to the same values elsewhere.
func selectUserVars(names []string) string {
	var q strings.Builder
	sep := "SELECT "
	for _, n := range names {
		q.WriteString(sep + n + ",HEX(" + n + "),COLLATION(" + n + ")")
		sep = ","
	}
	q.WriteString(" LIMIT 1")
	return q.String()
}

// resolve puts in the values that selectUserVars was answered with.
func (s *settings) resolve(names []string, a *textResult) *settings {
	for i, n := range names {
		if len(a.rows) == 0 || 3*i+2 >= len(a.columns) {
			break
		}
		s = s.with(n, userVarLiteral(n, a.columns[3*i], a.rows[0][3*i:]))
	}
	return s
}

// neverSetLength is the length that columns of a user variable that was never set have; one that was set to NULL has one less.
const neverSetLength = 1 << 24

// userVarLiteral writes a user variable's value as SQL that gives the same value and the same type; empty for a variable that
// was never set. values are the variable, its HEX and its COLLATION. A NULL has the type of the value before
// it, so it is written as two assignments.
func userVarLiteral(name string, c wire.Column, values [][]byte) string {
	null := values[0] == nil
	value, hex, collation := ascii(values[0]), ascii(values[1]), ascii(values[2])
	charset, _, _ := strings.Cut(collation, "_")
	if null {
		value = "0"
	}
	var literal string
	switch {
	case c.Type == wire.TypeLongLong && c.Flags&wire.FlagUnsigned != 0:
		literal = "CAST(" + value + " AS UNSIGNED)"
	case c.Type == wire.TypeLongLong:
		literal = value
	case c.Type == wire.TypeNewDecimal && null:
		literal = "0.0"
	case c.Type == wire.TypeNewDecimal:
		literal = value
	case c.Type == wire.TypeDouble:
		if literal = value; !strings.ContainsAny(value, "eE") {
			literal += "e0"
		}
	case collation == "binary" && null && c.Length >= neverSetLength:
		return ""
	case collation == "binary":
		literal = "X'" + hex + "'"
	default:
		literal = "_" + charset + " X'" + hex + "' COLLATE " + collation
	}
	if null {
		literal += "," + name + "=NULL"
	}
	return literal
}

// ascii undoes the two character sets of results in which ASCII is not one byte a character.
func ascii(v []byte) string { return string(bytes.ReplaceAll(v, []byte{0}, nil)) }
