package proxy

import (
	"strings"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/proxy/wire"
)

// Query attributes (CLIENT_QUERY_ATTRIBUTES, MySQL 8) are values that a client sends beside a statement. Here they are
// one more place for a tag. Backends are spoken to without them, so that all clients can share one: a MariaDB knows none, and
// at a MySQL mysql_query_attribute_string() finds none.

// attributed is the account of the caller that the attributes name; nil when none does. The name of one is compared as the
// key of a tag in a comment is.
func (s *Server) attributed(a *wire.Attributes) *attribution.Account {
	best := len(s.keysFor)
	var value []byte
	for best > 0 {
		name, text, ok := a.Next()
		if !ok {
			break
		}
		for k, key := range s.keysFor[:best] {
			if len(text) > 0 && strings.EqualFold(string(name), key) {
				best, value = k, text
				break
			}
		}
	}
	if best == len(s.keysFor) {
		return nil
	}
	var clean [128]byte
	name := attribution.CleanName(value, clean[:0])
	if len(name) == 0 {
		return nil
	}
	return s.ledger.Account(name)
}

// withoutAttributes is a COM_QUERY as a client without query attributes sends it; its text begins at text.
func withoutAttributes(cmd command, text int) command {
	payload := cmd.payload[text-1:]
	payload[0] = byte(wire.ComQuery)
	return cmd.narrowed(text-1, payload)
}

// classicExecute is the same for COM_STMT_EXECUTE, and says whose the statement is: its text comes first.
func (s *Session) classicExecute(cmd command, stmt *preparedStmt) (command, *attribution.Account, error) {
	e, err := wire.ParseExecute(cmd.payload, stmt.params, stmt.long)
	if err != nil {
		return cmd, nil, err
	}
	caller := stmt.account
	if caller == nil {
		caller = s.srv.attributed(&e.Attributes)
	}
	return cmd.narrowed(0, e.Classic()), caller, nil
}
