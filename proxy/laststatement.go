package proxy

import (
	"strings"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// remember notes what a command left for the session's next one: ROW_COUNT() and nearly always FOUND_ROWS() are told by the reply;
// what is not told stays on the connection. All rules here were measured on MariaDB 10.11.
func (s *Session) remember(b *backendConn, r *reply) {
	left, j := s.residue, &s.job
	count, changed := j.rowCount(r)
	if changed {
		left.rowCount, left.aside = count, false
	}
	b.ran(left, changed)
	b.intact = b.intact && !r.explained // by a statement of the proxy's own
	switch j.foundRows(r) {
	case foundRowsSent:
		left.known(b, leftFoundRows)
		left.foundRows = r.Rows
	case foundRowsStay:
		left.stays(b, leftFoundRows)
	case foundRowsKept:
	}
	switch {
	case r.Failed != 0 || r.warned:
		left.stays(b, leftDiagnostics)
		b.warned = true
	case left.owed&leftDiagnostics.set() == 0 && left.diagnostics == nil: // nearly always
	case b.has(left, leftDiagnostics): // the connection itself knows whether they were cleared
	case j.clearsConditions():
		left.known(b, leftDiagnostics)
		left.diagnostics = nil
	}
}

// releases reports whether the server closes the connection behind its OK: COMMIT RELEASE and ROLLBACK RELEASE do, and with
// completion_type=RELEASE each that does not say otherwise.
func (s *Session) releases() bool {
	j := &s.job
	if j.first != sqlscan.Commit && j.first != sqlscan.Rollback {
		return false
	}
	completion, _ := s.state.settings.get("completion_type")
	release := completion == "RELEASE"
	lex := sqlscan.NewLexer(j.sql(), s.state.mode)
	no := false
	for t := lex.Next(); t.Kind == sqlscan.TokenWord; t = lex.Next() {
		switch {
		case t.Is("to"): // ROLLBACK TO a savepoint
			return false
		case t.Is("release"):
			release = !no
		}
		no = t.Is("no")
	}
	return release
}

// failedHere notes an error that the proxy itself answered with.
func (s *Session) failedHere(e *wire.ServerError) {
	var b *backendConn
	if s.lease.Valid() {
		b = s.lease.Conn()
		b.intact = false
	}
	s.residue.known(b, leftDiagnostics)
	s.residue.counted(-1)
	s.residue.diagnostics = []condition{{level: "Error", code: e.Code, message: e.Message}}
}

// rowCount is what ROW_COUNT() gives after the command; changed is false for a command that leaves it alone.
func (j *job) rowCount(r *reply) (count int64, changed bool) {
	switch {
	case r.Failed != 0:
		return -1, true
	case j.shape == wire.ShapeResults && r.RowsLast:
		return -1, true
	case j.shape == wire.ShapeResults && j.first == sqlscan.Get:
		return 0, false
	case j.shape == wire.ShapeResults:
		return int64(r.OK.AffectedRows), true
	case j.code == wire.ComPing, j.code == wire.ComInitDB:
		return 0, true
	}
	return 0, false
}

// foundRowsRule is how a command changes FOUND_ROWS().
type foundRowsRule byte

const (
	foundRowsKept foundRowsRule = iota // as before
	foundRowsSent                      // the number of rows sent
	foundRowsStay                      // only the server knows
)

// foundRows is the rule for the command.
func (j *job) foundRows(r *reply) foundRowsRule {
	switch {
	case j.shape == wire.ShapeRows: // rows of a cursor
		return foundRowsStay
	case j.shape != wire.ShapeResults:
		return foundRowsKept
	case j.flags&sqlscan.MultiStatement != 0:
		if r.Failed != 0 && !r.hasStatus { // the first one failed
			return foundRowsKept
		}
		return foundRowsStay
	}
	switch j.first {
	case sqlscan.Select, sqlscan.With:
		switch {
		case r.Failed != 0 && !r.HasRows:
			return foundRowsKept
		case r.Failed != 0, !r.HasRows, j.flags&(sqlscan.CalcFoundRows|sqlscan.Combines) != 0, r.OK.Status&wire.StatusCursorExists != 0:
			return foundRowsStay
		}
		return foundRowsSent
	case sqlscan.Show:
		if r.Failed == 0 && showsTable(j.sql()) {
			return foundRowsSent
		}
	case sqlscan.Call, sqlscan.Execute, sqlscan.Describe, sqlscan.Desc, sqlscan.Explain, sqlscan.Analyze:
		return foundRowsStay
	case sqlscan.Insert, sqlscan.Replace, sqlscan.Delete:
		if j.flags&sqlscan.Combines != 0 { // rows of a SELECT, or several tables
			return foundRowsStay
		}
	case sqlscan.Update:
		if j.flags&sqlscan.Combines != 0 { // of several tables
			return foundRowsStay
		}
	case sqlscan.Set:
		if r.HasRows || j.flags&sqlscan.Combines != 0 { // SET STATEMENT, and a subquery
			return foundRowsStay
		}
	case sqlscan.Create:
		if j.flags&sqlscan.Combines != 0 {
			return foundRowsStay
		}
	}
	return foundRowsKept
}

// noteMultiTable marks an UPDATE or DELETE of several tables: it counts as a SELECT does.
func noteMultiTable(st *sqlscan.Statement, sql []byte, mode sqlscan.Mode) {
	lex := sqlscan.NewLexer(sql, mode)
	lex.Next()
	switch st.First {
	case sqlscan.Update: // UPDATE a, b SET …, UPDATE a JOIN b … SET …
		for t := lex.Next(); t.Kind != sqlscan.TokenEnd && !t.Is("set"); t = lex.Next() {
			if isPunct(t, ',') || t.Is("join") {
				st.Flags |= sqlscan.Combines
				return
			}
		}
	case sqlscan.Delete: // DELETE a FROM …, DELETE FROM a USING …
		t := lex.Next()
		for t.Is("low_priority") || t.Is("quick") || t.Is("ignore") {
			t = lex.Next()
		}
		if !t.Is("from") {
			st.Flags |= sqlscan.Combines
			return
		}
		for t = lex.Next(); t.Kind != sqlscan.TokenEnd && !t.Is("where") && !t.Is("order") && !t.Is("limit"); t = lex.Next() {
			if isPunct(t, ',') || t.Is("using") {
				st.Flags |= sqlscan.Combines
				return
			}
		}
	}
}

// clearsConditions reports whether a command that was right and raised nothing has cleared what SHOW WARNINGS tells of
// earlier ones: a statement that uses tables does. It is asked only when there is something to clear.
func (j *job) clearsConditions() bool {
	switch j.first {
	case sqlscan.Set, sqlscan.Do, sqlscan.Select, sqlscan.With, sqlscan.Values, sqlscan.Prepare, sqlscan.Execute:
		return j.readsTables()
	case sqlscan.Show:
		return j.code != wire.ComStmtPrepare && j.flags&sqlscan.Warnings == 0 && showsTable(j.sql()) // SHOW COUNT(*) WARNINGS leaves what it counts
	case sqlscan.Begin, sqlscan.Start, sqlscan.Commit, sqlscan.Rollback, sqlscan.Savepoint, sqlscan.Release, sqlscan.Use, sqlscan.Deallocate,
		sqlscan.Flush, sqlscan.Unlock, sqlscan.Kill, sqlscan.Get, sqlscan.XA, sqlscan.KeywordNone:
		return false
	}
	return true
}

// readsTables reports whether the text has a FROM of a table.
func (j *job) readsTables() bool {
	lex := sqlscan.NewLexer(j.sql(), 0)
	for t := lex.Next(); t.Kind != sqlscan.TokenEnd; t = lex.Next() {
		if t.Is("from") {
			return !lex.Next().Is("dual")
		}
	}
	return false
}

// showsTable reports whether a SHOW is answered from a table of the server's own, as most are: those count as SELECT does.
func showsTable(sql []byte) bool {
	lex := sqlscan.NewLexer(sql, 0)
	lex.Next() // SHOW
	for t := lex.Next(); t.Kind == sqlscan.TokenWord; t = lex.Next() {
		switch strings.ToLower(string(t.Text)) {
		case "full", "extended", "session", "global", "local", "storage":
		case "count", "columns", "fields", "status", "engines", "index", "indexes", "keys", "databases", "schemas", "open", "triggers", "events",
			"collation", "charset", "character", "plugins", "tables", "variables", "package":
			return true
		case "table", "procedure", "function":
			return lex.Next().Is("status")
		default:
			return false
		}
	}
	return false
}
