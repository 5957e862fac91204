package proxy

import (
	"slices"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// job is one command on its way to the backend and what is known of it.
type job struct {
	code    wire.Command
	framed  []byte
	payload []byte // as the client sent it, command byte included
	nextSeq byte
	shape   wire.Shape
	first   sqlscan.Keyword
	flags   sqlscan.Flags
	effects []effect
	suited  bool // the connection was made to suit it
	// rewritten is the text to run in place of the client's, where that reads values that only the proxy knows; nil: as it is.
	rewritten []byte
	// processList says that the reply lists the server's connections, and is put into the clients' terms.
	processList bool
	// stmt is the executed prepared statement; nil for other commands.
	stmt *preparedStmt
}

// noTables reports whether the command is sure not to have begun a transaction by touching a table.
func (j *job) noTables() bool {
	return j.first == sqlscan.Use || j.first == sqlscan.Set && j.flags&sqlscan.MultiStatement == 0 &&
		!slices.ContainsFunc(j.effects, func(e effect) bool { return e.kind == effectRead })
}

// touchesInsertID reports whether the command may read LAST_INSERT_ID() or change it.
func (j *job) touchesInsertID() bool {
	switch j.first {
	case sqlscan.Insert, sqlscan.Replace, sqlscan.Load, sqlscan.Call, sqlscan.Execute:
		return true
	}
	return j.flags&(sqlscan.LastInsertID|sqlscan.MultiStatement) != 0
}

// ownSettings reports whether the statement has settings of its own, as SET STATEMENT does, and NOWAIT: the server changes the
// lock timeouts for it.
func (j *job) ownSettings() bool {
	if j.first == sqlscan.Set {
		return true
	}
	lex := sqlscan.NewLexer(j.sql(), 0)
	for t := lex.Next(); t.Kind != sqlscan.TokenEnd; t = lex.Next() {
		if t.Is("nowait") || t.Is("wait") {
			return true
		}
	}
	return false
}

// readsLast reports whether the command reads what the last statement left, LAST_INSERT_ID() aside.
func (j *job) readsLast() bool {
	return j.flags&(sqlscan.RowCount|sqlscan.FoundRows|sqlscan.Warnings) != 0
}

// sql is the statement's text; nil for commands that have none.
func (j *job) sql() []byte {
	switch {
	case j.stmt != nil:
		return []byte(j.stmt.text)
	case j.code == wire.ComQuery, j.code == wire.ComStmtPrepare:
		return j.payload[1:]
	}
	return nil
}
