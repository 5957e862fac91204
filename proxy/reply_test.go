package proxy

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/conntag/conntag/proxy/wire"
)

// What a reply's buffer holds is compared with two plain slices through any sequence of steps that a relay takes. Between two
// packets that grow it reads or cuts: a result's end stands behind its definitions'.
func TestCuttingAndWideningKeepEveryOtherByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reply{buf: make([]byte, rapid.IntRange(16, 80).Draw(t, "buffer"))}
		var settled, unread []byte
		next := byte(0)
		mayWiden := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0: // read
				room := r.room()
				if len(room) == 0 { // a relay flushes or grows
					continue
				}
				n := rapid.IntRange(0, len(room)).Draw(t, "read")
				for i := range room[:n] {
					next++
					room[i] = next
					unread = append(unread, next)
				}
				r.end += n
				mayWiden = true
			case 1: // settle
				n := rapid.IntRange(0, len(unread)).Draw(t, "settle")
				settled, unread = append(settled, unread[:n]...), unread[n:]
				r.off += n
			case 2: // flush
				r.end = copy(r.buf, r.buf[r.off:r.end])
				r.sent, r.off = 0, 0
				settled = nil
			case 3: // an EOF goes
				if len(settled) < wire.HeaderLen+wire.EOFLen {
					continue
				}
				settled = settled[:len(settled)-wire.HeaderLen-wire.EOFLen]
				r.cut(wire.HeaderLen + wire.EOFLen)
				mayWiden = true
			case 4: // an EOF becomes an OK
				if !mayWiden {
					continue
				}
				r.widen(wire.EndGrowth)
				for range wire.EndGrowth {
					next++
					settled = append(settled, next)
				}
				copy(r.buf[r.off-wire.EndGrowth:r.off], settled[len(settled)-wire.EndGrowth:])
				mayWiden = false
			}
			if !bytes.Equal(r.buf[r.sent:r.off], settled) || !bytes.Equal(r.buf[r.off:r.end], unread) {
				t.Fatalf("holds %v and %v, want %v and %v", r.buf[r.sent:r.off], r.buf[r.off:r.end], settled, unread)
			}
		}
	})
}
