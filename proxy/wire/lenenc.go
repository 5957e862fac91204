package wire

import (
	"bytes"
	"encoding/binary"
)

// AppendLenInt appends a length-encoded integer.
func AppendLenInt(dst []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), n)
}

// AppendLenString appends a length-encoded string.
func AppendLenString(dst []byte, s string) []byte {
	return append(AppendLenInt(dst, uint64(len(s))), s...)
}

// reader takes fields from a payload, front to back. The first field that is not there sets bad and every later
// one is zero, so that a message is decoded in one straight line and checked once.
type reader struct {
	p   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.p) {
		r.bad = true
		return nil
	}
	b := r.p[:n]
	r.p = r.p[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) lenInt() uint64 {
	switch first := r.byte(); first {
	case null, 0xff: // NULL and ERR: no integer starts so
		r.bad = true
		return 0
	case 0xfc:
		return uint64(r.uint16())
	case 0xfd:
		if b := r.take(3); b != nil {
			return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
		}
		return 0
	case 0xfe:
		if b := r.take(8); b != nil {
			return binary.LittleEndian.Uint64(b)
		}
		return 0
	default:
		return uint64(first)
	}
}

func (r *reader) lenBytes() []byte {
	n := r.lenInt()
	if n > uint64(len(r.p)) {
		r.bad = true
		return nil
	}
	return r.take(int(n))
}

// nulBytes takes up to the next NUL and skips it.
func (r *reader) nulBytes() []byte {
	i := bytes.IndexByte(r.p, 0)
	if r.bad || i < 0 {
		r.bad = true
		return nil
	}
	b := r.p[:i]
	r.p = r.p[i+1:]
	return b
}

func (r *reader) rest() []byte { return r.take(len(r.p)) }

// LenStrings decodes n length-encoded strings at the start of p: a text row's columns. NULL is empty, and so is what is
// malformed and all behind it.
func LenStrings(p []byte, n int) []string {
	r := reader{p: p}
	list := make([]string, n)
	for i := range list {
		if len(r.p) > 0 && r.p[0] == null {
			r.byte()
			continue
		}
		list[i] = string(r.lenBytes())
	}
	return list
}

// null stands in a text row where a length would.
const null = 0xfb
