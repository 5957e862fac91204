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
	pins     pinSet
	inTrans  bool
	// doubt is set when an ERR leaves open whether a transaction began: an ERR carries no status, and with
	// autocommit off a failed statement may have opened one.
	doubt bool
	held  held
	// trackers are what the client has chosen with SET session_track_…; nil: what the server gives a new session.
	trackers *sessionTrackers
	role     string // as SET ROLE takes it; empty: the login's
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
		} else {
			s.applyFailed(e, out.code)
		}
	}
	if !s.inTrans && s.autocommit() { // a savepoint needs a transaction to be in, or to come
		s.unpin(attribution.Savepoint)
	}
	s.settleNext()
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
	if s.pinVariable(name, value) {
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
	s.pins, s.inTrans, s.doubt = 0, false, false
	s.held = held{}
}
