package proxy

import (
	"sync"
	"time"

	"github.com/conntag/conntag/attribution"
)

// sweepInterval is how often all sessions are looked at. A look at ten thousand idle ones takes 0.3 ms, a thousandth of
// a processor.
const sweepInterval = 250 * time.Millisecond

// stuckAfter is for clients that take nothing of a result and don't leave, for want of a network perhaps. Servers give
// them up after net_write_timeout, which they count by what we take, and close the connection; this is how long a client
// may take for a few ten kilobytes after that.
const stuckAfter = 5 * time.Second

// sweep looks after sessions whose own goroutine can't: it waits for the backend while the client dies, or for the client
// while the backend closes the connection that the session holds, or while the client outstays its wait_timeout. What
// it needs to know is what snapshots need, so that a statement pays nothing for it.
type sweep struct {
	srv       *Server
	list      []*Session           // scratch
	abandoned []abandonedStatement // found and not yet handed on
	killing   chan struct{}        // holds a token while a goroutine kills
	stop      chan struct{}
	work      sync.WaitGroup
}

// mark is what the sweep saw of a session when it last looked. Only the sweep touches it.
type mark struct {
	moves  uint64
	since  time.Duration // moves has not changed since then
	busy   time.Duration // when it last had a backend connection or waited for one
	killAt time.Duration // not before then again
}

func (w *sweep) start(s *Server) {
	w.srv, w.stop, w.killing = s, make(chan struct{}), make(chan struct{}, 1)
	w.work.Go(w.run)
}

// close ends the sweep and waits for it.
func (w *sweep) close() {
	close(w.stop)
	w.work.Wait()
}

func (w *sweep) run() {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		w.once()
	}
}

func (w *sweep) once() {
	now := w.srv.now()
	w.list = w.srv.sessions.appendAll(w.list[:0])
	for _, s := range w.list {
		w.look(s, now)
	}
	clear(w.list) // a scratch slice must not keep a finished session alive
	if len(w.abandoned) == 0 {
		return
	}
	select {
	case w.killing <- struct{}{}:
		list := w.abandoned
		w.abandoned = nil
		w.work.Go(func() {
			w.srv.killAbandoned(list)
			<-w.killing
		})
	default: // they are found again
		w.abandoned = nil
	}
}

func (w *sweep) look(s *Session, now time.Duration) {
	m := &s.view.mark
	if moves := s.view.moves.Load(); moves != m.moves {
		*m = mark{moves: moves, since: now}
		return
	}
	b := s.view.backend.Load()
	switch {
	case b == busyKilling:
		m.busy = now
	case b != nil:
		m.busy = now
		w.lookAtHold(s, b, now)
	default:
		w.lookAtIdle(s, now)
	}
}

// lookAtHold is for a session with a backend connection.
func (w *sweep) lookAtHold(s *Session, b *backendConn, now time.Duration) {
	m := &s.view.mark
	standing := s.meter.Standing(now)
	switch {
	case !standing.Holding:
	case standing.Phase == attribution.Executing:
		if now-m.since >= abandonedAfter && now >= m.killAt && hungUp(s.client.socket) {
			m.killAt = now + killAgainAfter
			w.abandoned = append(w.abandoned, abandonedStatement{s, m.moves})
		}
	case standing.Phase == attribution.Sending:
		if now-m.since >= stuckAfter && hungUp(b.socket) {
			_ = s.client.Close()
		}
	case standing.Phase == attribution.IdleInTransaction, standing.Phase == attribution.Pinned:
		if hungUp(b.socket) {
			s.wake()
		}
	}
}

// lookAtIdle is for a session without a backend connection: its client is not heard of, or it waits in the queue.
func (w *sweep) lookAtIdle(s *Session, now time.Duration) {
	m := &s.view.mark
	limit := time.Duration(s.view.waitTimeout.Load())
	if limit == 0 || now-max(m.since, m.busy) < limit {
		return
	}
	if standing := s.meter.Standing(now); standing.Waiting || standing.Holding {
		m.busy = now
		return
	}
	s.view.expired.Store(m.moves)
	s.wake()
}

// wake cuts the session's wait for its client's next command short; see woken.
func (s *Session) wake() { _ = s.client.SetReadDeadline(time.Unix(1, 0)) }
