package proxy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/conntag/conntag/proxy/wire"
)

// internalTimeout bounds the proxy's own short commands on a backend connection: reset, replay, look-ups.
const internalTimeout = 10 * time.Second

// simpleCommand frames a command without arguments.
func simpleCommand(c wire.Command) []byte {
	return []byte{1, 0, 0, 0, byte(c)}
}

// textCommand frames a command with a text argument.
func textCommand(c wire.Command, text string) []byte {
	p := append([]byte{byte(c)}, text...)
	out, _ := wire.AppendPacket(make([]byte, 0, len(p)+wire.HeaderLen), 0, p)
	return out
}

func queryCommand(sql string) []byte { return textCommand(wire.ComQuery, sql) }

// exec sends framed commands in one write (on a compressed connection in one each) and reads one reply for each; servers read commands one after another, so
// several cost one round trip. The first ERR comes back as *wire.ServerError after all replies were read; what was
// reported of session state is ignored, since the caller asked for it.
func (b *backendConn) exec(timeout time.Duration, commands ...[]byte) error {
	_, err := b.query(timeout, commands...)
	return err
}

// query is exec that also returns the first row's first column of the last reply as text.
func (b *backendConn) query(timeout time.Duration, commands ...[]byte) (string, error) {
	if err := b.SetDeadline(time.Now().Add(timeout)); err != nil {
		return "", backendError(err)
	}
	writes := commands
	if b.zip == nil {
		writes = [][]byte{bytes.Join(commands, nil)}
	}
	for _, c := range writes {
		if _, err := b.Write(c); err != nil {
			return "", err
		}
	}
	var value string
	var failed error
	in := replyReader{b: b, buf: make([]byte, 0, 512)}
	for _, c := range commands {
		r := b.reply(wire.Command(c[wire.HeaderLen]).Shape(), 1)
		v, err := in.read(&r)
		if err != nil {
			return "", err
		}
		if r.Failed != 0 && failed == nil {
			failed = in.failure
		}
		value = v
	}
	if err := b.SetDeadline(time.Time{}); err != nil {
		return "", backendError(err)
	}
	return value, failed
}

// replyReader reads short replies whole.
type replyReader struct {
	b       *backendConn
	buf     []byte
	failure error  // the latest ERR
	state   []byte // what the latest OK reported of session state
	stmtID  uint32 // of a prepared statement
}

// read takes one reply off the connection and returns the first column of its first row.
func (in *replyReader) read(r *wire.Reply) (value string, err error) {
	off := 0
	for !r.Done() {
		n, ev := r.Next(in.buf[off:])
		off += n
		switch ev {
		case wire.EventMore:
			if err := in.fill(); err != nil {
				return "", err
			}
		case wire.EventErr:
			in.failure = backendError(wire.ParseErr(bytes.Clone(r.Packet(in.buf[:off]))))
		case wire.EventOK:
			in.state = bytes.Clone(r.OK.State)
		case wire.EventPrepared:
			in.stmtID = binary.LittleEndian.Uint32(r.Packet(in.buf[:off])[1:])
		case wire.EventBad, wire.EventInfile:
			return "", backendError(errMalformedReply)
		}
	}
	value = firstColumn(in.buf[:off])
	in.buf = append(in.buf[:0], in.buf[off:]...)
	return value, nil
}

func (in *replyReader) fill() error {
	if len(in.buf) == cap(in.buf) {
		in.buf = append(in.buf, make([]byte, cap(in.buf))...)[:len(in.buf)]
	}
	n, err := in.b.Read(in.buf[len(in.buf):cap(in.buf)])
	in.buf = in.buf[:len(in.buf)+n]
	if n > 0 {
		return nil
	}
	return err
}

// pendingState asks for the session-state changes that the server has noted and not yet told: they come with the
// next OK packet, and a ping is the cheapest way to one.
func (b *backendConn) pendingState() ([]byte, error) {
	if _, err := b.Write(simpleCommand(wire.ComPing)); err != nil {
		return nil, err
	}
	in := replyReader{b: b, buf: make([]byte, 0, 512)}
	r := b.reply(wire.ShapeOK, 1)
	_, err := in.read(&r)
	return in.state, err
}

// firstColumn digs the first value out of a text result set with one column: count, definition, EOF, row.
func firstColumn(reply []byte) string {
	for range 3 {
		if len(reply) < wire.HeaderLen {
			return ""
		}
		reply = reply[min(len(reply), wire.HeaderLen+wire.PayloadLen(reply)):]
	}
	if len(reply) <= wire.HeaderLen {
		return ""
	}
	return wire.FirstLenString(reply[wire.HeaderLen:])
}

// reset brings the connection back to the state after its login, trackers included. The current schema stays, by
// the protocol's rule. Everything the previous session left (transaction, locks, temporary tables, prepared
// statements) is gone.
func (b *backendConn) reset() error {
	if err := b.exec(internalTimeout, simpleCommand(wire.ComResetConnection), queryCommand(trackers)); err != nil {
		return fmt.Errorf("reset connection: %w", err)
	}
	b.settings, b.multi, b.lastID = nil, false, lastID{known: true}
	b.stmts.clear()
	return nil
}
