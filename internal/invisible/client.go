package invisible

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
)

// patience bounds the wait for an answer: who waits longer has found a difference.
const patience = 20 * time.Second

// client is one connection, to a server or to the proxy, that notes every packet it is told.
type client struct {
	conn  net.Conn
	in    *bufio.Reader
	seq   byte
	id    uint32 // the connection id that the greeting named
	salt  [wire.SaltLen]byte
	login Login
	slots map[string]*slot
	lost  string
}

// slot is a prepared statement under the name that the case gave it. It outlives the statement, so that a case can use
// an id that is no longer valid.
type slot struct {
	id     uint32
	params int
	bound  []Param // as last bound, so that types can be left out
}

// unknownID is sent for a statement that was never prepared.
const unknownID = 4000000

func dial(addr string, l Login) (*client, Answer, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, Answer{}, err
	}
	c := &client{conn: conn, in: bufio.NewReader(conn), login: l, slots: map[string]*slot{}}
	a, err := c.logIn()
	if err != nil {
		return nil, a, errors.Join(err, conn.Close())
	}
	// FOUND_ROWS() of a session without any SELECT is whatever the server finds in its memory.
	c.do(Op{Verb: Query, Text: "SELECT 1"})
	return c, a, nil
}

func (c *client) logIn() (a Answer, err error) {
	p, err := c.next()
	if err != nil {
		return a, err
	}
	g, err := wire.ParseGreeting(p)
	if err != nil {
		return a, err
	}
	c.id, c.salt = g.ConnectionID, g.Salt
	login := wire.Login{Capabilities: c.login.capabilities(), MaxPacket: 1 << 24, Collation: c.login.Collation, User: mariadbtest.User,
		AuthResponse: c.scramble(c.salt[:]), Schema: c.login.Schema, Plugin: mysql.AUTH_NATIVE_PASSWORD,
		Attrs: []wire.Attr{{Name: "program_name", Value: "invisible"}}}
	if err := c.write(login.Append(nil)); err != nil {
		return a, err
	}
	c.finishLogin(&a)
	if a.lost != "" {
		return a, errors.New(a.lost)
	}
	return a, nil
}

func (c *client) scramble(salt []byte) []byte {
	return mysql.CalcNativePassword(salt, []byte(mariadbtest.Password))
}

// finishLogin answers the server's wish for another plugin or a fresh salt until it says OK or ERR.
func (c *client) finishLogin(a *Answer) {
	for {
		p, ok := c.read(a)
		if !ok {
			return
		}
		step, more := wire.ParseAuthStep(p)
		if !more {
			c.note(a, okOrErr(p), p)
			return
		}
		c.note(a, packetAuth, p)
		if err := c.write(c.scramble(step.Data)); err != nil {
			c.lose(a, err)
			return
		}
	}
}

func (c *client) close() {
	_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second))
	c.seq = 0
	_ = c.write([]byte{byte(wire.ComQuit)}) // a server that is gone need not hear it
	_ = c.conn.Close()
}

// do sends a command and reads its whole reply.
func (c *client) do(op Op) (a Answer) {
	if c.lost != "" {
		return Answer{lost: c.lost}
	}
	c.seq = 0
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		c.lose(&a, err)
		return a
	}
	if err := c.write(append([]byte{byte(op.Verb.command())}, c.argument(op)...)); err != nil {
		c.lose(&a, err)
		return a
	}
	c.reply(op, &a)
	return a
}

// argument is what follows the command byte.
func (c *client) argument(op Op) []byte {
	switch op.Verb {
	case Query, Prepare, InitDB:
		return []byte(op.Text)
	case FieldList:
		return append([]byte(op.Text), 0)
	case Execute:
		return c.execute(op)
	case Fetch:
		return binary.LittleEndian.AppendUint32(c.stmtID(op), uint32(op.N))
	case Close, Reset:
		return c.stmtID(op)
	case Long:
		return append(binary.LittleEndian.AppendUint16(c.stmtID(op), uint16(op.N)), op.Text...)
	case SetOption:
		return []byte{byte(op.N), 0}
	case ChangeUser:
		return c.changeUser(op.Text)
	}
	return nil
}

func (c *client) stmtID(op Op) []byte {
	id := uint32(unknownID)
	if s := c.slots[op.Slot]; s != nil {
		id = s.id
	}
	return binary.LittleEndian.AppendUint32(nil, id)
}

// execute fits the parameters to the statement, so that a case that has lost its prepare sends no nonsense.
func (c *client) execute(op Op) []byte {
	s := c.slots[op.Slot]
	if s == nil {
		return executePayload(unknownID, op, nil, true)
	}
	params := make([]Param, s.params)
	for i := range params {
		params[i] = Param{Kind: Null}
	}
	copy(params, op.Params)
	bind := !op.Unbound || s.bound == nil
	if bind {
		s.bound = params
	} else {
		for i := range params { // values must be of the types that stand
			if params[i].Kind != Null && s.bound[i].Kind != params[i].Kind {
				params[i] = s.bound[i]
			}
		}
	}
	return executePayload(s.id, op, params, bind)
}

func (c *client) changeUser(schema string) []byte {
	p := append([]byte(mariadbtest.User), 0)
	response := c.scramble(c.salt[:])
	p = append(append(p, byte(len(response))), response...)
	p = append(append(p, schema...), 0)
	p = binary.LittleEndian.AppendUint16(p, uint16(c.login.Collation))
	p = append(append(p, mysql.AUTH_NATIVE_PASSWORD...), 0)
	return wire.AppendLenString(p, "") // no attributes
}

// write sends one packet; none is long enough to need two.
func (c *client) write(payload []byte) error {
	out, seq := wire.AppendPacket(make([]byte, 0, wire.HeaderLen+len(payload)), c.seq, payload)
	c.seq = seq
	_, err := c.conn.Write(out)
	return err
}

// next reads one packet. Packets out of order are an error, so a reply's numbers are compared by being read.
func (c *client) next() ([]byte, error) {
	var payload []byte
	for {
		var header [wire.HeaderLen]byte
		if _, err := io.ReadFull(c.in, header[:]); err != nil {
			return nil, err
		}
		if header[3] != c.seq {
			return nil, fmt.Errorf("%w: got number %d, want %d", wire.ErrSequence, header[3], c.seq)
		}
		c.seq++
		n := wire.PayloadLen(header[:])
		start := len(payload)
		payload = append(payload, make([]byte, n)...)
		if _, err := io.ReadFull(c.in, payload[start:]); err != nil {
			return nil, err
		}
		if n < wire.MaxPayload {
			return payload, nil
		}
	}
}

func (c *client) read(a *Answer) (p []byte, ok bool) {
	p, err := c.next()
	if err == nil && len(p) == 0 {
		err = errors.New("an empty packet")
	}
	if err != nil {
		c.lose(a, err)
		return nil, false
	}
	return p, true
}

func (c *client) lose(a *Answer, err error) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrUnexpectedEOF):
		a.lost = "closed"
	default:
		a.lost = err.Error()
		if e := net.Error(nil); errors.As(err, &e) && e.Timeout() {
			a.lost = "no answer"
		} else if errors.As(err, &e) {
			a.lost = "closed"
		}
	}
	c.lost = a.lost
}

func (c *client) note(a *Answer, kind packetKind, p []byte) {
	noted := packet{kind, c.seq - 1, string(p)}
	noted.blank()
	a.packets = append(a.packets, noted)
}
