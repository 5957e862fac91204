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

// exec sends framed commands in one write and reads one reply for each; servers read commands one after another, so
// several cost one round trip. The first ERR comes back as *wire.ServerError after all replies were read; what was
// reported of session state is ignored, since the caller asked for it.
func (b *backendConn) exec(timeout time.Duration, commands ...[]byte) error {
	_, err := b.query(timeout, commands...)
	return err
}

// query is exec that also returns the first row's first column of the last reply as text.
func (b *backendConn) query(timeout time.Duration, commands ...[]byte) (string, error) {
	answers, err := b.answers(timeout, commands...)
	if err != nil {
		return "", err
	}
	for _, a := range answers {
		if a.failed != nil {
			return answers[len(answers)-1].value(), a.failed
		}
	}
	return answers[len(answers)-1].value(), nil
}

// answer is the reply to one of the proxy's own commands.
type answer struct {
	row    []string // the first row; NULL is empty
	failed error    // the ERR, if that was the reply
}

func (a answer) value() string {
	if len(a.row) == 0 {
		return ""
	}
	return a.row[0]
}

// answers sends framed commands in one write and returns what each was answered.
func (b *backendConn) answers(timeout time.Duration, commands ...[]byte) ([]answer, error) {
	if err := b.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, backendError(err)
	}
	if _, err := b.Write(bytes.Join(commands, nil)); err != nil {
		return nil, err
	}
	list := make([]answer, len(commands))
	in := replyReader{b: b, buf: make([]byte, 0, 512)}
	for i, c := range commands {
		r := wire.NewReply(wire.Command(c[wire.HeaderLen]).Shape(), 1, true)
		row, err := in.read(&r)
		if err != nil {
			return nil, err
		}
		list[i].row = row
		if r.Failed != 0 {
			list[i].failed = in.failure
		}
	}
	if err := b.SetDeadline(time.Time{}); err != nil {
		return nil, backendError(err)
	}
	return list, nil
}

// replyReader reads short replies whole.
type replyReader struct {
	b       *backendConn
	buf     []byte
	failure error  // the latest ERR
	state   []byte // what the latest OK reported of session state
	stmtID  uint32 // of a prepared statement
}

// read takes one reply off the connection and returns its first row.
func (in *replyReader) read(r *wire.Reply) (row []string, err error) {
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
	if r.HasRows {
		row = firstRow(in.buf[:off])
	}
	in.buf = append(in.buf[:0], in.buf[off:]...)
	return row, nil
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

// pendingState asks for the session-state changes that the server has noted and not yet told. They come with the next OK that
// tells of a change at all, so one is made: to what the trackers are anyway.
func (b *backendConn) pendingState() ([]byte, error) {
	if _, err := b.Write(queryCommand("SET SESSION session_track_schema=ON")); err != nil {
		return nil, err
	}
	in := replyReader{b: b, buf: make([]byte, 0, 512)}
	r := wire.NewReply(wire.ShapeResults, 1, true)
	_, err := in.read(&r)
	return in.state, err
}

// firstRow digs the first row out of a text result set: column count, as many definitions, EOF, rows, EOF.
func firstRow(reply []byte) []string {
	if len(reply) <= wire.HeaderLen {
		return nil
	}
	columns := int(reply[wire.HeaderLen]) // the proxy asks for a few only, so that it is one byte
	for range columns + 2 {
		if len(reply) < wire.HeaderLen {
			return nil
		}
		reply = reply[min(len(reply), wire.HeaderLen+wire.PayloadLen(reply)):]
	}
	if len(reply) < wire.HeaderLen+columns || reply[wire.HeaderLen] == wire.EOFHeader && wire.PayloadLen(reply) < 9 {
		return nil
	}
	return wire.LenStrings(reply[wire.HeaderLen:], columns)
}

// reset brings the connection back to the state after its login, trackers included. The current schema stays, by
// the protocol's rule. Everything the previous session left (transaction, locks, temporary tables, prepared
// statements) is gone.
func (b *backendConn) reset() error {
	if err := b.exec(internalTimeout, simpleCommand(wire.ComResetConnection), queryCommand(trackers)); err != nil {
		return fmt.Errorf("reset connection: %w", err)
	}
	b.settings, b.multi, b.lastID, b.tellsNext = nil, false, lastID{known: true}, false
	b.stmts.clear()
	return nil
}
