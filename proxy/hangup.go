package proxy

import (
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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
			if hungUp(s.client.socket) {
				s.srv.pool.Abandon(&s.meter, clientError(errClientGone))
			}
		}
		w.mu.Unlock()
	}
}

// socketOf is the socket under conn; nil when conn is none.
func socketOf(conn net.Conn) syscall.RawConn {
	if sc, ok := conn.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

// hungUp reports whether the peer has closed its connection or half of it. It looks and does not wait. Bytes that it sent
// ahead, such as COM_QUIT or a TLS alert, don't hide the end behind them.
func hungUp(socket syscall.RawConn) bool {
	if socket == nil {
		return false
	}
	gone := false
	err := socket.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd), Events: peerClosed}}
		n, err := unix.Poll(look, 0)
		gone = err == nil && n > 0 && look[0].Revents&(peerClosed|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil
}
