package proxy

import (
	"errors"
	"os"
	"time"

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
	seq, err := s.client.copyPackets(b, r)
	if s.client.zip != nil {
		r.Renumber, seq = true, s.client.zip.Number()
	}
	s.meter.Enter(attribution.Executing, s.srv.now())
	r.Resume(seq)
	return err
}

// copyPackets forwards packets up to and including an empty one, and returns the number of the next, as the client
// counts. Whether a packet has the number that it should have is the server's to say; in compressed frames there is none.
func (c *clientConn) copyPackets(b *backendConn, r *reply) (next byte, err error) {
	for due := r.Due(); ; due++ {
		if err := c.needAwake(wire.HeaderLen); err != nil {
			return 0, noEOF(err)
		}
		size, seq := wire.PayloadLen(c.in[c.from:]), c.in[c.from+3]
		if c.zip == nil {
			c.in[c.from+3] += r.Dropped()
		} else {
			c.numbered(due)
		}
		for left := wire.HeaderLen + size; left > 0; {
			if c.from == len(c.in) {
				if err := c.needAwake(1); err != nil {
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

// needAwake is need in the middle of a command, where a session that is woken has nothing to look at.
func (c *clientConn) needAwake(n int) error {
	for {
		err := c.need(n)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			return clientError(err)
		}
	}
}
