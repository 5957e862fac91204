package proxy

import (
	"encoding/binary"
	"errors"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy/wire"
)

// exchange sends the session's job over its lease and passes the reply on.
func (s *Session) exchange() error {
	j := &s.job
	b, err := s.acquire()
	if err != nil {
		return s.failAcquire(err)
	}
	if err := s.suit(b); errors.Is(err, errKillAlone) {
		err = s.refuse(errKillAlone)
		s.rest()
		return err
	} else if err != nil {
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
	// What the socket takes at once goes out first: a released connection wakes its next session, which would have to
	// wait for this processor until the write is done. A client that is slow holds nothing up.
	tail := r.buf[r.sent:r.off]
	n, err := s.client.writeNow(tail)
	s.settle(b, r)
	if err == nil && n < len(tail) {
		_, err = s.client.Write(tail[n:])
	}
	if err == nil && endsConnection(r.Failed) {
		return backendError(errBackendEnded)
	}
	return err
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

// onOK reads an OK packet. If it tells of session state, it is written anew: the backend's connection tracks everything,
// the client's only what it asked for.
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
	if r.OK.Status&wire.StatusSessionState == 0 {
		return // as any server would send it
	}
	r.OK.State = s.told(r.OK.State)
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
		r.late = true
	}
	if s.job.flags&sqlscan.LastInsertID != 0 {
		s.insertID.lives(s.lease.Conn(), 0)
	}
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
