package proxy

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy/wire"
)

// staleRetries bounds how many dead backend connections one command may run into before its client hears of it.
const staleRetries = 3

// acquire makes sure that the session has a lease whose connection is in the session's state. Nothing of the
// client's command was sent yet, so a connection that turns out dead is replaced without the client noticing.
func (s *Session) acquire() (*backendConn, error) {
	if s.lease.Valid() {
		return s.lease.Conn(), nil
	}
	for try := 1; ; try++ {
		if err := s.lend(); err != nil {
			return nil, err
		}
		b := s.lease.Conn()
		err := s.prepare(b)
		if err == nil {
			s.view.backend.Store(b)
			return b, nil
		}
		s.dropLease()
		if server := (*wire.ServerError)(nil); errors.As(err, &server) || errors.Is(err, errVariablesLost) || try == staleRetries {
			return nil, err
		}
	}
}

// lend waits for a lease. A client that hangs up while it waits leaves the queue: see hangupWatch.
func (s *Session) lend() error {
	var ok bool
	if s.lease, ok = s.srv.pool.TryAcquire(s.kind(), &s.meter, s.prefer); ok {
		return nil
	}
	s.srv.hangups.add(s)
	var err error
	s.lease, err = s.srv.pool.Acquire(context.Background(), s.kind(), &s.meter, s.prefer)
	s.srv.hangups.remove(s)
	s.view.moves.Add(1)
	if errors.Is(err, pool.ErrWaitTimeout) {
		s.meter.TimedOut()
	}
	return err
}

var errClientGone = errors.New("client hung up while it waited for a backend connection")

// prepare replays what differs between the session and the connection: nothing, nearly always.
func (s *Session) prepare(b *backendConn) error {
	if b.owner != s.residue {
		if err := b.capture(); err != nil {
			return err
		}
	}
	if err := s.adoptVariables(b); err != nil {
		return err
	}
	if b.owner != s.residue && (b.soiled || b.settings.hasUserVarsBesides(s.state.settings)) {
		if err := b.reset(); err != nil { // a variable that was set to NULL is not quite as if it had never been set
			return err
		}
		b.settings = s.srv.freshSettings()
	}
	if b.settings == s.state.settings && b.schema == s.state.schema && b.role.now == s.state.role {
		return nil
	}
	return b.become(s.state.settings, s.state.schema, s.state.role)
}

// become puts the connection into a session's state: what differs, in one write.
func (b *backendConn) become(to *settings, schema, role string) error {
	var commands [][]byte
	b.intact = false
	if b.role.now != role {
		if b.role.login == "" { // the next session needs it
			name, err := b.currentRole()
			if err != nil {
				return err
			}
			b.role.login = name
		}
		commands = append(commands, queryCommand("SET ROLE "+b.role.wanted(role)))
	}
	if !b.settings.equal(to) {
		commands = append(commands, queryCommand(string(appendReplay(nil, b.settings, to))))
	}
	if b.schema != schema {
		commands = append(commands, textCommand(wire.ComInitDB, schema))
	}
	if len(commands) > 0 {
		if err := b.exec(internalTimeout, commands...); err != nil {
			return err
		}
	}
	b.settings, b.schema, b.role.now = to, schema, role
	return nil
}

// manyStatements are the marks of a text for which it matters whether several statements are allowed in it.
const manyStatements = sqlscan.MultiStatement | sqlscan.Trailing | sqlscan.Executable | sqlscan.Unterminated

// suit replays what only some statements can tell apart, and only for those: the multi-statement option and what the
// session's last statement left. answered is set when the client has its answer already.
func (s *Session) suit(b *backendConn) (answered bool, err error) {
	j := &s.job
	if j.suited {
		return false, nil
	}
	j.suited = true
	if j.flags&manyStatements != 0 && b.multi != s.state.multi {
		b.intact = false
		if err := b.exec(internalTimeout, setOption(s.state.multi)); err != nil {
			return false, err
		}
		b.multi = s.state.multi
	}
	if j.touchesInsertID() {
		if err := s.replayInsertID(b); err != nil {
			return false, err
		}
	}
	if j.effects != nil || j.flags&sqlscan.Trackers != 0 {
		if err := s.foresee(b); err != nil {
			return false, err
		}
	}
	if j.readsLast() {
		return s.recall(b)
	}
	return false, nil
}

// setOption frames COM_SET_OPTION, whose two values are 0 for several statements in one text and 1 for one.
func setOption(multi bool) []byte {
	p := []byte{3, 0, 0, 0, byte(wire.ComSetOption), 0, 0}
	if !multi {
		binary.LittleEndian.PutUint16(p[wire.HeaderLen+1:], 1)
	}
	return p
}

// rest gives the lease back at a safe point, or says in which phase it is kept.
func (s *Session) rest() {
	switch {
	case !s.lease.Valid():
	case s.state.atSafePoint():
		s.release()
	case s.state.inTrans || s.state.doubt:
		s.meter.Enter(attribution.IdleInTransaction, s.srv.now())
	default:
		s.meter.Enter(attribution.Pinned, s.srv.now())
	}
}
