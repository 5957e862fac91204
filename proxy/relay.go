package proxy

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/pool"
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
	// stmt is the executed prepared statement; nil for other commands.
	stmt *preparedStmt
}

// reply is one reply on its way to the client: bytes [sent:off] of buf are settled and not sent yet, [off:end] are
// read and not settled.
type reply struct {
	wire.Reply
	buf            []byte
	small          *[bufferSize]byte
	large          *[streamSize]byte
	sent, off, end int
	begun          bool // the client has part of it
	hasStatus      bool // an OK or EOF told the server's status
	bytes          int  // sent so far
	unexplained    bool // the server said that session state changed, without saying how
}

func (r *reply) take() {
	r.small = buffers.Get().(*[bufferSize]byte)
	r.buf = r.small[:]
}

func (r *reply) drop() {
	if r.small != nil {
		buffers.Put(r.small)
	}
	if r.large != nil {
		streamBuffers.Put(r.large)
	}
}

// exchange sends the session's job over its lease and passes the reply on. The last bytes of a reply are sent after
// the session has settled, so that the backend connection is free for others before the client even has its answer.
func (s *Session) exchange() error {
	j := &s.job
	b, err := s.acquire()
	if err != nil {
		return s.failAcquire(err)
	}
	if err := s.suit(b); err != nil {
		return s.lost(err, false)
	}
	s.meter.Enter(attribution.Executing, s.srv.now())
	r := &s.reply
	*r = reply{Reply: wire.NewReply(j.shape, j.nextSeq, true)}
	r.take()
	defer r.drop()
	if r.end, err = b.roundTrip(j.framed, r.buf); err != nil {
		return s.lost(err, false)
	}
	if err := s.relay(b, r); err != nil {
		if sideOf(err) == SideClient {
			s.dropLease() // the rest of the reply is still on the connection
			return err
		}
		return s.lost(err, r.begun)
	}
	s.settle(b, r)
	if r.sent < r.off {
		if _, err := s.client.Write(r.buf[r.sent:r.off]); err != nil {
			return err
		}
	}
	return nil
}

// relay reads the reply and sends all of it but the last part, which stays in r.
func (s *Session) relay(b *backendConn, r *reply) error {
	for !r.Done() {
		n, ev := r.Next(r.buf[r.off:r.end])
		r.off += n
		switch ev {
		case wire.EventMore:
			if err := s.more(b, r); err != nil {
				return err
			}
		case wire.EventOK:
			s.onOK(b, r)
		case wire.EventEOF:
			s.onEOF(r)
		case wire.EventPrepared:
			s.onPrepared(b, r.Packet(r.buf[:r.off]), &r.Reply)
		case wire.EventInfile:
			if err := s.sendFile(b, r); err != nil {
				return err
			}
		case wire.EventBad:
			return backendError(errMalformedReply)
		case wire.EventErr, wire.EventColumns, wire.EventEnd:
		}
	}
	if r.off < r.end {
		return backendError(errUnaskedReply)
	}
	return nil
}

// more reads on. What is settled goes to the client first when the buffer is nearly full, or when a whole result of
// several is there, which a client may wait for while the next one takes its time.
func (s *Session) more(b *backendConn, r *reply) error {
	resultDone := r.OK.Status&wire.StatusMoreResults != 0 && r.sent < r.off
	if resultDone || r.off-r.sent > len(r.buf)*3/4 || r.end == len(r.buf) && r.sent < r.off {
		if err := s.flush(r); err != nil {
			return err
		}
	}
	if r.end == len(r.buf) {
		r.grow()
	}
	n, err := b.Read(r.buf[r.end:])
	r.end += n
	if n > 0 {
		return nil
	}
	return err
}

// flush sends what is settled. The client may be slow; that time is the phase "sending".
func (s *Session) flush(r *reply) error {
	if r.sent == r.off {
		return nil
	}
	s.meter.Enter(attribution.Sending, s.srv.now())
	_, err := s.client.Write(r.buf[r.sent:r.off])
	s.meter.Enter(attribution.Executing, s.srv.now())
	r.begun = true
	r.bytes += r.off - r.sent
	r.end = copy(r.buf, r.buf[r.off:r.end])
	r.sent, r.off = 0, 0
	if err == nil && len(r.buf) == bufferSize && !r.Done() {
		r.stream()
	}
	return err
}

// stream takes a larger buffer: a reply that did not fit once is likely long.
func (r *reply) stream() {
	r.large = streamBuffers.Get().(*[streamSize]byte)
	copy(r.large[:], r.buf[:r.end])
	r.buf = r.large[:]
}

// grow makes room for a packet that must be seen whole and is larger than the buffer: an OK with many variables.
func (r *reply) grow() {
	buf := make([]byte, 2*len(r.buf))
	copy(buf, r.buf[:r.end])
	r.buf = buf
}

// onOK reads an OK packet and writes it anew as the client expects it, whose connection does not track.
func (s *Session) onOK(b *backendConn, r *reply) {
	r.hasStatus = true
	p := r.Packet(r.buf[:r.off])
	start := r.off - len(p)
	if len(r.OK.State) > 0 {
		s.track(b, r.OK.State, &r.unexplained)
	}
	if r.OK.InsertID != 0 || s.job.touchesInsertID() {
		s.insertID.lives(b, r.OK.InsertID)
	}
	if len(p) == 7 && r.OK.Status&wire.StatusSessionState == 0 {
		return
	}
	short := r.OK.AppendOK(p[:0])
	wire.PutHeader(r.buf[start-wire.HeaderLen:], len(short), r.Seq()-1)
	newOff := start + len(short)
	r.end = newOff + copy(r.buf[newOff:], r.buf[r.off:r.end])
	r.off = newOff
}

// onEOF hides that the backend's connection tracks. An EOF can say that state changed, but not which.
func (s *Session) onEOF(r *reply) {
	r.hasStatus = true
	if r.OK.Status&wire.StatusSessionState != 0 {
		p := r.Packet(r.buf[:r.off])
		binary.LittleEndian.PutUint16(p[3:], uint16(r.OK.Status&^wire.StatusSessionState))
		r.unexplained = true
	}
	if s.job.flags&sqlscan.LastInsertID != 0 {
		s.insertID.lives(s.lease.Conn(), 0)
	}
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
			s.insertID.lives(s.lease.Conn(), 0)
		} else {
			s.state.setVariable(name, string(e.Value))
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
	if j.stmt != nil {
		s.settleStmt(j.stmt, out)
	}
	if r.unexplained && !expected {
		s.state.pin(attribution.Unknown)
	}
	s.notePins()
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
	if r.unexplained && r.HasRows {
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

// askVariable reads a session variable from the connection and takes it over. A name that the server does not know
// was refused to the client, too.
func (s *Session) askVariable(b *backendConn, name string) error {
	value, err := b.query(internalTimeout, queryCommand("SELECT @@session.`"+name+"`"))
	if asServerError(err) != nil {
		return nil
	}
	if err == nil {
		s.state.setVariable(name, value)
		b.settings = s.state.settings
	}
	return err
}

// failAcquire tells the client why there is no backend connection; its own connection lives on.
func (s *Session) failAcquire(err error) error {
	if sideOf(err) == SideClient {
		return err
	}
	e := s.acquireError(err)
	class := attribution.ClassOf(e.Code)
	if errors.Is(err, pool.ErrWaitTimeout) {
		class = attribution.WaitTimeout
	}
	s.meter.Error(class)
	if s.job.shape == wire.ShapeNone {
		return nil
	}
	return s.sendError(s.job.nextSeq, e)
}

// lost handles a backend connection that broke under a command. The command may have run, so it is never sent again.
// A session that had state there can't go on, just as a direct client could not.
func (s *Session) lost(err error, begun bool) error {
	hadState := !s.state.atSafePoint()
	s.meter.Error(attribution.Gone)
	s.dropLease()
	e := errLostBackend
	if hadState {
		e = errLostWithState
	}
	if !begun && s.job.shape != wire.ShapeNone {
		if sendErr := s.sendError(s.job.nextSeq, e); sendErr != nil {
			return sendErr
		}
	}
	if hadState || begun {
		return err
	}
	s.log.Info("backend lost during a command", "session", s.id, "error", err)
	return nil
}

// sendFile passes the server's request for a file on to the client and the file's packets back, up to the empty one
// that ends it. No file of this machine is ever read.
func (s *Session) sendFile(b *backendConn, r *reply) error {
	if err := s.flush(r); err != nil {
		return err
	}
	s.meter.Enter(attribution.Sending, s.srv.now())
	seq, err := s.client.copyPackets(b)
	s.meter.Enter(attribution.Executing, s.srv.now())
	r.Resume(seq)
	return err
}

// copyPackets forwards packets up to and including an empty one, and returns the number of the next.
func (c *clientConn) copyPackets(b *backendConn) (next byte, err error) {
	for {
		if err := c.need(wire.HeaderLen); err != nil {
			return 0, noEOF(err)
		}
		size, seq := wire.PayloadLen(c.in[c.from:]), c.in[c.from+3]
		for left := wire.HeaderLen + size; left > 0; {
			if c.from == len(c.in) {
				if err := c.fill(1); err != nil {
					return 0, noEOF(err)
				}
			}
			k := min(left, len(c.in)-c.from)
			if _, err := b.Write(c.in[c.from : c.from+k]); err != nil {
				return 0, err
			}
			c.from += k
			left -= k
		}
		if size == 0 {
			return seq + 1, nil
		}
	}
}
