package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/conntag/conntag/proxy/wire"
)

// bufferSize holds nearly every command and most replies; streamSize is what a result gets once it turned out long.
const (
	bufferSize = 16 << 10
	streamSize = 64 << 10
)

var (
	buffers       = sync.Pool{New: func() any { return new([bufferSize]byte) }}
	streamBuffers = sync.Pool{New: func() any { return new([streamSize]byte) }}
)

// clientConn is the application's side of a session. Between commands it holds no buffer: it waits for readability
// and takes one then, so that an idle client costs its goroutine and its socket.
type clientConn struct {
	net.Conn
	raw       syscall.RawConn      // nil under TLS and compression, whose layers buffer by themselves
	socket    syscall.RawConn      // the plain socket, also under those
	zip       *wire.CompressedConn // over Conn; nil: not compressed
	encrypted bool
	counts    *trafficCounts
	source    atomic.Pointer[net.TCPAddr] // where a load balancer says that the client is; nil: it says nothing
	small     *[bufferSize]byte           // nil while parked
	in        []byte                      // the bytes read and not yet consumed are in[from:]
	from      int
	tryRd     func(fd uintptr) bool
	readN     int
	readE     error
	tryWr     func(fd uintptr) bool
	out       []byte
	wroteN    int
	wroteE    error
}

func newClientConn(conn net.Conn, counts *trafficCounts) *clientConn {
	c := &clientConn{Conn: conn, counts: counts}
	c.socket = socketOf(conn)
	c.raw = c.socket
	c.tryRd, c.tryWr = c.tryRead, c.tryWrite
	return c
}

// secure goes on over TLS.
func (c *clientConn) secure(conn net.Conn) { c.Conn, c.raw, c.encrypted = conn, nil, true }

// compress goes on in compressed frames if the login agreed on that.
func (c *clientConn) compress(login *wire.Login) {
	algorithm := login.Capabilities.Compression()
	if algorithm == wire.NoCompression {
		return
	}
	level := login.ZstdLevel
	if level == 0 {
		level = wire.DefaultZstdLevel
	}
	c.zip, c.raw = wire.NewCompressedConn(c.Conn, algorithm, level, true), nil
}

// stream is what packets are read from and written to.
func (c *clientConn) stream() net.Conn {
	if c.zip != nil {
		return c.zip
	}
	return c.Conn
}

// command is one command of a client's.
type command struct {
	framed  []byte // as it goes to the backend: headers and payload
	payload []byte // the command byte and what follows
	nextSeq byte   // number of the reply's first packet
}

func (c command) code() wire.Command { return wire.Command(c.payload[0]) }

// narrowed is the command with a payload that was made from its own, in place: it begins at that one's offset from.
func (c command) narrowed(from int, payload []byte) command {
	if len(c.framed) != wire.HeaderLen+len(c.payload) { // several packets
		c.framed, _ = wire.AppendPacket(make([]byte, 0, len(payload)+64), 0, payload)
		c.payload = payload
		return c
	}
	c.framed = c.framed[from : from+wire.HeaderLen+len(payload)]
	c.payload = c.framed[wire.HeaderLen:]
	wire.PutHeader(c.framed, len(payload), 0)
	return c
}

// readCommand waits for the next command, of at most limit bytes. The command is valid until the next call.
func (c *clientConn) readCommand(limit int) (command, error) {
	if c.from == len(c.in) {
		c.park()
	}
	if c.zip != nil {
		c.zip.Begin()
	}
	if err := c.need(wire.HeaderLen); err != nil {
		return command{}, err
	}
	size := wire.PayloadLen(c.in[c.from:])
	if size > limit {
		return command{}, clientError(wire.ErrPacketTooLarge)
	}
	if !c.numbered(0) {
		return command{}, clientError(wire.ErrSequence)
	}
	if err := c.need(wire.HeaderLen + size); err != nil {
		return command{}, noEOF(err)
	}
	framed := c.in[c.from : c.from+wire.HeaderLen+size]
	c.from += len(framed)
	if size == wire.MaxPayload {
		return c.readLong(framed[wire.HeaderLen:], limit)
	}
	if size == 0 { // servers read it as COM_SLEEP, and refuse that
		return command{payload: []byte{byte(wire.ComSleep)}, nextSeq: 1}, nil
	}
	return command{framed, framed[wire.HeaderLen:], c.replyNumber(1)}, nil
}

// replyNumber is the number of the first packet of a reply to so many packets, as the client counts.
func (c *clientConn) replyNumber(packets byte) byte {
	if c.zip != nil {
		return c.zip.Number()
	}
	return packets
}

// readLong puts a command of several packets together: what is read out of it must see it in one piece.
func (c *clientConn) readLong(first []byte, limit int) (command, error) {
	payload := append(make([]byte, 0, 2*len(first)), first...)
	for seq := byte(1); ; seq++ {
		if err := c.need(wire.HeaderLen); err != nil {
			return command{}, noEOF(err)
		}
		size := wire.PayloadLen(c.in[c.from:])
		switch {
		case len(payload)+size > limit:
			return command{}, clientError(wire.ErrPacketTooLarge)
		case !c.numbered(seq):
			return command{}, clientError(wire.ErrSequence)
		}
		if err := c.need(wire.HeaderLen + size); err != nil {
			return command{}, noEOF(err)
		}
		payload = append(payload, c.in[c.from+wire.HeaderLen:c.from+wire.HeaderLen+size]...)
		c.from += wire.HeaderLen + size
		if size < wire.MaxPayload {
			framed, next := wire.AppendPacket(make([]byte, 0, len(payload)+64), 0, payload)
			return command{framed, payload, c.replyNumber(next)}, nil
		}
	}
}

// numbered reports whether the next packet, whose header is there, has the number seq. In compressed frames the frames
// are numbered instead, and the packet gets the number that it should have.
func (c *clientConn) numbered(seq byte) bool {
	if c.zip != nil {
		c.in[c.from+3] = seq
	}
	return c.in[c.from+3] == seq
}

// need reads until n unconsumed bytes are there.
func (c *clientConn) need(n int) error {
	for len(c.in)-c.from < n {
		if err := c.fill(n); err != nil {
			return err
		}
	}
	return nil
}

// fill reads once, making room for n unconsumed bytes first.
func (c *clientConn) fill(n int) error {
	if c.small == nil {
		if c.raw != nil {
			return c.fillParked()
		}
		if c.zip != nil {
			if err := c.zip.Wait(); err != nil {
				return clientError(err)
			}
		}
		c.take()
	}
	if c.from > 0 && (cap(c.in)-c.from < n || c.from == len(c.in)) {
		c.in = c.in[:copy(c.in[:cap(c.in)], c.in[c.from:])]
		c.from = 0
	}
	if cap(c.in) < n {
		c.in = append(make([]byte, 0, n), c.in...)
	}
	k, err := c.stream().Read(c.in[len(c.in):cap(c.in)])
	return c.received(k, err)
}

// fillParked waits without a buffer and reads into a fresh one.
func (c *clientConn) fillParked() error {
	c.readN, c.readE = 0, nil // on a closed connection tryRead is not called at all
	err := c.raw.Read(c.tryRd)
	if err == nil {
		err = c.readE
	}
	return c.received(c.readN, err)
}

// tryRead is called by the poller, first at once and then whenever the socket may be readable.
func (c *clientConn) tryRead(fd uintptr) bool {
	c.take()
	for {
		c.readN, c.readE = syscall.Read(int(fd), c.small[:])
		if c.readE != syscall.EINTR {
			break
		}
	}
	if c.readN < 0 {
		c.readN = 0
	}
	if c.readE == syscall.EAGAIN {
		c.drop()
		return false
	}
	if c.readN == 0 && c.readE == nil {
		c.readE = io.EOF
	}
	return true
}

func (c *clientConn) received(n int, err error) error {
	c.in = c.in[:len(c.in)+n]
	c.counts.received.Add(uint64(n))
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return clientError(err)
}

func (c *clientConn) take() {
	c.small = buffers.Get().(*[bufferSize]byte)
	c.in, c.from = c.small[:0], 0
}

func (c *clientConn) drop() {
	buffers.Put(c.small)
	c.small, c.in, c.from = nil, nil, 0
}

// park gives the buffer back; there must be no unconsumed bytes.
func (c *clientConn) park() {
	if c.small != nil {
		c.drop()
	}
}

// writeNow sends as much of p as the socket takes without waiting; nothing under TLS and compression,
// whose layers can't tell.
func (c *clientConn) writeNow(p []byte) (n int, err error) {
	if c.raw == nil || len(p) == 0 {
		return 0, nil
	}
	c.out = p
	if err := c.raw.Write(c.tryWr); err != nil {
		return 0, clientError(err)
	}
	c.out = nil
	c.counts.sent.Add(uint64(c.wroteN))
	return c.wroteN, clientError(c.wroteE)
}

// tryWrite is called by the poller, once: it never asks to be called again.
func (c *clientConn) tryWrite(fd uintptr) bool {
	c.wroteN, c.wroteE = retryInterrupted(syscall.Write, fd, c.out)
	c.wroteN = max(c.wroteN, 0)
	if c.wroteE == syscall.EAGAIN {
		c.wroteE = nil
	}
	return true
}

func (c *clientConn) Write(p []byte) (int, error) {
	n, err := c.stream().Write(p)
	c.counts.sent.Add(uint64(n))
	return n, clientError(err)
}

// send writes one packet of our own as the reply's number seq.
func (c *clientConn) send(seq byte, payload []byte) error {
	out, _ := wire.AppendPacket(make([]byte, 0, wire.HeaderLen+len(payload)), seq, payload)
	_, err := c.Write(out)
	return err
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return clientError(io.ErrUnexpectedEOF)
	}
	return err
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
