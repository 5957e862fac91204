package proxy_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/proxy/wire"
)

// stream reads a reply without keeping it and returns its length; each is called before every read.
func (c *rawClient) stream(t testing.TB, sql string, each func(read int)) (total int) {
	t.Helper()
	if _, err := c.Write(framed(wire.ComQuery, sql)); err != nil {
		t.Fatal(err)
	}
	r := wire.NewReply(wire.ShapeResults, 1, false)
	end := 0
	for !r.Done() {
		each(total)
		k, err := c.Read(c.buf[end:])
		if err != nil {
			t.Fatal(err)
		}
		total += k
		off := 0
		for end += k; ; {
			n, ev := r.Next(c.buf[off:end])
			off += n
			if ev == wire.EventMore || r.Done() {
				break
			}
			if ev == wire.EventBad {
				t.Fatal("reply makes no sense")
			}
		}
		end = copy(c.buf[:], c.buf[off:end])
	}
	return total
}

func TestResultsOfAnySizeTakeOneBuffer(t *testing.T) {
	h := newHouse(t, 1)
	c := h.rawClient(t)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	next := 0
	total := c.stream(t, "SELECT REPEAT('x', 1000000) FROM seq_1_to_100", func(read int) {
		if read >= next {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
			next += 20 << 20
		}
	})
	if total < 100_000_000 {
		t.Fatalf("only %d bytes came", total)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("heap grew by %d bytes for a result of %d", grown, total)
	}
}

func TestASlowClientIsChargedAsSendingAndHoldsBackItsOwnBackend(t *testing.T) {
	h := newHouse(t, 1)
	c := h.rawClient(t)
	stalled := false
	c.stream(t, "/* conn_tag:slow */ SELECT REPEAT('x', 1000000) FROM seq_1_to_50", func(read int) {
		if read > 1<<20 && !stalled {
			stalled = true
			eventually(t, "the session is seen sending", func() bool {
				return caller(t, h, "slow").InUse[attribution.Sending] == 1
			})
			eventually(t, "a tenth of a second is charged to sending", func() bool {
				return caller(t, h, "slow").Held[attribution.Sending] > 100*time.Millisecond
			})
		}
	})
	expectPins(t, h)
}
