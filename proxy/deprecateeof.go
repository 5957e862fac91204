package proxy

import "github.com/conntag/conntag/proxy/wire"

// Backend connections speak the protocol with EOF packets. For a client that negotiated DeprecateEOF the relay leaves out
// those behind definitions and makes the others an OK; wire.Reply numbers the packets behind them.

// translateEOF gives the EOF packet that ends at off the form that the client expects.
func (r *reply) translateEOF() {
	if r.Interim {
		r.cut(wire.HeaderLen + wire.EOFLen)
		r.Drop()
		return
	}
	r.widen(wire.EndGrowth)
	const size = wire.EOFLen + wire.EndGrowth
	wire.PutHeader(r.buf[r.off-size-wire.HeaderLen:], size, r.Seq()-1)
	r.OK.AppendEnd(r.buf[:r.off-size])
}

// cut takes out the n bytes in front of off. It moves the fewer of the bytes around them.
func (r *reply) cut(n int) {
	if before := r.off - n - r.sent; before > 0 && before < r.end-r.off {
		copy(r.buf[r.sent+n:r.off], r.buf[r.sent:])
		r.sent += n
		return
	}
	r.end = r.off - n + copy(r.buf[r.off-n:], r.buf[r.off:r.end])
	r.off -= n
}

// widen makes room for n bytes in front of off. There is some: reads leave it behind end, and each further packet that
// grows stands behind one that was cut.
func (r *reply) widen(n int) {
	if r.end+n > len(r.buf) {
		copy(r.buf[r.sent-n:], r.buf[r.sent:r.off])
		r.sent -= n
		return
	}
	copy(r.buf[r.off+n:], r.buf[r.off:r.end])
	r.off += n
	r.end += n
}

// room is where the next read goes.
func (r *reply) room() []byte { return r.buf[r.end:max(r.end, len(r.buf)-wire.EndGrowth)] }

// appendEnd encodes the packet that ends a reply of the proxy's own, where a server has EOF.
func (s *Session) appendEnd(dst []byte) []byte {
	ok := wire.OK{Status: s.lastingStatus()}
	if s.login.caps.Has(wire.DeprecateEOF) {
		return ok.AppendEnd(dst)
	}
	return wire.AppendEOF(dst, 0, ok.Status)
}
