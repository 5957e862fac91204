package proxy

import (
	"encoding/binary"
	"errors"

	"github.com/conntag/conntag/attribution"
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
	if answered, err := s.suit(b); errors.Is(err, errKillAlone) {
		err = s.refuse(errKillAlone)
		s.rest()
		return err
	} else if err != nil {
		return s.lost(err, false)
	} else if answered {
		return nil
	}
	if j.rewritten != nil && j.code == wire.ComQuery {
		j.framed = textCommand(wire.ComQuery, string(j.rewritten))
	}
	s.meter.Enter(attribution.Executing, s.srv.now())
	r := &s.reply
	*r = reply{Reply: b.reply(j.shape, j.nextSeq)}
	if byte(wire.PacketsIn(len(j.framed))) != j.nextSeq { // the client counts what it sent
		r.Renumber = true
	}
	r.take()
	defer r.drop()
	if r.end, err = b.roundTrip(j.framed, r.room()); err != nil {
		return s.lost(err, false)
	}
	if err := s.relay(b, r); err != nil {
		if sideOf(err) == SideClient {
			s.abandon() // the rest of the reply is still on the connection
			return err
		}
		return s.lost(err, r.begun)
	}
	s.explain(b, r)
	// What the socket takes at once goes out first: a released connection wakes its next session, which would have to
	// wait for this processor until the write is done. A client that is slow holds nothing up.
	tail := r.buf[r.sent:r.off]
	if j.processList && r.Failed == 0 {
		tail = s.inClientTerms(tail)
	}
	n, err := s.client.writeNow(tail)
	s.settle(b, r)
	if err == nil && n < len(tail) {
		_, err = s.client.Write(tail[n:])
	}
	switch {
	case err != nil:
	case endsConnection(r.Failed):
		return backendError(errBackendEnded)
	case r.Failed == 0 && s.releases():
		return clientError(errReleased)
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
			s.onEOF(b, r)
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
	full := r.off-r.sent > len(r.buf)*3/4 || len(r.room()) == 0 && r.sent < r.off
	if (resultDone || full) && !s.job.processList {
		if err := s.flush(r); err != nil {
			return err
		}
	}
	if len(r.room()) == 0 {
		r.grow()
	}
	n, err := b.Read(r.room())
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
	s.view.moves.Add(1)
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
	r.warned = r.warned || r.OK.Warnings != 0
	p := r.Packet(r.buf[:r.off])
	start := r.off - len(p)
	if len(r.OK.State) > 0 {
		s.track(b, r.OK.State, &r.unexplained)
	}
	if r.OK.InsertID != 0 || s.job.touchesInsertID() {
		s.residue.insertIDStays(b, r.OK.InsertID)
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

// onEOF reads an EOF packet, which can say that session state changed, but not which. It says so to a client that does not
// track, too, so it goes out as it came.
func (s *Session) onEOF(b *backendConn, r *reply) {
	r.hasStatus = true
	r.warned = r.warned || r.OK.Warnings != 0
	if r.OK.Status&wire.StatusSessionState != 0 {
		r.late = true
		if b.tellsNext || s.job.ownSettings() { // only because more is tracked here than the client asked for
			r.OK.Status &^= wire.StatusSessionState
			binary.LittleEndian.PutUint16(r.Packet(r.buf[:r.off])[3:], uint16(r.OK.Status))
		}
	}
	if s.job.touchesInsertID() { // an INSERT that returns rows, too
		s.residue.insertIDStays(b, 0)
	}
	if s.login.caps.Has(wire.DeprecateEOF) {
		r.translateEOF()
	}
}

// failAcquire tells the client why there is no backend connection; its own connection lives on.
func (s *Session) failAcquire(err error) error {
	if sideOf(err) == SideClient {
		return err
	}
	if errors.Is(err, errVariablesLost) {
		s.meter.Error(attribution.Gone)
		return errors.Join(backendError(err), s.sendError(s.job.nextSeq, errLostWithState))
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
	hadState := !s.state.atSafePoint() || s.lease.Conn().has(s.residue, leftVariables)
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
