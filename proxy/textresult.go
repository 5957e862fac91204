package proxy

import (
	"bytes"
	"strconv"
	"time"

	"github.com/conntag/conntag/proxy/wire"
)

// textResult is the text result set of one of the proxy's own queries, read whole.
type textResult struct {
	header  []byte // the packets up to the first row, framed
	columns []wire.Column
	rows    [][][]byte // nil is NULL
	failed  error      // the ERR, if that was the reply
}

// text is a column of the first row; empty when there is none.
func (a *textResult) text(column int) string {
	if len(a.rows) == 0 || column >= len(a.rows[0]) {
		return ""
	}
	return string(a.rows[0][column])
}

// conditions reads the rows of SHOW WARNINGS.
func (a *textResult) conditions() []condition {
	var list []condition
	for _, row := range a.rows {
		if len(row) == 3 {
			code, _ := strconv.ParseUint(string(row[1]), 10, 16)
			list = append(list, condition{level: string(row[0]), code: uint16(code), message: string(row[2])})
		}
	}
	return list
}

// ask sends framed commands and reads the reply to each, of which there is a result set or nothing. The first ERR comes back
// as *wire.ServerError as well, after all replies were read.
func (b *backendConn) ask(timeout time.Duration, commands ...[]byte) (results []textResult, failed error) {
	if err := b.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, backendError(err)
	}
	if err := b.sendAll(commands); err != nil {
		return nil, err
	}
	in := replyReader{b: b, buf: make([]byte, 0, 1024)}
	results = make([]textResult, len(commands))
	for i, c := range commands {
		r := b.reply(wire.Command(c[wire.HeaderLen]).Shape(), 1)
		raw, err := in.read(&r)
		if err != nil {
			return nil, err
		}
		switch {
		case r.Failed != 0:
			results[i].failed = in.failure
			if failed == nil {
				failed = in.failure
			}
		case r.HasRows && !results[i].parse(bytes.Clone(raw)):
			return nil, backendError(errMalformedReply)
		}
		in.next()
	}
	if err := b.SetDeadline(time.Time{}); err != nil {
		return nil, backendError(err)
	}
	return results, failed
}

// parse reads a result set out of its packets: column count, definitions, EOF, rows, EOF.
func (a *textResult) parse(raw []byte) bool {
	count, rest := nextPacket(raw)
	if len(count) != 1 {
		return false
	}
	for range count[0] {
		var def []byte
		def, rest = nextPacket(rest)
		column, ok := wire.ParseColumn(def)
		if !ok {
			return false
		}
		a.columns = append(a.columns, column)
	}
	_, rest = nextPacket(rest)
	a.header = bytes.Clone(raw[:len(raw)-len(rest)])
	for {
		var p []byte
		p, rest = nextPacket(rest)
		if len(rest) == 0 {
			return true
		}
		row, ok := wire.ParseTextRow(p, len(a.columns))
		if !ok {
			return false
		}
		a.rows = append(a.rows, row)
	}
}

// nextPacket takes one logical packet off raw; a row of 16 MiB and more is put together again.
func nextPacket(raw []byte) (payload, rest []byte) {
	whole := false
	for len(raw) >= wire.HeaderLen {
		n := wire.PayloadLen(raw)
		if wire.HeaderLen+n > len(raw) {
			return nil, nil
		}
		part := raw[wire.HeaderLen : wire.HeaderLen+n]
		raw = raw[wire.HeaderLen+n:]
		if whole {
			payload = append(payload, part...)
		} else {
			payload = part[:n:n]
		}
		if n < wire.MaxPayload {
			return payload, raw
		}
		whole = true
	}
	return nil, nil
}
