package wire

// Event is what Reply.Next stopped at.
type Event byte

// The events. For all but EventMore and EventBad, Reply.Packet gives the packet.
const (
	EventMore     Event = iota // the bytes behind n are no whole header, or a packet that must be seen whole
	EventBad                   // no reply looks like this: the peers have lost step
	EventOK                    // an OK packet; Reply.OK holds it
	EventEOF                   // an EOF packet, behind definitions or rows; Reply.OK holds status and warnings
	EventErr                   // an ERR packet
	EventInfile                // the server asks for a file of the client's: call Resume when it was sent
	EventPrepared              // the first packet of a prepared statement's answer
	EventColumns               // the column count that opens a result set
	EventEnd                   // the end of a reply without one of the above: a string
)

// Reply follows one reply on the wire and knows where it ends. It is pure: no I/O, no copy of any byte, and memory
// of one struct whatever the reply's size. It reads the protocol without DeprecateEOF; [Reply.Drop] and
// [OK.AppendEnd] turn what it reads into the protocol with it.
type Reply struct {
	// Renumber says that the packets' numbers are not those that the reader must see: Next writes them anew.
	Renumber bool
	OK       OK     // the latest OK or EOF
	HasRows  bool   // a result set was among the results
	RowsLast bool   // the last result was a result set
	Rows     uint64 // of the last result set, so far
	Failed   uint16 // code of the ERR that ended the reply; 0: none
	Params   uint16 // of a prepared statement
	Columns  uint16 // of a prepared statement
	Interim  bool   // the latest EOF is one that DeprecateEOF leaves out
	state    replyState
	shape    Shape
	tracked  bool
	long     bool   // the last packet was full: the next one continues it
	seq      byte   // as the server counts
	dropped  byte   // packets that the client did not get
	came     byte   // number that the latest packet came with, if they are written anew
	defs     uint64 // definitions still to come before an EOF
	skip     int    // bytes of the current packet that need no look
	lastSize int
}

type replyState byte

const (
	stateFirst replyState = iota
	stateDefs
	stateRows
	stateParamDefs // of a prepared statement; stateDefs follows
	stateEnded
)

// NewReply starts following a reply of the given shape. seq is the number of its first packet; tracked says
// whether the connection negotiated SessionTrack.
func NewReply(shape Shape, seq byte, tracked bool) Reply {
	r := Reply{shape: shape, seq: seq, tracked: tracked}
	switch shape {
	case ShapeNone:
		r.state = stateEnded
	case ShapeRows, ShapeFields:
		r.state = stateRows
	}
	return r
}

// Done reports whether the reply is complete, so that the server waits for the next command.
func (r *Reply) Done() bool { return r.state == stateEnded && r.skip == 0 && !r.long }

// Packet returns the payload of the packet that an event is about, given the n bytes that Next settled.
func (r *Reply) Packet(settled []byte) []byte { return settled[len(settled)-r.lastSize:] }

// Seq is the number of the next packet, as the client counts.
func (r *Reply) Seq() byte { return r.seq - r.dropped }

// Due is the number that the server gives the next packet, be it its own or one that it asked for.
func (r *Reply) Due() byte {
	if r.Renumber {
		return r.came + 1
	}
	return r.seq
}

// Resume goes on after LOCAL INFILE's content was sent; seq is the number of the next packet, as the client counts.
func (r *Reply) Resume(seq byte) { r.seq, r.state = seq+r.dropped, stateFirst }

// Next walks buf, whose first byte is the first unsettled one of the reply, and returns how many bytes are settled:
// they belong to the reply and may be passed on. It stops behind each packet that an event is about. An event that
// needs a packet's content comes only when buf holds it whole; until then Next asks for more.
func (r *Reply) Next(buf []byte) (n int, ev Event) {
	for {
		if r.skip > 0 {
			k := min(r.skip, len(buf)-n)
			n += k
			r.skip -= k
		}
		if r.Done() {
			r.lastSize = 0
			return n, EventEnd
		}
		packet := buf[n:]
		if r.skip > 0 || len(packet) < HeaderLen {
			return n, EventMore
		}
		size := PayloadLen(packet)
		if r.Renumber {
			r.came, packet[3] = packet[3], r.seq
		}
		if packet[3] != r.seq {
			return n, EventBad
		}
		if r.long {
			r.pass(packet, size)
			continue
		}
		if size == 0 {
			if r.state != stateRows {
				return n, EventBad
			}
			r.pass(packet, 0)
			continue
		}
		if len(packet) == HeaderLen {
			return n, EventMore
		}
		if r.passes(packet[HeaderLen], size) {
			r.pass(packet, size)
			continue
		}
		if len(packet) < HeaderLen+size {
			return n, EventMore
		}
		r.number(packet)
		r.lastSize = size
		return n + HeaderLen + size, r.look(packet[HeaderLen : HeaderLen+size])
	}
}

// pass lets the next packet through unseen.
func (r *Reply) pass(packet []byte, size int) {
	r.skip = HeaderLen + size
	r.long = size == MaxPayload
	r.number(packet)
}

// number counts a packet and gives it the number that its client expects.
func (r *Reply) number(packet []byte) {
	if r.dropped != 0 {
		packet[3] = r.seq - r.dropped
	}
	r.seq++
}

// passes decides by a packet's first byte and size whether its content matters, and counts definitions.
func (r *Reply) passes(first byte, size int) bool {
	switch r.state {
	case stateRows: // a row's first byte can be 0xfe only in front of a length of eight bytes
		if first != ErrHeader && (first != EOFHeader || size >= 9) {
			r.Rows++
			return true
		}
	case stateDefs, stateParamDefs:
		if r.defs > 0 && first != ErrHeader {
			r.defs--
			return true
		}
	case stateFirst:
		if r.shape == ShapeString && first != ErrHeader {
			r.state = stateEnded
			return true
		}
	}
	return false
}

// look reads a packet that decides how the reply goes on.
func (r *Reply) look(p []byte) Event {
	switch {
	case p[0] == ErrHeader:
		r.state = stateEnded
		r.Failed = max(1, ErrCode(p))
		return EventErr
	case r.state == stateFirst:
		return r.first(p)
	case p[0] == EOFHeader && len(p) == 5:
		r.eof(p)
		return EventEOF
	}
	return EventBad
}

// first reads the packet that opens a reply, or one more result of it.
func (r *Reply) first(p []byte) Event {
	switch {
	case r.shape == ShapePrepare:
		return r.prepared(p)
	case p[0] == OKHeader:
		ok, valid := ParseOK(p, r.tracked)
		if !valid {
			return EventBad
		}
		r.OK = ok
		r.RowsLast = false
		r.endResult()
		return EventOK
	case p[0] == EOFHeader && len(p) == 5 && r.shape == ShapeOK: // COM_SET_OPTION, COM_DEBUG
		r.eof(p)
		return EventEOF
	case r.shape != ShapeResults:
		return EventBad
	case p[0] == InfileHeader:
		return EventInfile
	}
	count := reader{p: p}
	r.defs = count.lenInt()
	if count.bad || r.defs == 0 {
		return EventBad
	}
	r.HasRows, r.RowsLast, r.Rows = true, true, 0
	r.state = stateDefs
	return EventColumns
}

func (r *Reply) prepared(p []byte) Event {
	f := reader{p: p}
	status := f.byte()
	f.uint32()
	r.Columns, r.Params = f.uint16(), f.uint16()
	switch {
	case f.bad || status != OKHeader:
		return EventBad
	case r.Params > 0:
		r.state, r.defs = stateParamDefs, uint64(r.Params)
	case r.Columns > 0:
		r.state, r.defs = stateDefs, uint64(r.Columns)
	default:
		r.state = stateEnded
	}
	return EventPrepared
}

// eof reads an EOF packet: what follows depends on what it ends.
func (r *Reply) eof(p []byte) {
	f := reader{p: p[1:]}
	r.OK = OK{Warnings: f.uint16(), Status: Status(f.uint16())}
	r.Interim = r.interim()
	switch {
	case r.state == stateParamDefs && r.Columns > 0:
		r.state, r.defs = stateDefs, uint64(r.Columns)
	case r.state == stateDefs && r.shape == ShapeResults && r.OK.Status&StatusCursorExists == 0:
		r.state = stateRows
	default: // rows are over, or a cursor keeps them on the server until COM_STMT_FETCH
		r.endResult()
	}
}

func (r *Reply) endResult() {
	r.state = stateEnded
	if r.shape == ShapeResults && r.OK.Status&StatusMoreResults != 0 {
		r.state = stateFirst
	}
}
