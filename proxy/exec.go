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
	results, err := b.ask(timeout, commands...)
	if len(results) == 0 {
		return "", err
	}
	return results[len(results)-1].text(0), err
}

// sendAll writes framed commands, in one write where that is possible: several commands in one compressed frame would
// confuse the server's numbering.
func (b *backendConn) sendAll(commands [][]byte) error {
	if b.zip == nil {
		commands = [][]byte{bytes.Join(commands, nil)}
	}
	for _, c := range commands {
		if _, err := b.Write(c); err != nil {
			return err
		}
	}
	return nil
}

// replyReader reads short replies whole.
type replyReader struct {
	b       *backendConn
	buf     []byte
	off     int    // the end of the latest reply
	failure error  // the latest ERR
	state   []byte // what the latest OK reported of session state
	stmtID  uint32 // of a prepared statement
}

// read takes one reply off the connection and returns it, good until next.
func (in *replyReader) read(r *wire.Reply) (raw []byte, err error) {
	off := 0
	for !r.Done() {
		n, ev := r.Next(in.buf[off:])
		off += n
		switch ev {
		case wire.EventMore:
			if err := in.fill(); err != nil {
				return nil, err
			}
		case wire.EventErr:
			in.failure = backendError(wire.ParseErr(bytes.Clone(r.Packet(in.buf[:off]))))
		case wire.EventOK:
			in.state = bytes.Clone(r.OK.State)
		case wire.EventPrepared:
			in.stmtID = binary.LittleEndian.Uint32(r.Packet(in.buf[:off])[1:])
		case wire.EventBad, wire.EventInfile:
			return nil, backendError(errMalformedReply)
		}
	}
	in.off = off
	return in.buf[:off], nil
}

// next forgets the reply that was read.
func (in *replyReader) next() { in.buf = append(in.buf[:0], in.buf[in.off:]...) }

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

// reassignment changes nothing, and yet the server reports it.
const reassignment = "SET SESSION session_track_schema=@@SESSION.session_track_schema"

// pendingState asks for the session-state changes that the server has noted and not yet told. They come with the next OK
// that has a change of its own to tell (a ping's has none), so one is made.
func (b *backendConn) pendingState() ([]byte, error) {
	b.intact = false
	if _, err := b.Write(queryCommand(reassignment)); err != nil {
		return nil, err
	}
	in := replyReader{b: b, buf: make([]byte, 0, 512)}
	r := b.reply(wire.ShapeResults, 1)
	_, err := in.read(&r)
	return wire.FilterTracks(in.state, func(t wire.Track) bool {
		return string(t.Name) != "session_track_schema" && t.Kind != wire.TrackStateChange
	}), err
}

// reset brings the connection back to the state after its login, trackers included. The current schema stays, by
// the protocol's rule. Everything the previous session left (transaction, locks, temporary tables, prepared
// statements) is gone.
func (b *backendConn) reset() error {
	commands := [][]byte{simpleCommand(wire.ComResetConnection), queryCommand(trackers)}
	if b.multi { // MariaDB's reset leaves this option alone
		commands = append(commands, setOption(false))
	}
	if err := b.exec(internalTimeout, commands...); err != nil {
		return fmt.Errorf("reset connection: %w", err)
	}
	b.settings, b.multi, b.trace, b.soiled, b.tellsNext = nil, false, trace{insertIDKnown: true}, false, false
	b.stmts.clear()
	return nil
}
