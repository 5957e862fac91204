package proxy

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

// hangupInterval is how soon a client that hangs up while it waits for a backend connection leaves the queue.
const hangupInterval = 100 * time.Millisecond

// hangupWatch looks after the clients whose sessions wait in the pool's queue: a session's own goroutine sleeps there
// and can't see its client leave. One look in a while at all of them costs less than a watcher for each wait, and
// most waits are over before the first look.
type hangupWatch struct {
	mu      sync.Mutex
	waiting map[*Session]struct{}
	stop    chan struct{}
	worker  sync.WaitGroup
}

func (w *hangupWatch) start() {
	w.waiting = map[*Session]struct{}{}
	w.stop = make(chan struct{})
	w.worker.Go(w.run)
}

// close ends the watch and waits for it.
func (w *hangupWatch) close() {
	close(w.stop)
	w.worker.Wait()
}

func (w *hangupWatch) add(s *Session) {
	w.mu.Lock()
	w.waiting[s] = struct{}{}
	w.mu.Unlock()
}

func (w *hangupWatch) remove(s *Session) {
	w.mu.Lock()
	delete(w.waiting, s)
	w.mu.Unlock()
}

func (w *hangupWatch) run() {
	tick := time.NewTicker(hangupInterval)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		// The pool's lock is taken under this one, never the other way round. Under it, since then s is still in the
		// wait that it was looked at in.
		w.mu.Lock()
		for s := range w.waiting {
			if s.client.hungUp() {
				s.srv.pool.Abandon(&s.meter, clientError(errClientGone))
			}
		}
		w.mu.Unlock()
	}
}

// hungUp reports whether the client has closed its connection. It looks and does not wait; bytes that a client
// sent ahead mean that it is alive.
func (c *clientConn) hungUp() bool {
	if c.socket == nil {
		return false
	}
	gone := false
	err := c.socket.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = n == 0 && err == nil || err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	})
	return gone || err != nil
}
