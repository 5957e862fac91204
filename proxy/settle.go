package proxy

import (
	"math/bits"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// track takes over what the server reports of its session: it is the authority on it.
func (s *Session) track(b *backendConn, state []byte, unexplained *bool) {
	t := wire.NewTracks(state)
	for {
		e, ok := t.Next()
		if !ok {
			break
		}
		s.tracked(e, unexplained)
	}
	b.settings = s.state.settings
}

func (s *Session) tracked(e wire.Track, unexplained *bool) {
	switch e.Kind {
	case wire.TrackSchema:
		s.setSchema(string(e.Value))
		s.state.releaseVariable("character_set_database") // it follows the schema
		s.state.releaseVariable("collation_database")
	case wire.TrackSystemVariable:
		if name := string(e.Name); name == "last_insert_id" || name == "identity" {
			s.residue.insertIDStays(s.lease.Conn(), 0)
		} else {
			s.setVariable(name, string(e.Value))
			s.noteWaitTimeout(name)
		}
	case wire.TrackTransaction:
		s.state.held.next, s.state.held.nextTold = string(e.Value), s.lease.Conn().tellsNext
	case wire.TrackStateChange:
		*unexplained = true
	}
}

// settle ends a command: session state moves on, and the lease goes back if nothing holds it.
func (s *Session) settle(b *backendConn, r *reply) {
	j := &s.job
	s.meter.AddBytes(uint64(len(j.framed)), uint64(r.bytes+r.off-r.sent))
	out := outcome{status: r.OK.Status, hasStatus: r.hasStatus, code: r.Failed, noTables: j.noTables()}
	if r.Failed != 0 {
		s.meter.Error(attribution.ClassOf(r.Failed))
	}
	if endsConnection(r.Failed) || r.Failed == 0 && s.releases() {
		s.dropLease()
		return
	}
	if err := s.settleState(b, r, out); err != nil {
		s.log.Warn("backend lost after a reply", "session", s.id, "error", err)
		s.dropLease()
		return
	}
	s.notePins()
	s.rest()
}

// settleState moves session state on.
func (s *Session) settleState(b *backendConn, r *reply, out outcome) error {
	j := &s.job
	if err := s.hearOut(b, r); err != nil {
		return err
	}
	expected := false
	for i := range j.effects {
		expected = expected || j.effects[i].kind == effectOwnState
	}
	s.state.settle(j.effects, out)
	s.remember(b, r)
	if b.settings != s.state.settings { // user variables: others were tracked
		s.residue.stays(b, leftVariables)
		b.settings = s.state.settings
	}
	if j.stmt != nil {
		s.settleStmt(j.stmt, out)
	}
	if r.unexplained && !expected {
		r.suspect = s.state.pins&(1<<attribution.Unknown) == 0
		s.state.pin(attribution.Unknown)
	}
	if j.effects == nil && j.flags&sqlscan.Trackers == 0 && !s.state.inDoubt() && !b.tellsNext && !r.clock {
		return nil
	}
	return s.inquire(b, r, out)
}

// notePins counts the pins that have begun since the last call and shows which there are.
func (s *Session) notePins() {
	before := pinSet(s.view.pins.Load())
	if s.state.pins == before {
		return
	}
	for begun := s.state.pins &^ before; begun != 0; begun &= begun - 1 {
		s.meter.Pin(attribution.PinReason(bits.TrailingZeros32(uint32(begun))))
	}
	s.view.pins.Store(uint32(s.state.pins))
}

// told is the part of the backend's session-state report that the client would have been told by the server itself.
func (s *Session) told(state []byte) []byte {
	if !s.login.caps.Has(wire.SessionTrack) {
		return nil
	}
	if s.job.flags&sqlscan.Trackers != 0 { // the trackers are the client's own now
		return state
	}
	return wire.FilterTracks(state, s.chosenTrackers().tells)
}
