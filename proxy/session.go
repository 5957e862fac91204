package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy/wire"
)

type (
	backendPool = pool.Pool[kind, *backendConn]
	lease       = pool.Lease[kind, *backendConn]
)

// Session is one client connection from accept to close. One goroutine runs it; it holds at most one lease.
type Session struct {
	view     sessionView
	id       uint32
	srv      *Server
	client   *clientConn
	log      *slog.Logger
	login    loginState
	state    state
	prepared preparedStatements
	residue  *residue
	meter    attribution.Meter
	lease    lease
	prefer   pool.Ref // the backend connection it had last: what the last statement left may still be there
	job      job
	reply    reply
	killed   sync.Mutex // held while somebody kills its statement
}

// loginState is what the login fixed; COM_CHANGE_USER fixes it anew.
type loginState struct {
	user     *credential
	caps     wire.Capability
	kind     kind      // without bare
	settings *settings // what COM_RESET_CONNECTION goes back to
	fallback *attribution.Account
	salt     [wire.SaltLen]byte // of the greeting
}

// sessionView is the part of a session that others may read while it runs. What the sweep looks at comes first, so that
// for most sessions it touches one line of memory.
type sessionView struct {
	// moves grows with every command that arrives, every wait that ends and every part of a long result that is sent: a
	// session is where it was when it didn't.
	moves   atomic.Uint64
	backend atomic.Pointer[backendConn]
	// waitTimeout is the session's wait_timeout; 0 before the login.
	waitTimeout atomic.Int64
	mark        mark
	// expired is the value of moves at which the session was found idle for too long.
	expired    atomic.Uint64
	since      time.Time
	user       atomic.Pointer[string]
	schema     atomic.Pointer[string]
	pins       atomic.Uint32
	statements atomic.Uint64
}

// run serves the client until it quits, its connection breaks or the server drains. It owns the connection.
func (s *Session) run() {
	defer s.close()
	defer s.recoverPanic()
	if err := s.greet(); err != nil {
		s.endLogin(err)
		return
	}
	s.end(s.serve())
}

func (s *Session) serve() error {
	for {
		if s.srv.draining.Load() && !s.lease.Valid() {
			return nil
		}
		cmd, err := s.client.readCommand(s.srv.maxPacket())
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if err := s.woken(); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		case cmd.code() == wire.ComQuit:
			return nil
		}
		s.view.moves.Add(1)
		if err := s.dispatch(cmd); err != nil {
			return err
		}
	}
}

// end is where a session's error ends: the client hears of it if that helps, the log by its side.
func (s *Session) end(err error) {
	switch {
	case err == nil:
	case errors.Is(err, wire.ErrPacketTooLarge):
		_ = s.client.send(1, errPacketTooLarge.Append(nil))
	case errors.Is(err, wire.ErrSequence), errors.Is(err, wire.ErrMalformed):
		_ = s.client.send(1, errOutOfOrder.Append(nil))
	case sideOf(err) == SideClient && errors.Is(err, wire.ErrUncompress):
		_ = s.client.send(1, errUncompress.Append(nil))
	case sideOf(err) == SideClient && gone(err):
		s.log.Debug("client left", "session", s.id, "error", err)
	case errors.Is(err, errIdleTooLong):
		s.log.Info("session ended", "session", s.id, "error", err)
	default:
		s.log.Warn("session ended", "session", s.id, "side", sideOf(err).String(), "error", err)
	}
}

// recoverPanic turns a bug in one session into the end of that session.
func (s *Session) recoverPanic() {
	p := recover()
	if p == nil {
		return
	}
	s.srv.panics.Add(1)
	s.log.Error("session panicked", "session", s.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	if s.login.user != nil {
		_ = s.client.send(1, errInternal.Append(nil))
	}
	if s.lease.Valid() {
		s.lease.Discard()
	}
}

// close leaves nothing behind: the lease goes back, reset if anything of this session is on it.
func (s *Session) close() {
	s.residue.end()
	if s.lease.Valid() {
		s.returnLease()
	}
	s.leaveUser()
	s.meter.Close()
	_ = s.client.Close()
}

// returnLease gives the lease back when the session is not at a safe point: what it left must go first.
func (s *Session) returnLease() {
	b := s.lease.Conn()
	// A prepared XA branch is let go by a disconnect, not by a reset; and what nobody has seen may have changed the role.
	if s.state.pins&(1<<attribution.XA|1<<attribution.Procedure|1<<attribution.Unknown) != 0 {
		s.dropLease()
		return
	}
	s.meter.Enter(attribution.Preparing, s.srv.now())
	if err := b.reset(); err != nil {
		s.dropLease()
		return
	}
	b.settings = s.srv.freshSettings()
	s.forget()
	s.release()
}

func (s *Session) release() {
	s.prefer = s.lease.Ref()
	s.leave(s.lease.Conn())
	s.lease.Release()
}

// dropLease has the lease's connection closed: it broke, or is in the middle of something.
func (s *Session) dropLease() {
	b := s.lease.Conn()
	b.abandonTrace()
	s.leave(b)
	s.lease.Discard()
	s.forget()
}

// forget drops what lived on the backend connection that the session no longer has.
func (s *Session) forget() {
	s.state.forget()
	s.view.pins.Store(0)
}

// kind is the kind of backend connection that the session needs now.
func (s *Session) kind() kind {
	k := s.login.kind
	k.bare = s.state.schema == ""
	return k
}

func (s *Session) setSchema(name string) {
	s.state.schema = name
	s.view.schema.Store(&name)
	if s.lease.Valid() {
		s.lease.Conn().schema = name
		s.lease.SetKind(s.kind())
	}
}

// sendOK answers a command that needed no backend.
func (s *Session) sendOK(seq byte) error {
	ok := wire.OK{Status: s.lastingStatus()}
	return s.client.send(seq, ok.AppendOK(nil))
}

func (s *Session) sendError(seq byte, e *wire.ServerError) error {
	return s.client.send(seq, e.Append(nil))
}

// lastingStatus is the part of the status that describes the session rather than its last statement. What sql_mode shows there is
// read off the mode itself: the last statement may have had one of its own.
func (s *Session) lastingStatus() wire.Status {
	status := s.state.status & (wire.StatusAutocommit | wire.StatusInTrans | wire.StatusInTransReadonly)
	if s.state.mode&sqlscan.NoBackslashEscapes != 0 {
		status |= wire.StatusNoBackslashEscapes
	}
	if s.state.mode&sqlscan.AnsiQuotes != 0 && s.srv.backend.server.Load().isMariaDB() {
		status |= wire.StatusAnsiQuotes
	}
	return status
}
