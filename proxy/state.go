package proxy

import (
	"math/bits"
	"strings"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// pinSet is a set of pin reasons.
type pinSet uint32

// words names the reasons in the set.
func (p pinSet) words() []string {
	var words []string
	for rest := p; rest != 0; rest &= rest - 1 {
		words = append(words, attribution.PinReason(bits.TrailingZeros32(uint32(rest))).String())
	}
	return words
}

// state is what the client's session is, apart from the backend connection it may have at the moment. Everything in
// it is a value that can be put onto another connection, except what pins says.
type state struct {
	schema   string
	settings *settings
	multi    bool // several statements in one text are allowed
	status   wire.Status
	mode     sqlscan.Mode
	userVars bool // the command reads a user variable that was never set
	pins     pinSet
	inTrans  bool
	// doubt is set when an ERR leaves open whether a transaction began: an ERR carries no status, and with
	// autocommit off a failed statement may have opened one.
	doubt bool
	// next is a one-shot SET TRANSACTION: it is used up by the transaction that begins after it.
	next, nextBegun bool
	held            held
	ownThreadID     bool // the client has set pseudo_thread_id, which CONNECTION_ID() gives, too
}

// held names what pins, so that a pin ends when its cause does.
type held struct {
	tables     map[string]struct{} // temporary, as schema.name
	texts      map[string]struct{} // prepared by SQL
	locks      map[string]int      // user locks: an upper bound of how often each is held
	locksOther bool                // user locks whose names are not known
	cursors    map[uint32]struct{} // client's statement ids
	longData   map[uint32]struct{} // client's statement ids
}

// atSafePoint reports whether nothing binds the session to its backend connection.
func (s *state) atSafePoint() bool { return !s.inTrans && !s.doubt && s.pins == 0 }

func (s *state) autocommit() bool { return s.status&wire.StatusAutocommit != 0 }

func (s *state) pin(r attribution.PinReason)   { s.pins |= 1 << r }
func (s *state) unpin(r attribution.PinReason) { s.pins &^= 1 << r }

// pinWhile pins for r exactly as long as held is true.
func (s *state) pinWhile(r attribution.PinReason, held bool) {
	if held {
		s.pin(r)
	} else {
		s.unpin(r)
	}
}

// outcome is how a command ended, as far as session state goes.
type outcome struct {
	status    wire.Status // of the last OK or EOF
	hasStatus bool
	code      uint16 // of the ERR that ended it; 0: none
	noTables  bool   // the command can't have touched a table
}

const codeDeadlock = 1213

// settle is the one transition of session state: a command with the given effects has ended.
func (s *state) settle(effects []effect, out outcome) {
	if out.hasStatus {
		s.status = out.status
		s.inTrans = out.status&wire.StatusInTrans != 0
		s.doubt = false
	}
	switch {
	case out.code == codeDeadlock: // rolled back whole by the server: nothing is held any more
		s.inTrans, s.doubt = false, false
		s.unpin(attribution.Savepoint)
	case out.code != 0 && !s.inTrans && !s.autocommit() && !out.noTables:
		s.doubt = true
	}
	for _, e := range effects {
		if out.code == 0 || e.whether {
			s.apply(e)
		}
	}
	s.settleNext()
}

// settleNext ends the pin of a one-shot SET TRANSACTION once a transaction has begun and ended since.
func (s *state) settleNext() {
	switch {
	case !s.next:
	case s.inTrans:
		s.nextBegun = true
	case s.nextBegun:
		s.next, s.nextBegun = false, false
		s.unpin(attribution.NextTransaction)
	}
}

func (s *state) apply(e effect) {
	switch e.kind {
	case effectPin:
		s.pin(e.reason)
	case effectUnpin:
		s.unpin(e.reason)
	case effectCreateTemp:
		s.held.tables = add(s.held.tables, s.qualified(e.name))
		s.pin(attribution.TempTable)
	case effectDropTable:
		delete(s.held.tables, s.qualified(e.name))
		s.pinWhile(attribution.TempTable, len(s.held.tables) > 0)
	case effectPrepare:
		s.held.texts = add(s.held.texts, e.name)
		s.pin(attribution.PreparedStmt)
	case effectDeallocate:
		delete(s.held.texts, e.name)
		s.pinWhile(attribution.PreparedStmt, len(s.held.texts) > 0)
	case effectGetLock, effectReleaseLock, effectReleaseAll:
		s.applyLock(e)
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
		s.next, s.nextBegun = true, false
		s.pin(attribution.NextTransaction)
	case effectOwnState, effectAsk, effectKill, effectRead: // looked at while the reply came in
	}
}

// applyLock keeps an upper bound of what is held: GET_LOCK may have failed, RELEASE_LOCK takes one off if there is one.
func (s *state) applyLock(e effect) {
	switch {
	case e.kind == effectReleaseAll:
		s.held.locks, s.held.locksOther = nil, false
	case e.kind == effectGetLock && e.name == "":
		s.held.locksOther = true
	case e.kind == effectGetLock:
		if s.held.locks == nil {
			s.held.locks = map[string]int{}
		}
		s.held.locks[e.name]++
	case s.held.locks[e.name] > 1:
		s.held.locks[e.name]--
	default:
		delete(s.held.locks, e.name)
	}
	s.pinWhile(attribution.UserLock, s.held.locksOther || len(s.held.locks) > 0)
}

func (s *state) qualified(name string) string {
	if strings.HasPrefix(name, ".") {
		return s.schema + name
	}
	return name
}

func add[K comparable](set map[K]struct{}, k K) map[K]struct{} {
	if set == nil {
		set = map[K]struct{}{}
	}
	set[k] = struct{}{}
	return set
}

// openCursor and closeCursor keep the pin of server-side cursors; the same pair for long data.
func (s *state) openCursor(id uint32) {
	s.held.cursors = add(s.held.cursors, id)
	s.pin(attribution.Cursor)
}

func (s *state) closeCursor(id uint32) {
	delete(s.held.cursors, id)
	s.pinWhile(attribution.Cursor, len(s.held.cursors) > 0)
}

func (s *state) sentLongData(id uint32) {
	s.held.longData = add(s.held.longData, id)
	s.pin(attribution.LongData)
}

func (s *state) usedLongData(id uint32) {
	delete(s.held.longData, id)
	s.pinWhile(attribution.LongData, len(s.held.longData) > 0)
}

// setVariable notes a session variable's new value, as the server reported it.
func (s *state) setVariable(name, value string) {
	if !restorable(name, value) {
		s.ownThreadID = s.ownThreadID || name == "pseudo_thread_id"
		s.pin(attribution.SessionVariable)
		return
	}
	if name == "autocommit" { // the trackers say ON, SELECT says 1
		switch value {
		case "1":
			value = "ON"
		case "0":
			value = "OFF"
		}
	}
	if old, ok := s.settings.get(name); ok && old == value {
		return
	}
	s.settings = s.settings.with(name, value)
	if name == "sql_mode" {
		s.mode = modeOf(value)
	}
}

// modeOf reads the two modes that change how text is read out of a sql_mode.
func modeOf(sqlMode string) (m sqlscan.Mode) {
	for word := range strings.SplitSeq(sqlMode, ",") {
		switch word {
		case "ANSI_QUOTES":
			m |= sqlscan.AnsiQuotes
		case "NO_BACKSLASH_ESCAPES":
			m |= sqlscan.NoBackslashEscapes
		}
	}
	return m
}

// forget drops everything that lived on a backend connection, after a reset or with the connection itself.
func (s *state) forget() {
	s.pins, s.inTrans, s.doubt, s.next, s.nextBegun = 0, false, false, false, false
	s.held = held{}
}
