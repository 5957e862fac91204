package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
)

// maxRoutines bounds how many procedures are read after one CALL.
const maxRoutines = 16

// readRoutines reads the bodies of the procedures that a command has called, and of those that they call: what a body can't
// have done need not be feared. A body that is not visible, or that can leave something behind which no tracker
// reports, leaves the session pinned.
//
// Bodies are read anew for each CALL: that costs a round trip, while a cache would not notice that a body was replaced.
func (s *Session) readRoutines(b *backendConn, r *reply, out outcome) error {
	var names []string
	for _, e := range s.job.effects {
		if e.kind == effectCall {
			names = append(names, s.state.qualified(e.name))
		}
	}
	if len(names) == 0 || s.state.held.procedure {
		return nil
	}
	clean := s.job.flags&sqlscan.MultiStatement == 0
	for i := 0; i < len(names) && clean; i++ {
		body, err := s.routine(b, names[i])
		if err != nil {
			return err
		}
		schema, _, _ := strings.Cut(names[i], ".")
		for _, e := range body.effects {
			e.name = inSchema(schema, e.name)
			s.state.apply(e)
		}
		if b.settings != s.state.settings {
			s.residue.stays(b, leftVariables)
			b.settings = s.state.settings
		}
		for _, name := range body.calls {
			name = inSchema(schema, name)
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		clean = (body.clean || i == 0 && body.missing && out.code == codeNoSuchRoutine) && len(names) <= maxRoutines
	}
	s.state.held.procedure = !clean
	s.state.pinWhile(attribution.Procedure, !clean)
	q := inquiry{s: s, b: b}
	if clean && r.suspect {
		q.userVariables()
	}
	s.state.held.tablesDoubt = len(s.state.held.tables) > 0
	q.tables()
	return q.put()
}

// userVariables asks whether the session has user variables besides those that are known. If it has none, and the bodies are
// known, then the state change that the server noted was of something that is known, too. A server without that table leaves
// the doubt standing.
func (q *inquiry) userVariables() {
	others := "SELECT COUNT(*) FROM information_schema.user_variables WHERE LOWER(variable_name) NOT IN (''"
	for _, e := range q.s.state.settings.entries() {
		if isUserVar(e.name) {
			others += fmt.Sprintf(",_utf8mb4 X'%x'", strings.ReplaceAll(strings.Trim(e.name, "@`"), "``", "`"))
		}
	}
	q.ask(others+") LIMIT 1", func(a textResult) {
		if a.failed == nil && a.text(0) == "0" {
			q.s.state.unpin(attribution.Unknown)
		}
	})
}

// inSchema is a name as a procedure of the schema means it.
func inSchema(schema, name string) string {
	if strings.HasPrefix(name, ".") {
		return schema + name
	}
	return name
}

const codeNoSuchRoutine = 1305

// body is what a stored procedure may do to the session.
type body struct {
	missing bool // there is no such procedure, or it is not for this user's eyes
	clean   bool // nothing but effects and calls, as far as no tracker reports it
	effects []effect
	calls   []string // the procedures it calls
}

func (s *Session) routine(b *backendConn, name string) (body, error) {
	schema, routine, _ := strings.Cut(name, ".")
	if err := s.beforeQuestions(b); err != nil {
		return body{}, err
	}
	results, err := b.ask(internalTimeout, queryCommand("SHOW CREATE PROCEDURE "+quoteName(schema)+"."+quoteName(routine)))
	if results == nil {
		return body{}, err
	}
	if e := asServerError(err); e != nil && e.Code == codeNoSuchRoutine {
		return body{missing: true}, nil
	}
	const mode, text = 1, 2 // columns
	created := results[0].text(text)
	if created == "" {
		return body{}, nil
	}
	return readBody(behindDefiner([]byte(created)), modeOf(results[0].text(mode))), nil
}

// readBody reads a stored procedure's body word by word, wherever the words stand: blocks and handlers put statements
// anywhere.
func readBody(sql []byte, mode sqlscan.Mode) body {
	st := sqlscan.Scan(sql, mode)
	const marks = sqlscan.GetLock | sqlscan.ReleaseLock | sqlscan.Unterminated | sqlscan.Trackers
	found := body{clean: st.Flags&marks == 0}
	lex := sqlscan.NewLexer(sql, mode)
	var last sqlscan.Token
	for t := lex.Next(); t.Kind != sqlscan.TokenEnd; last, t = t, lex.Next() {
		switch {
		case t.Kind == sqlscan.TokenUserVar:
			found.effects = append(found.effects, effect{kind: effectUserVar, name: userVarName(t.Ident())})
		case t.Kind != sqlscan.TokenWord:
		case t.Is("prepare"), t.Is("execute"), t.Is("xa"), t.Is("flush"), t.Is("lock"), t.Is("backup"), t.Is("savepoint"), t.Is("transaction"),
			t.Is("role"), t.Is("kill"), t.Is("timestamp"), t.Is("insert_id"), t.Is("rand_seed1"), t.Is("rand_seed2"),
			t.Is("handler") && !last.Is("exit") && !last.Is("continue") && !last.Is("undo"):
			found.clean = found.clean && harmless(t, lex)
		case t.Is("call"):
			name, _ := tableName(ahead(lex))
			found.calls = append(found.calls, name)
		case t.Is("temporary") && (last.Is("create") || last.Is("replace")):
			h := skipWords(ahead(lex), "table", "sequence", "if", "not", "exists")
			name, _ := tableName(h)
			found.effects = append(found.effects, effect{kind: effectCreateTemp, name: name})
		}
	}
	return found
}

// behindDefiner is the text behind CREATE DEFINER=`user`@`host` PROCEDURE, in which an account would look like a user variable.
func behindDefiner(sql []byte) []byte {
	lex := sqlscan.NewLexer(sql, 0)
	for t := lex.Next(); t.Kind != sqlscan.TokenEnd; t = lex.Next() {
		if t.Is("procedure") {
			return sql[t.End:]
		}
	}
	return sql
}

// harmless reports whether a suspicious word is one of those that only look so.
func harmless(t sqlscan.Token, lex sqlscan.Lexer) bool {
	next := lex.Next()
	switch {
	case t.Is("lock"): // SELECT … LOCK IN SHARE MODE
		return next.Is("in")
	case t.Is("transaction"): // START TRANSACTION
		return !next.Is("isolation") && !next.Is("read")
	case t.Is("timestamp"): // a type, or a function
		return !isPunct(next, '=') && !isPunct(next, ':')
	}
	return false
}

// ahead is the next few tokens.
func ahead(lex sqlscan.Lexer) []sqlscan.Token {
	h := make([]sqlscan.Token, 8)
	for i := range h {
		h[i] = lex.Next()
	}
	return h
}

// createsRoutine reports whether CREATE makes a stored program: what its body says is not done now. Where a text is one
// statement, all of it is that body.
func createsRoutine(sql []byte, mode sqlscan.Mode) bool {
	lex := sqlscan.NewLexer(sql, mode)
	for range 12 { // CREATE OR REPLACE DEFINER = user@host AGGREGATE FUNCTION
		switch t := lex.Next(); {
		case t.Is("procedure"), t.Is("function"), t.Is("trigger"), t.Is("event"), t.Is("package"):
			return true
		case t.Is("table"), t.Is("view"), t.Is("temporary"), isPunct(t, '('), isPunct(t, ';'), t.Kind == sqlscan.TokenEnd:
			return false
		}
	}
	return false
}
