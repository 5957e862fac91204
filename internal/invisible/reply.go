package invisible

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/conntag/conntag/proxy/wire"
)

// The proxy finds the end of a reply with wire.Reply; the judge must not trust that, and has its own reader.

var errNonsense = errors.New("a packet that makes no sense here")

// reply reads the reply to op.
func (c *client) reply(op Op, a *Answer) {
	switch op.Verb {
	case Close, Long:
	case Query, Execute:
		for c.result(a) {
			continue
		}
	case Prepare:
		c.prepared(op, a)
	case Fetch:
		c.rows(a)
	case FieldList:
		c.until(a, packetColumn)
	case Statistics:
		if p, ok := c.read(a); ok {
			c.note(a, packetText, p)
		}
	case ChangeUser:
		c.finishLogin(a)
	default:
		if p, ok := c.read(a); ok {
			c.note(a, okOrErr(p), p)
		}
	}
}

func okOrErr(p []byte) packetKind {
	switch p[0] {
	case wire.OKHeader:
		return packetOK
	case wire.ErrHeader:
		return packetErr
	case wire.EOFHeader:
		return packetEOF
	}
	return packetText
}

// result reads one result and says whether there is another.
func (c *client) result(a *Answer) (more bool) {
	p, ok := c.read(a)
	if !ok {
		return false
	}
	switch p[0] {
	case wire.OKHeader:
		c.note(a, packetOK, p)
		parsed, _ := wire.ParseOK(p, c.login.Track)
		return parsed.Status&wire.StatusMoreResults != 0
	case wire.ErrHeader:
		c.note(a, packetErr, p)
		return false
	case wire.InfileHeader:
		c.note(a, packetInfile, p)
		if err := c.sendFile(string(p[1:])); err != nil {
			c.lose(a, err)
			return false
		}
		return true
	}
	c.note(a, packetColumns, p)
	columns, _ := lenInt(p)
	for range columns {
		if p, ok = c.read(a); !ok {
			return false
		}
		c.note(a, packetColumn, p)
	}
	status, ok := c.until(a, packetColumn)
	if !ok {
		return false
	}
	if status&wire.StatusCursorExists == 0 {
		if status, ok = c.rows(a); !ok {
			return false
		}
	}
	return status&wire.StatusMoreResults != 0
}

func (c *client) rows(a *Answer) (wire.Status, bool) { return c.until(a, packetRow) }

// until reads packets of one kind up to an EOF, whose status it returns, or an ERR.
func (c *client) until(a *Answer, kind packetKind) (wire.Status, bool) {
	for {
		p, ok := c.read(a)
		switch {
		case !ok:
			return 0, false
		case p[0] == wire.ErrHeader:
			c.note(a, packetErr, p)
			return 0, false
		case p[0] == wire.EOFHeader && len(p) == 5:
			c.note(a, packetEOF, p)
			return wire.Status(binary.LittleEndian.Uint16(p[3:])), true
		}
		c.note(a, kind, p)
	}
}

// prepared reads the answer to Prepare and keeps the id.
func (c *client) prepared(op Op, a *Answer) {
	p, ok := c.read(a)
	switch {
	case !ok:
		return
	case p[0] == wire.ErrHeader:
		c.note(a, packetErr, p)
		delete(c.slots, op.Slot)
		return
	case p[0] != wire.OKHeader || len(p) < 12:
		c.lose(a, errNonsense)
		return
	}
	columns, params := binary.LittleEndian.Uint16(p[5:]), binary.LittleEndian.Uint16(p[7:])
	c.slots[op.Slot] = &slot{id: binary.LittleEndian.Uint32(p[1:]), params: int(params)}
	c.note(a, packetPrepared, bytes.Clone(p))
	for _, n := range []uint16{params, columns} {
		if n == 0 {
			continue
		}
		if _, ok := c.until(a, packetColumn); !ok {
			return
		}
	}
}

// files are what a client has when a server asks for LOAD DATA LOCAL INFILE; any other name is an empty file.
var files = map[string]string{
	"rows":  "101\t1\n102\t2\n103\t3\n",
	"dups":  "1\t1\n104\t4\n1\t5\n",
	"wrong": "105\tnot a number\n106\n107\t1\t2\n",
}

func (c *client) sendFile(name string) error {
	if text := files[name]; text != "" {
		if err := c.write([]byte(text)); err != nil {
			return err
		}
	}
	return c.write(nil)
}
