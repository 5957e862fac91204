package proxy

import (
	"slices"

	"github.com/conntag/conntag/proxy/wire"
)

// firstSessionID keeps the ids that clients know apart from the server's own, which begin at 1: a number means one
// connection, wherever it was seen. It has ten digits, as the server says that CONNECTION_ID() has.
const firstSessionID = 1_000_000_001

// withOwnID is a command with a text, in which CONNECTION_ID() and @@pseudo_thread_id give the session's id, the one of
// its greeting. A text that would grow over a packet's end stays as it is.
func (s *Session) withOwnID(cmd command) command {
	if _, own := s.state.held.variables["pseudo_thread_id"]; own { // and it is pinned to the connection that knows it
		return cmd
	}
	payload, changed := answer(slices.Clone(cmd.payload[:1]), cmd.payload[1:], s.state.mode, func(k known, _ int) (int64, bool) {
		return int64(s.id), k == knownConnectionID || k == knownThreadID
	})
	if !changed || len(payload) >= wire.MaxPayload {
		return cmd
	}
	cmd.framed, cmd.nextSeq = wire.AppendPacket(make([]byte, 0, wire.HeaderLen+len(payload)), 0, payload)
	cmd.payload = cmd.framed[wire.HeaderLen:]
	return cmd
}
