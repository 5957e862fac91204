package proxy

import "github.com/conntag/conntag/proxy/wire"

// reply is one reply on its way to the client: bytes [sent:off] of buf are settled and not sent yet, [off:end] are
// read and not settled.
type reply struct {
	wire.Reply
	buf            []byte
	small          *[bufferSize]byte
	large          *[streamSize]byte
	sent, off, end int
	begun          bool // the client has part of it
	hasStatus      bool // an OK or EOF told the server's status
	warned         bool // an OK or EOF told of warnings
	bytes          int  // sent so far
	late           bool // what the trackers say of the last result is still to come
	clock          bool // the session's clock may stand still, or run again
	suspect        bool // that is what began the pin for an unknown reason
	unexplained    bool // the server said that session state changed, without saying how
	explained      bool // it was asked
}

func (r *reply) take() {
	r.small = buffers.Get().(*[bufferSize]byte)
	r.buf = r.small[:]
}

func (r *reply) drop() {
	if r.small != nil {
		buffers.Put(r.small)
	}
	if r.large != nil {
		streamBuffers.Put(r.large)
	}
}

// stream takes a larger buffer: a reply that did not fit once is likely long.
func (r *reply) stream() {
	r.large = streamBuffers.Get().(*[streamSize]byte)
	copy(r.large[:], r.buf[:r.end])
	r.buf = r.large[:]
}

// grow makes room for a packet that must be seen whole and is larger than the buffer: an OK with many variables.
func (r *reply) grow() {
	buf := make([]byte, 2*len(r.buf))
	copy(buf, r.buf[:r.end])
	r.buf = buf
}
