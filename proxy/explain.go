package proxy

import (
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// explain asks for the details behind an EOF's bare flag before the reply's last packet goes out, for a client that a server
// would tell them there. What a result before the last one changed is told in the last one.
func (s *Session) explain(b *backendConn, r *reply) {
	if !r.late || !s.login.caps.Has(wire.DeprecateEOF|wire.SessionTrack) || s.job.flags&sqlscan.Trackers != 0 {
		return
	}
	state, err := s.fetchLate(b, r)
	if err != nil {
		return // the reply is whole; settle asks again, and finds the connection lost
	}
	told := s.told(state)
	if len(told) == 0 || !r.RowsLast || r.Failed != 0 {
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
