package wiretest

import (
	"bytes"
	"fmt"

	"github.com/conntag/conntag/proxy/wire"
)

// modernReply is Reply on a connection with DeprecateEOF, where wire.Reply can't follow: it counts definitions, and takes
// an OK under EOF's header for the end of rows.
type modernReply struct {
	c       *Client
	packets [][]byte
}

// endSize is below the size of any row that begins as an EOF does.
const endSize = wire.MaxPayload

func (c *Client) modernReply(shape wire.Shape) ([][]byte, error) {
	r := modernReply{c: c}
	var err error
	switch shape {
	case wire.ShapeNone:
	case wire.ShapeOK, wire.ShapeString:
		_, err = r.next()
	case wire.ShapeRows, wire.ShapeFields:
		_, err = r.end()
	case wire.ShapePrepare:
		var p []byte
		if p, err = r.next(); err == nil {
			err = r.skip((int(p[5]) | int(p[6])<<8) + (int(p[7]) | int(p[8])<<8))
		}
	case wire.ShapeResults:
		for more := true; more && err == nil; {
			more, err = r.result()
		}
	}
	return r.packets, err
}

// next reads a packet; an ERR is an error.
func (r *modernReply) next() ([]byte, error) {
	p, err := r.c.Next()
	if err != nil {
		return nil, err
	}
	p = bytes.Clone(p)
	r.packets = append(r.packets, p)
	if len(p) > 0 && p[0] == wire.ErrHeader {
		return nil, wire.ParseErr(p)
	}
	return p, nil
}

func (r *modernReply) skip(n int) error {
	for range n {
		if _, err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// result reads one of several results and reports whether there are more.
func (r *modernReply) result() (more bool, err error) {
	p, err := r.next()
	switch {
	case err != nil:
		return false, err
	case len(p) == 0 || p[0] == wire.EOFHeader:
		return false, fmt.Errorf("%w: a result begins with %x", wire.ErrMalformed, p)
	case p[0] == wire.OKHeader:
		return moreBehind(p), nil
	case p[0] == wire.InfileHeader:
		return true, r.c.sendFile()
	}
	columns := int(p[0])
	if p[0] == 0xfc {
		columns = int(p[1]) | int(p[2])<<8
	}
	if err := r.skip(columns); err != nil {
		return false, err
	}
	p, err = r.end()
	return err == nil && moreBehind(p), err
}

// end reads rows or definitions and the packet behind them.
func (r *modernReply) end() ([]byte, error) {
	for {
		p, err := r.next()
		if err != nil || len(p) > 0 && len(p) < endSize && p[0] == wire.EOFHeader {
			return p, err
		}
	}
}

func moreBehind(p []byte) bool {
	ok, valid := wire.ParseOK(p, false)
	return valid && ok.Status&wire.StatusMoreResults != 0
}

// sendFile answers LOCAL INFILE.
func (c *Client) sendFile() error {
	for _, p := range append(c.File, nil) {
		if err := c.WritePacket(p); err != nil {
			return err
		}
	}
	return nil
}
