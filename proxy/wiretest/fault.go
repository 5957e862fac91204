package wiretest

import (
	"errors"
	"net"
	"sync"
)

// ErrCut is what a Fault's Write returns once the connection was cut.
var ErrCut = errors.New("connection cut on cue")

// Fault is a connection that breaks on cue. The zero value, around a connection, breaks nothing. One goroutine may
// write to it.
type Fault struct {
	net.Conn
	// Piece sends writes in pieces of at most so many bytes, each in a packet of its own on the network; 0: whole.
	Piece int

	mu    sync.Mutex
	armed bool
	left  int
	stall <-chan struct{} // nil: cut instead
	reset bool
}

// CutAfter closes the connection once n more bytes were written. With reset the peer sees ECONNRESET, else an end.
func (f *Fault) CutAfter(n int, reset bool) { f.arm(n, nil, reset) }

// StallAfter sends n more bytes and then blocks until released is closed.
func (f *Fault) StallAfter(n int, released <-chan struct{}) { f.arm(n, released, false) }

func (f *Fault) arm(n int, stall <-chan struct{}, reset bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed, f.left, f.stall, f.reset = true, n, stall, reset
}

// Write sends p as far as the cue allows.
func (f *Fault) Write(p []byte) (n int, err error) {
	for n < len(p) || len(p) == 0 {
		k, breaks := f.allow(len(p) - n)
		if k > 0 || len(p) == 0 {
			w, err := f.Conn.Write(p[n : n+k])
			n += w
			if err != nil || len(p) == 0 {
				return n, err
			}
		}
		if breaks {
			if err := f.snap(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// allow says how many of n bytes may be written now, and whether the cue comes right behind them.
func (f *Fault) allow(n int) (k int, breaks bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Piece > 0 {
		n = min(n, f.Piece)
	}
	if !f.armed {
		return n, false
	}
	k = min(n, f.left)
	f.left -= k
	return k, f.left == 0
}

// snap does what was armed: an error for a cut, nil after a stall.
func (f *Fault) snap() error {
	f.mu.Lock()
	stall, reset := f.stall, f.reset
	f.armed = false
	f.mu.Unlock()
	if stall != nil {
		<-stall
		return nil
	}
	f.Cut(reset)
	return ErrCut
}

// Cut closes the connection now.
func (f *Fault) Cut(reset bool) {
	if tcp, ok := f.Conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // the close below decides
	}
	_ = f.Conn.Close()
}
