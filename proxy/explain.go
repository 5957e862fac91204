package proxy

import (
	"encoding/binary"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// explain asks for the details behind an EOF's bare flag before the reply's last packet goes out: the flag may be there only
// because more is tracked here than the client asked for, and a client that tracks, and knows no EOF, is told the details
// there. What a result before the last one changed is told in the last one.
func (s *Session) explain(b *backendConn, r *reply) {
	if !r.late || s.job.flags&sqlscan.Trackers != 0 {
		return
	}
	state, err := s.fetchLate(b, r)
	if err != nil {
		return // the reply is whole; settle asks again, and finds the connection lost
	}
	if !r.RowsLast || r.Failed != 0 {
		return
	}
	told := wire.FilterTracks(state, s.chosenTrackers().tells)
	if len(told) == 0 {
		s.unflag(r)
		return
	}
	if !s.login.caps.Has(wire.DeprecateEOF | wire.SessionTrack) {
		return
	}
	start := r.off - wire.EOFLen - wire.EndGrowth
	ok := r.OK
	ok.State = told
	packet := ok.AppendEnd(nil)
	for start+len(packet) > len(r.buf) {
		r.grow()
	}
	wire.PutHeader(r.buf[start-wire.HeaderLen:], len(packet), r.Seq()-1)
	r.off = start + copy(r.buf[start:], packet)
	r.end = r.off
}

// unflag takes the word that state has changed out of the reply's last packet.
func (s *Session) unflag(r *reply) {
	at := r.off - 2 // an EOF ends with the status
	if s.login.caps.Has(wire.DeprecateEOF) {
		at -= 2 // an OK has the warnings behind it
	}
	r.OK.Status &^= wire.StatusSessionState
	binary.LittleEndian.PutUint16(r.buf[at:], uint16(r.OK.Status))
}
