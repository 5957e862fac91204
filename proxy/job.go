package proxy

import (
	"slices"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// job is one command on its way to the backend and what is known of it.
type job struct {
	framed  []byte
	nextSeq byte
	shape   wire.Shape
	first   sqlscan.Keyword
	flags   sqlscan.Flags
	effects []effect
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
