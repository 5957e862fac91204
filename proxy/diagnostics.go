package proxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/internal/sqlscan"
)

// diagnosed turns GET DIAGNOSTICS about conditions that were read off another connection into the SET that gives its variables
// the same values; ok is false for what is not known here.
func (s *Session) diagnosed(sql []byte) (set []byte, ok bool) {
	lex := sqlscan.NewLexer(sql, s.state.mode)
	lex.Next() // GET
	t := lex.Next()
	if t.Is("current") {
		t = lex.Next()
	}
	if !t.Is("diagnostics") {
		return nil, false
	}
	t = lex.Next()
	var about *condition
	if t.Is("condition") {
		n, err := strconv.Atoi(string(lex.Next().Text))
		if err != nil || n < 1 || n > len(s.residue.diagnostics) {
			return nil, false
		}
		about = &s.residue.diagnostics[n-1]
		t = lex.Next()
	}
	for sep := "SET "; ; sep = "," {
		if t.Kind != sqlscan.TokenUserVar || !isPunct(lex.Next(), '=') {
			return nil, false
		}
		value, known := s.diagnosticItem(lex.Next(), about)
		if !known {
			return nil, false
		}
		set = append(append(set, sep+userVarName(t.Ident())+"="...), value...)
		switch t = lex.Next(); {
		case t.Kind == sqlscan.TokenEnd:
			return set, true
		case !isPunct(t, ','):
			return nil, false
		}
		t = lex.Next()
	}
}

// diagnosticItem is an item's value as SQL.
func (s *Session) diagnosticItem(item sqlscan.Token, about *condition) (value string, known bool) {
	name := strings.ToUpper(string(item.Text))
	if about == nil {
		switch name {
		case "NUMBER":
			return unsignedLiteral(len(s.residue.diagnostics)), true
		case "ROW_COUNT":
			return strconv.FormatInt(s.residue.rowCount, 10), true
		}
		return "", false
	}
	switch name {
	case "MYSQL_ERRNO":
		return unsignedLiteral(int(about.code)), true
	case "MESSAGE_TEXT":
		return utf8Literal(about.message), true
	case "RETURNED_SQLSTATE":
		state, ok := mysql.MySQLState[about.code]
		if !ok {
			state = "HY000"
		}
		return utf8Literal(state), about.code < mysql.ER_SIGNAL_WARN || about.code > mysql.ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER
	}
	return "", false
}

func unsignedLiteral(n int) string { return "CAST(" + strconv.Itoa(n) + " AS UNSIGNED)" }

// utf8Literal is a string as the server's own messages are: in three-byte UTF-8.
func utf8Literal(s string) string { return fmt.Sprintf("CONVERT(_utf8mb4 X'%x' USING utf8)", s) }
