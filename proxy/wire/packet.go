package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// HeaderLen is the length of a packet's header: three bytes of payload length and one of sequence number.
const HeaderLen = 4

// MaxPayload is the longest payload of one packet. A payload of exactly this length, or a multiple of it, is
// followed by a further packet, empty if need be.
const MaxPayload = 1<<24 - 1

var (
	// ErrPacketTooLarge says that a logical packet exceeds the limit given to the reader.
	ErrPacketTooLarge = errors.New("packet is larger than allowed")
	// ErrSequence says that a packet's number is not the next one: the peers have lost step.
	ErrSequence = errors.New("packets out of order")
	// ErrMalformed says that a message ends before its fields do, or holds a value that it must not.
	ErrMalformed = errors.New("malformed packet")
)

// PayloadLen reads the payload length out of a header; header must hold at least three bytes.
func PayloadLen(header []byte) int {
	return int(header[0]) | int(header[1])<<8 | int(header[2])<<16
}

// PutHeader writes a header in front of a payload of n bytes.
func PutHeader(header []byte, n int, seq byte) {
	binary.LittleEndian.PutUint32(header, uint32(n)|uint32(seq)<<24)
}

// AppendPacket frames payload, in as many packets as it takes, and returns the next sequence number.
func AppendPacket(dst []byte, seq byte, payload []byte) ([]byte, byte) {
	for {
		n := min(len(payload), MaxPayload)
		dst = append(dst, byte(n), byte(n>>8), byte(n>>16), seq)
		dst = append(dst, payload[:n]...)
		payload = payload[n:]
		seq++
		if n < MaxPayload {
			return dst, seq
		}
	}
}

// PacketsIn is how many packets a framed message of n bytes is.
func PacketsIn(n int) int { return n/(HeaderLen+MaxPayload) + 1 }

// Conn reads and writes whole packets, for the login and for the proxy's own short commands. It reads not one
// byte beyond the packet asked for, so that the connection can be handed to the relay at any packet's edge.
type Conn struct {
	net.Conn
	Seq byte // number of the next packet, either direction
	buf []byte
}

// Begin starts a new command.
func (c *Conn) Begin() {
	c.Seq = 0
	if framed, ok := c.Conn.(*CompressedConn); ok {
		framed.Begin()
	}
}

// ReadPacket returns the payload of the next logical packet, at most limit bytes. It is valid until the next call.
func (c *Conn) ReadPacket(limit int) ([]byte, error) {
	var header [HeaderLen]byte
	_, framed := c.Conn.(*CompressedConn) // which counts frames instead
	c.buf = c.buf[:0]
	for {
		if _, err := io.ReadFull(c.Conn, header[:]); err != nil {
			if len(c.buf) > 0 {
				err = noEOF(err)
			}
			return nil, err
		}
		n := PayloadLen(header[:])
		if len(c.buf)+n > limit {
			return nil, fmt.Errorf("%w: over %d bytes", ErrPacketTooLarge, limit)
		}
		if header[3] != c.Seq && !framed {
			return nil, fmt.Errorf("%w: got number %d, want %d", ErrSequence, header[3], c.Seq)
		}
		c.Seq++
		start := len(c.buf)
		c.buf = append(c.buf, make([]byte, n)...)
		if _, err := io.ReadFull(c.Conn, c.buf[start:]); err != nil {
			return nil, noEOF(err)
		}
		if n < MaxPayload {
			return c.buf, nil
		}
	}
}

// WritePacket sends one logical packet.
func (c *Conn) WritePacket(payload []byte) error {
	var out []byte
	out, c.Seq = AppendPacket(make([]byte, 0, HeaderLen+len(payload)), c.Seq, payload)
	_, err := c.Write(out)
	return err
}

// noEOF turns an end inside a packet into what it is: an unexpected one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
