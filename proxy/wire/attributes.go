package wire

import (
	"encoding/binary"
	"fmt"
)

// The types of binary values whose length is their type's; all others carry theirs.
// Source: dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html.
const (
	typeTiny     = 1
	typeShort    = 2
	typeLong     = 3
	typeFloat    = 4
	typeDouble   = 5
	typeNull     = 6
	typeLongLong = 8
	typeInt24    = 9
	typeYear     = 13
	typeVarchar  = 15
	typeBool     = 244
	typeBlobs    = 249 // and up to 254: the blobs and strings
	typeString   = 254
)

// paramCountAvailable in COM_STMT_EXECUTE's flags says that the number of values is there even if the statement has no parameters.
const paramCountAvailable = 8

// Attributes are the query attributes of one command, name and value, as they stand in its packet. The zero value has none.
type Attributes struct {
	count, at int
	nulls     []byte // from the first value of the command on, be it a parameter's or an attribute's
	types     []byte // two bytes of type and a name for each
	values    []byte
}

// Next returns the next attribute whose value is text.
func (a *Attributes) Next() (name, text []byte, ok bool) {
	types, values := reader{p: a.types}, reader{p: a.values}
	for a.at < a.count && !ok {
		kind := types.take(2)[0]
		name = types.lenBytes()
		if !isNull(a.nulls, a.at) {
			text = values.value(kind)
			ok = kind == typeVarchar || kind >= typeBlobs && kind <= typeString
		}
		a.at++
	}
	a.types, a.values = types.p, values.p
	return name, text, ok
}

// TakeQueryAttributes decodes COM_QUERY's payload p, of a client with QueryAttributes. The text is p[text:].
// Layout: dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query.html.
func TakeQueryAttributes(p []byte) (text int, a Attributes, err error) {
	r := reader{p: p[1:]}
	count := r.lenInt()
	if sets := r.lenInt(); sets != 1 {
		r.bad = true
	}
	if count > 0 {
		var own bound
		if own, a = r.bound(count, 0, nil); !own.typed {
			r.bad = true
		}
	}
	if r.bad {
		return 0, Attributes{}, fmt.Errorf("%w: query attributes", ErrMalformed)
	}
	return len(p) - len(r.p), a, nil
}

// Execute is COM_STMT_EXECUTE of a client with QueryAttributes. Its parts lie in the packet.
type Execute struct {
	Attributes Attributes
	payload    []byte
	params     int
	own        bound
}

// executeHead is the command byte, the statement's id, flags and iteration count.
const executeHead = 1 + 4 + 1 + 4

// ParseExecute decodes COM_STMT_EXECUTE's payload p for a statement with so many parameters; long tells for which of them
// the value was sent ahead and is not in the packet.
// Layout: dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html.
func ParseExecute(p []byte, params int, long []uint16) (e Execute, err error) {
	if len(p) < executeHead {
		return e, fmt.Errorf("%w: COM_STMT_EXECUTE ends early", ErrMalformed)
	}
	e = Execute{payload: p, params: params}
	if params == 0 && p[5]&paramCountAvailable == 0 {
		return e, nil
	}
	r := reader{p: p[executeHead:]}
	count := r.lenInt()
	if count > 0 {
		e.own, e.Attributes = r.bound(count, params, long)
	}
	if r.bad || count < uint64(params) {
		return e, fmt.Errorf("%w: COM_STMT_EXECUTE", ErrMalformed)
	}
	return e, nil
}

// Classic rewrites the payload in place as a client without QueryAttributes would send it, and returns it: it is
// never longer. The Attributes are gone then.
func (e *Execute) Classic() []byte {
	p := e.payload
	p[5] &^= paramCountAvailable
	if e.params == 0 {
		return p[:executeHead]
	}
	out := append(p[:executeHead], e.own.nulls[:(e.params+7)/8]...)
	if !e.own.typed {
		out = append(out, 0)
	} else {
		out = append(out, 1)
		types := reader{p: e.own.types}
		for range e.params {
			out = append(out, types.take(2)...)
			types.lenBytes()
		}
	}
	return append(out, e.own.values...)
}

// bound is a command's bound values as they stand in its packet.
type bound struct {
	nulls  []byte
	types  []byte // two bytes of type and a name for each
	typed  bool
	values []byte
}

// bound takes count values, of which the first params belong to the statement's parameters and the others are attributes.
func (r *reader) bound(count uint64, params int, long []uint16) (own bound, a Attributes) {
	if count > uint64(len(r.p))*8 { // each has a bit at least
		r.bad = true
		return own, a
	}
	n := int(count)
	own.nulls = r.take((n + 7) / 8)
	switch r.byte() {
	case 0:
	case 1:
		own.typed = true
	default:
		r.bad = true
	}
	if !own.typed { // as bound before; attributes must say their type
		if n > params {
			r.bad = true
		}
		own.values = r.rest()
		return own, a
	}
	own.types = r.p
	a = Attributes{count: n, at: params, nulls: own.nulls}
	for i := range n {
		if i == params {
			a.types = r.p
		}
		r.take(2)
		r.lenBytes()
	}
	if n <= params { // a statement's own values are the server's to check
		own.values = r.rest()
		return own, a
	}
	values := *r
	types := reader{p: own.types, bad: r.bad}
	for i := range n {
		if i == params {
			a.values = r.p
			own.values = values.p[:len(values.p)-len(r.p)]
		}
		kind := types.uint16()
		types.lenBytes()
		if isNull(own.nulls, i) || i < params && isLong(long, i) {
			continue
		}
		if r.value(byte(kind)); r.bad {
			break
		}
	}
	return own, a
}

// value takes one binary value.
func (r *reader) value(kind byte) []byte {
	switch kind {
	case typeNull:
		return nil
	case typeTiny, typeBool:
		return r.take(1)
	case typeShort, typeYear:
		return r.take(2)
	case typeLong, typeInt24, typeFloat:
		return r.take(4)
	case typeLongLong, typeDouble:
		return r.take(8)
	}
	return r.lenBytes()
}

func isNull(nulls []byte, i int) bool { return i/8 < len(nulls) && nulls[i/8]>>(i%8)&1 == 1 }

func isLong(long []uint16, i int) bool {
	for _, l := range long {
		if int(l) == i {
			return true
		}
	}
	return false
}

// AppendAttributes appends what goes between COM_QUERY's command byte and its text: the attributes, all of them text.
func AppendAttributes(dst []byte, attrs []Attr) []byte {
	dst = append(AppendLenInt(dst, uint64(len(attrs))), 1)
	if len(attrs) == 0 {
		return dst
	}
	dst = append(append(dst, make([]byte, (len(attrs)+7)/8)...), 1)
	for _, a := range attrs {
		dst = AppendLenString(binary.LittleEndian.AppendUint16(dst, typeString), a.Name)
	}
	for _, a := range attrs {
		dst = AppendLenString(dst, a.Value)
	}
	return dst
}
