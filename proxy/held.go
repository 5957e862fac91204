package proxy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/conntag/conntag/attribution"
)

// held names what pins, so that a pin ends when its cause does.
type held struct {
	tables      map[string]struct{} // temporary, as schema.name
	tablesDoubt bool                // a statement failed that may have dropped some of them
	texts       map[string]*preparedText
	locks       map[string]struct{} // user locks that may be held, by name as its literal was spelled
	locksOther  bool                // user locks whose names are not known
	locksDoubt  bool                // a lock function ran since the server was asked which are held
	locked      tableLocks
	handlers    map[string]string   // the open ones' tables, by alias
	xa          string              // the xid as it was spelled
	procedure   bool                // a procedure ran whose body is not known to leave nothing
	variables   map[string]string   // session variables whose value can't be put onto another connection
	cursors     map[uint32]struct{} // client's statement ids
	longData    map[uint32]struct{} // client's statement ids
	// next is what the server says that it will begin the next transaction with; it is told only while
	// nextTold is set.
	next     string
	nextTold bool
}

// inDoubt reports whether the server has to be asked what is still held.
func (s *state) inDoubt() bool {
	return s.held.locksDoubt || s.held.tablesDoubt || s.pins&(1<<attribution.SessionVariable) != 0
}

// apply takes over an effect that has happened, or may have.
func (s *state) apply(e effect) {
	h := &s.held
	switch e.kind {
	case effectPin:
		s.pin(e.reason)
	case effectCreateTemp:
		h.tables = add(h.tables, s.qualified(e.name))
		s.pin(attribution.TempTable)
	case effectDropTable:
		s.dropTable(e)
	case effectRenameTable:
		s.renameTable(e)
	case effectChangeTable:
		s.closeHandlersOf(s.qualified(e.name))
	case effectPrepare:
		if h.texts == nil {
			h.texts = map[string]*preparedText{}
		}
		h.texts[e.name] = e.text
		s.pin(attribution.PreparedStmt)
	case effectDeallocate:
		s.deallocate(e.name)
	case effectGetLock, effectReleaseLock, effectReleaseAll:
		s.applyLock(e)
	case effectLock:
		h.locked |= e.locks
		s.pin(attribution.TablesLocked)
	case effectUnlock:
		h.locked &^= e.locks
		s.pinWhile(attribution.TablesLocked, h.locked != 0)
	case effectHandlerOpen:
		if h.handlers == nil {
			h.handlers = map[string]string{}
		}
		h.handlers[e.to] = s.qualified(e.name)
		s.pin(attribution.Handler)
	case effectHandlerUse:
		if e.end {
			s.closeHandler(e.to)
		}
	case effectXABegin:
		h.xa = e.name
		s.pin(attribution.XA)
	case effectXAEnd:
		s.unpin(attribution.XA)
	case effectUserVar:
		s.settings = s.settings.with(e.name, unresolvedValue)
		if s.settings.userVars() > maxUserVars {
			s.pin(attribution.UserVariable)
		}
	case effectSavepoint:
		if !s.inTrans && !s.autocommit() { // its OK carries no in-transaction flag, yet ROLLBACK TO needs it
			s.pin(attribution.Savepoint)
		}
	case effectEndTrx:
		s.unpin(attribution.Savepoint)
	case effectNextTrx:
		s.pin(attribution.NextTransaction)
	case effectCall:
		s.pin(attribution.Procedure)
	case effectExecute, effectExecuteVariable, effectRole, effectResults, effectOwnState, effectAsk, effectKill, effectRead, effectLate:
		// looked at before the command, or while its reply came in
	}
}

// The errors that tell something of what is held.
const (
	codeUnknownTable   = 1051
	codeUnknownHandler = 1109
	codeXAUnknown      = 1397
	codeXAErr          = 1401
	codeXARolledBack   = 1402
	codeXATimeout      = 1613
	codeXADeadlock     = 1614
)

// applyFailed takes over what an effect's statement did although, or because, it failed.
func (s *state) applyFailed(e effect, code uint16) {
	switch e.kind {
	case effectPrepare: // a text that does not parse is no longer what the name stands for, either
		if !e.text.doubtful {
			s.deallocate(e.name)
		}
	case effectDropTable: // the tables that are there are dropped although another one is not
		if code == codeUnknownTable && e.alone {
			s.dropTable(e)
		}
		s.held.tablesDoubt = len(s.held.tables) > 0
	case effectHandlerUse:
		if code == codeUnknownHandler { // closed by the server, since its table was changed
			s.closeHandler(e.to)
		}
	case effectXAEnd:
		switch code {
		case codeXARolledBack, codeXATimeout, codeXADeadlock, codeXAErr:
			s.unpin(attribution.XA)
		case codeXAUnknown:
			if e.name == s.held.xa {
				s.unpin(attribution.XA)
			}
		}
	}
}

// settleNext ends the pin of a one-shot SET TRANSACTION when a transaction has used it up, or has ended with it.
func (s *state) settleNext() {
	if s.held.nextTold && s.held.next == "" {
		s.unpin(attribution.NextTransaction)
	}
}

func (s *state) deallocate(name string) {
	delete(s.held.texts, name)
	s.pinWhile(attribution.PreparedStmt, len(s.held.texts) > 0)
}

func (s *state) dropTable(e effect) {
	name := s.qualified(e.name)
	delete(s.held.tables, name)
	s.pinWhile(attribution.TempTable, len(s.held.tables) > 0)
	s.closeHandlersOf(name)
}

func (s *state) renameTable(e effect) {
	from := s.qualified(e.name)
	s.closeHandlersOf(from)
	if _, temporary := s.held.tables[from]; temporary {
		delete(s.held.tables, from)
		s.held.tables[s.qualified(e.to)] = struct{}{}
	}
}

func (s *state) closeHandler(alias string) {
	delete(s.held.handlers, alias)
	s.pinWhile(attribution.Handler, len(s.held.handlers) > 0)
}

func (s *state) closeHandlersOf(table string) {
	for alias, t := range s.held.handlers {
		if t == table {
			s.closeHandler(alias)
		}
	}
}

// applyLock notes the names that the server is asked about afterwards: GET_LOCK may have failed, and a lock taken twice is
// held until it is released twice.
func (s *state) applyLock(e effect) {
	h := &s.held
	switch {
	case e.kind == effectReleaseAll:
		h.locks, h.locksOther = nil, false
	case e.kind == effectGetLock && e.name == "":
		h.locksOther = true
	case e.kind == effectGetLock:
		h.locks = add(h.locks, e.name)
	}
	h.locksDoubt = len(h.locks) > 0
	s.pinWhile(attribution.UserLock, h.locksOther || len(h.locks) > 0)
}

// askedLocks are the names of the user locks that may be held, in order.
func (s *state) askedLocks() []string { return slices.Sorted(maps.Keys(s.held.locks)) }

// lockIs takes over whether a user lock is held.
func (s *state) lockIs(name string, isHeld bool) {
	if !isHeld {
		delete(s.held.locks, name)
	}
	s.pinWhile(attribution.UserLock, s.held.locksOther || len(s.held.locks) > 0)
}

func (s *state) qualified(name string) string {
	if strings.HasPrefix(name, ".") {
		return s.schema + name
	}
	return name
}

// pinVariable keeps the pin of session variables that can't be put onto another connection; it reports whether this
// one with this value is so.
func (s *state) pinVariable(name, value string) bool {
	if restorable(name, value) {
		s.releaseVariable(name)
		return false
	}
	s.holdVariable(name, value)
	return true
}

func (s *state) holdVariable(name, value string) {
	if s.held.variables == nil {
		s.held.variables = map[string]string{}
	}
	s.held.variables[name] = value
	s.pin(attribution.SessionVariable)
}

func (s *state) releaseVariable(name string) {
	if _, held := s.held.variables[name]; held {
		delete(s.held.variables, name)
		s.pinWhile(attribution.SessionVariable, len(s.held.variables) > 0)
	}
}

// isConnectionID reports whether a value of pseudo_thread_id is the connection's own id.
func (b *backendConn) isConnectionID(value string) bool {
	return value == strconv.FormatUint(uint64(b.id), 10)
}

func add[K comparable](set map[K]struct{}, k K) map[K]struct{} {
	if set == nil {
		set = map[K]struct{}{}
	}
	set[k] = struct{}{}
	return set
}
