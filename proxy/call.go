package proxy

import (
	"errors"
	"io"
	"syscall"
)

// call is a command on its way out and the first bytes of its reply on their way in.
type call struct {
	out, in  []byte
	sent     int
	received int
	err      error
	try      func(fd uintptr) bool // tryCall as a value, made once
}

// roundTrip sends a command and waits for the first bytes of the reply.
//
// A plain Write and Read would try the read at once, in vain, before they wait: the database has only just heard of the
// command. Go's poller must be told to forget earlier readiness before a wait, and only then; RawConn.Read does
// that and then calls back, so the write is done from inside the callback, and the wait that follows misses nothing.
func (b *backendConn) roundTrip(command, in []byte) (n int, err error) {
	if b.raw == nil {
		if _, err := b.Write(command); err != nil {
			return 0, err
		}
		return b.Read(in)
	}
	c := &b.call
	c.out, c.in, c.sent, c.received, c.err = command, in, 0, 0, nil
	if err := b.raw.Read(c.try); err != nil {
		return 0, backendError(err)
	}
	b.counts.sent.Add(uint64(c.sent))
	b.counts.received.Add(uint64(c.received))
	if c.err != nil || c.received > 0 {
		return c.received, backendError(c.err)
	}
	// The socket did not take the whole command: the rest goes the ordinary way.
	if _, err := b.Write(command[c.sent:]); err != nil {
		return 0, err
	}
	return b.Read(in)
}

// tryCall is called by the poller: first at once, then when the socket may be readable.
func (b *backendConn) tryCall(fd uintptr) (done bool) {
	c := &b.call
	if c.sent == 0 {
		n, err := retryInterrupted(syscall.Write, fd, c.out)
		if err == nil || errors.Is(err, syscall.EAGAIN) {
			c.sent = max(n, 0)
			return c.sent < len(c.out)
		}
		c.err = err
		return true
	}
	n, err := retryInterrupted(syscall.Read, fd, c.in)
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return false
	case err != nil:
		c.err = err
	case n == 0:
		c.err = io.EOF
	default:
		c.received = n
	}
	return true
}

func retryInterrupted(do func(int, []byte) (int, error), fd uintptr, p []byte) (int, error) {
	for {
		n, err := do(int(fd), p)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
