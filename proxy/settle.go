package proxy

import (
	"math/bits"
	"slices"

	"github.com/conntag/conntag/attribution"
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
	case wire.TrackSystemVariable:
		if name := string(e.Name); name == "last_insert_id" || name == "identity" {
			s.residue.insertIDStays(s.lease.Conn(), 0)
		} else {
			s.state.setVariable(name, string(e.Value))
			s.noteWaitTimeout(name)
		}
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
	expected := false
	for i := range j.effects {
		expected = expected || j.effects[i].kind == effectOwnState
	}
	s.state.settle(j.effects, out)
	s.remember(b, r)
	if names := b.settings; names != s.state.settings { // user variables: others were tracked
		s.residue.stays(b, leftVariables)
		b.settings = s.state.settings
	}
	if j.stmt != nil {
		s.settleStmt(j.stmt, out)
	}
	if r.unexplained && !expected {
		s.state.pin(attribution.Unknown)
	}
	s.notePins()
	if endsConnection(r.Failed) || r.Failed == 0 && s.releases() {
		s.dropLease()
		return
	}
	if err := s.inquire(b, r); err != nil {
		s.log.Warn("backend lost after a reply", "session", s.id, "error", err)
		s.dropLease()
		return
	}
	s.rest()
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

// inquire asks the server what its trackers left open, while the session still has the connection: details behind
// an EOF's bare flag come with the next OK, and the connection's collation is never reported.
func (s *Session) inquire(b *backendConn, r *reply) error {
	if err := s.saveFromQuestions(b); err != nil {
		return err
	}
	if r.explained { // by a statement of the proxy's own
		b.intact = false
	} else if r.unexplained && r.HasRows {
		state, err := b.pendingState()
		if err != nil {
			return err
		}
		s.track(b, state, &r.unexplained)
	}
	for _, e := range s.job.effects {
		if e.kind == effectAsk {
			if err := s.askVariable(b, e.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// saveFromQuestions reads off the connection what a question to the server would overwrite there.
func (s *Session) saveFromQuestions(b *backendConn) error {
	if !b.has(s.residue, leftFoundRows) || !slices.ContainsFunc(s.job.effects, func(e effect) bool { return e.kind == effectAsk }) {
		return nil
	}
	return s.captureOwn(b)
}

// askVariable reads a session variable from the connection and takes it over. A name that the server does not know
// was refused to the client, too.
func (s *Session) askVariable(b *backendConn, name string) error {
	b.intact = false
	value, err := b.query(internalTimeout, queryCommand("SELECT @@session.`"+name+"` LIMIT 1"))
	if asServerError(err) != nil {
		return nil
	}
	if err == nil {
		s.state.setVariable(name, value)
		b.settings = s.state.settings
	}
	return err
}

// told is the part of the backend's session-state report that the client would have been told by the server itself.
func (s *Session) told(state []byte) []byte {
	if !s.login.caps.Has(wire.SessionTrack) {
		return nil
	}
	info := s.srv.backend.server.Load()
	return wire.FilterTracks(state, func(t wire.Track) bool {
		switch t.Kind {
		case wire.TrackSchema:
			return info.tracksSchema
		case wire.TrackSystemVariable:
			_, tracked := info.tracked[string(t.Name)]
			return tracked || info.tracksAll
		}
		return false
	})
}
