package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Compression is an algorithm for the frames of a compressed connection.
type Compression byte

// The algorithms. MariaDB knows zlib, MySQL from 8.0.18 on both.
const (
	NoCompression Compression = iota
	Zlib
	Zstd
)

// Compression is the algorithm that the capabilities of a login choose: zlib when both are wanted, as servers and
// clients alike decide.
func (c Capability) Compression() Compression {
	switch {
	case c.Has(Compress):
		return Zlib
	case c.Has(ZstdCompression):
		return Zstd
	}
	return NoCompression
}

// DefaultZstdLevel is the level of a client that has no wish.
const DefaultZstdLevel = 3

// ErrUncompress says that a frame's content is not what its header promised.
var ErrUncompress = errors.New("compressed packet does not uncompress")

var errTooLong = errors.New("content is longer than promised")

const (
	// frameHeaderLen: three bytes of length on the wire, the frame's number, three bytes of length of the content; 0 there
	// says that the content is stored as it is.
	frameHeaderLen = 7
	// minCompressed is servers' own threshold: what is shorter is stored.
	minCompressed = 50
	// maxChunk is the content of one frame of ours. The peer may send frames of up to 16 MiB.
	maxChunk = 64 << 10
)

// CompressedConn is a connection whose bytes travel in compressed frames once the login is over. Packets are content to
// it: a frame may hold several, or a part of one. It keeps no buffer between frames, and between two reads of one frame
// only its decoder, so memory does not depend on a frame's size; nothing is believed of a frame beyond the length that its header
// promises.
//
// Frames are numbered from 0 in every command, in both directions together. The numbers of the packets inside mean
// nothing: servers and the C clients set them back to the frames' count at every flush, and check only the latter.
// Source: dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_compression_packet.html, and net_flush in net_serv.cc.
type CompressedConn struct {
	net.Conn
	algorithm Compression
	level     byte
	server    bool
	in, out   byte // numbers of the next frame to read and to write
	ahead     [64]byte
	from, to  int       // bytes read ahead of the frame at hand are ahead[from:to]
	packed    int       // bytes of the frame at hand that are not read off the connection yet
	left      int       // bytes of its content that are not handed out yet
	inflater  *inflater // nil: the content is stored
	broken    error     // the connection's own error inside a frame, or what was wrong with one: it can't be gone on from
}

// NewCompressedConn goes on over conn in frames. The level is zstd's, for what we write. A server insists on the frames'
// numbers, a client does not: servers send errors before they have read everything.
func NewCompressedConn(conn net.Conn, algorithm Compression, level byte, server bool) *CompressedConn {
	return &CompressedConn{Conn: conn, algorithm: algorithm, level: level, server: server}
}

// Begin starts a new command: a client's before it is written, a server's before it is read.
func (c *CompressedConn) Begin() {
	c.in = 0
	if !c.server {
		c.out = 0
	}
}

// Number is the number of the next frame. Behind a command that was read, servers also count their reply's packets from it.
func (c *CompressedConn) Number() byte { return c.out }

// Wait returns when a frame is there to be read, or the rest of one. Until then it holds nothing but the few bytes in
// c, so that an idle connection costs no buffer. An error by a deadline leaves everything as it is.
func (c *CompressedConn) Wait() error {
	for c.left == 0 && c.to-c.from < frameHeaderLen {
		if c.broken != nil {
			return c.broken
		}
		c.to = copy(c.ahead[:], c.ahead[c.from:c.to])
		c.from = 0
		n, err := c.Conn.Read(c.ahead[c.to:])
		c.to += n
		if err != nil && c.to < frameHeaderLen {
			if c.to > 0 {
				err = noEOF(err)
			}
			return err
		}
	}
	return nil
}

// Read hands out content of one frame.
func (c *CompressedConn) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	for n == 0 && err == nil {
		switch {
		case c.broken != nil:
			return 0, c.broken
		case c.left == 0:
			err = c.nextFrame()
		default:
			n, err = c.content(p[:min(len(p), c.left)])
		}
	}
	return n, err
}

// nextFrame reads a header.
func (c *CompressedConn) nextFrame() error {
	if err := c.Wait(); err != nil {
		return err
	}
	header := c.ahead[c.from:]
	number, size := header[3], PayloadLen(header[4:])
	if c.server && number != c.in {
		c.broken = fmt.Errorf("%w: got frame %d, want %d", ErrSequence, number, c.in)
		return c.broken
	}
	c.packed, c.left = PayloadLen(header), size
	c.from += frameHeaderLen
	c.in = number + 1
	c.out = c.in
	if size == 0 {
		c.left = c.packed
		return nil
	}
	c.inflater = takeInflater(c.algorithm)
	if err := c.inflater.reset(packedReader{c}); err != nil {
		return c.fail(err)
	}
	return nil
}

// content reads at most len(p) bytes of the frame at hand, of which as many are left.
func (c *CompressedConn) content(p []byte) (n int, err error) {
	if c.inflater == nil {
		if n, err = (packedReader{c}).Read(p); err != nil {
			return n, c.fail(err)
		}
		c.left -= n
		return n, nil
	}
	n, err = c.inflater.Read(p)
	c.left -= n
	switch {
	case c.left == 0 && (err == nil || errors.Is(err, io.EOF)):
		return n, c.endFrame()
	case err != nil:
		return n, c.fail(err)
	}
	return n, nil
}

// endFrame makes sure that the content ends where it was said to, and skips what the frame has behind it.
func (c *CompressedConn) endFrame() error {
	n, err := io.ReadFull(c.inflater, c.inflater.more[:])
	switch {
	case n > 0:
		return c.fail(errTooLong)
	case !errors.Is(err, io.EOF):
		return c.fail(err)
	}
	if _, err := io.Copy(io.Discard, packedReader{c}); err != nil {
		return c.fail(err)
	}
	c.inflater.put()
	c.inflater = nil
	return nil
}

// fail ends all reading: with the connection's own error if there was one, else the content is at fault. An inflater in
// the middle of a frame is not used again.
func (c *CompressedConn) fail(why error) error {
	if c.broken == nil {
		c.broken = fmt.Errorf("%w: %v", ErrUncompress, why)
	}
	c.inflater = nil
	return c.broken
}

// Write sends p in as many frames as it takes. Pieces shorter than those that servers compress are stored, and those that would
// not get shorter.
func (c *CompressedConn) Write(p []byte) (n int, err error) {
	frame := frames.Get().(*[maxFrame]byte)
	defer frames.Put(frame)
	for n < len(p) {
		chunk := p[n:min(len(p), n+maxChunk)]
		out := appendFrame(frame[:0], chunk, c.out, c.algorithm, c.level)
		c.out++
		if _, err := c.Conn.Write(out); err != nil {
			return n, err
		}
		n += len(chunk)
	}
	c.in = c.out
	return n, nil
}

// packedReader reads what the frame at hand has on the wire, up to its end.
type packedReader struct{ c *CompressedConn }

func (r packedReader) Read(p []byte) (n int, err error) {
	c := r.c
	if c.packed == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), c.packed)]
	if c.from < c.to {
		n = copy(p, c.ahead[c.from:c.to])
		c.from += n
		c.packed -= n
		return n, nil
	}
	for n == 0 && err == nil {
		n, err = c.Conn.Read(p)
		// A server's deadlines wake it between commands. In the middle of a frame a decoder could not go on after
		// one, and there is a command on its way.
		if c.server && errors.Is(err, os.ErrDeadlineExceeded) {
			err = c.SetReadDeadline(time.Time{})
		}
	}
	c.packed -= n
	if n > 0 {
		return n, nil
	}
	c.broken = noEOF(err)
	return 0, c.broken
}

// putFrameHeader writes a header in front of a frame: packed bytes on the wire hold size bytes of content; size is 0
// when they are stored.
func putFrameHeader(header []byte, packed int, number byte, size int) {
	binary.LittleEndian.PutUint32(header, uint32(packed)|uint32(number)<<24)
	header[4], header[5], header[6] = byte(size), byte(size>>8), byte(size>>16)
}
