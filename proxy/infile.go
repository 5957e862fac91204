package proxy

import (
	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/proxy/wire"
)

// sendFile passes the server's request for a file on to the client and the file's packets back, up to the empty one
// that ends it. No file of this machine is ever read.
func (s *Session) sendFile(b *backendConn, r *reply) error {
	if err := s.flush(r); err != nil {
		return err
	}
	s.meter.Enter(attribution.Sending, s.srv.now())
	seq, err := s.client.copyPackets(b, r.Due())
	if s.client.zip != nil {
		r.Renumber, seq = true, s.client.zip.Number()
	}
	s.meter.Enter(attribution.Executing, s.srv.now())
	r.Resume(seq)
	return err
}

// copyPackets forwards packets up to and including an empty one, and returns the number of the next. due is the number that
// the first should have; whether it has is the server's to say.
func (c *clientConn) copyPackets(b *backendConn, due byte) (next byte, err error) {
	for ; ; due++ {
		if err := c.need(wire.HeaderLen); err != nil {
			return 0, noEOF(err)
		}
		c.numbered(due)
		size, seq := wire.PayloadLen(c.in[c.from:]), c.in[c.from+3]
		for left := wire.HeaderLen + size; left > 0; {
			if c.from == len(c.in) {
				if err := c.fill(1); err != nil {
					return 0, noEOF(err)
				}
			}
			k := min(left, len(c.in)-c.from)
			if err := b.continueCommand(c.in[c.from : c.from+k]); err != nil {
				return 0, err
			}
			c.from += k
			left -= k
		}
		if size == 0 {
			return seq + 1, nil
		}
	}
}
