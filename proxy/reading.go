package proxy

import (
	"slices"
	"strings"

	"github.com/conntag/conntag/internal/sqlscan"
)

// reading is what a text is read in. A server reads a prepared statement once, when it is prepared: names without a schema are
// of the schema that was current then, and quotes mean what sql_mode said then.
type reading struct {
	schema   string
	settings *settings
}

// readingNames are the variables that a text's meaning depends on.
var readingNames = []string{"sql_mode", "character_set_client", "character_set_connection", "collation_connection"}

func (s *state) reading() reading { return reading{s.schema, s.settings} }

// key tells texts apart that are not the same statement.
func (r reading) key(text string) string {
	var k strings.Builder
	k.WriteString(r.schema)
	for _, name := range readingNames {
		value, _ := r.settings.get(name)
		k.WriteByte(0)
		k.WriteString(value)
	}
	k.WriteByte(0)
	k.WriteString(text)
	return k.String()
}

// readAs returns the settings with those of another reading, as far as they matter to it.
func (s *settings) readAs(o *settings) *settings {
	for _, name := range readingNames {
		if value, ok := o.get(name); ok {
			if have, ok := s.get(name); !ok || have != value {
				s = s.with(name, value)
			}
		} else if i := slices.IndexFunc(s.entries(), func(e setting) bool { return e.name == name }); i >= 0 {
			s = newSettings(slices.Delete(slices.Clone(s.list), i, i+1))
		}
	}
	return s
}

// prepareOn prepares a text on a connection as it was read when its client prepared it: the session may have moved on.
func (s *Session) prepareOn(b *backendConn, r reading, key, text string) (*backendStmt, error) {
	b.intact = false
	schema, set := r.schema, s.state.settings.readAs(r.settings)
	if schema == "" { // it can't be unchosen; the text needs none, or it could not have been prepared
		schema = s.state.schema
	}
	if schema == s.state.schema && set == s.state.settings {
		return b.prepareStmt(key, text)
	}
	if err := b.become(set, schema, s.state.role); err != nil {
		return nil, err
	}
	known, err := b.prepareStmt(key, text)
	if back := b.become(s.state.settings, s.state.schema, s.state.role); back != nil {
		return nil, back
	}
	return known, err
}

// withoutOuterComments cuts the comments before and behind a text off: a trace id in them must not make it another statement.
// Those inside stay, since a column without an alias is called by its text.
func withoutOuterComments(sql []byte, st *sqlscan.Statement) string {
	if st.Flags&(sqlscan.MultiStatement|sqlscan.Executable|sqlscan.Unterminated) != 0 {
		return string(sql)
	}
	end := len(sql)
	for comments := st.Comments(); len(comments) > 0; comments = comments[:len(comments)-1] {
		last := comments[len(comments)-1]
		if len(strings.TrimSpace(string(sql[last.End:end]))) > 0 || last.Start < st.Body {
			break
		}
		end = int(last.Start)
	}
	if int(st.Body) > end {
		return string(sql)
	}
	return strings.TrimSpace(string(sql[st.Body:end]))
}
