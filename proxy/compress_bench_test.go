//go:build !race

// The race detector takes memory of its own, so it is measured without it.

package proxy_test

import (
	"io"
	"runtime"
	"syscall"
	"testing"

	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// cpuSeconds is the processor time of this process, which the client's part is in.
func cpuSeconds() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkLargeResult is a result of 10 MB through each kind of connection. The client looks at nothing but lengths, so that the
// processor's time is the proxy's.
func BenchmarkLargeResult(b *testing.B) {
	for name, capability := range map[string]wire.Capability{"plain": 0, "zlib": wire.Compress, "zstd": wire.ZstdCompression} {
		for _, backend := range []string{"off", "zlib"} {
			b.Run(name+"/backend "+backend, func(b *testing.B) {
				h := newHouse(b, 1, func(o *options) { o.Backend.Compression = backend })
				login := compressedLogin(capability)
				login.Schema = h.schema
				c := h.loggedIn(b, login)
				const q = "SELECT seq, MD5(seq), SQRT(seq), 'some text that comes again' FROM seq_1_to_110000"
				size := largeResult(b, c, q, func() {})
				before := cpuSeconds()
				sent := 0
				b.SetBytes(int64(size))
				for b.Loop() {
					sent += skipResult(b, c, q, size)
				}
				b.ReportMetric(1000*(cpuSeconds()-before)/float64(b.N), "cpu-ms/op")
				b.ReportMetric(float64(sent)/float64(b.N)/1e6, "wire-MB/op")
			})
		}
	}
}

// largeResult reads a reply without keeping it and returns its length; each is called at every read.
func largeResult(t testing.TB, c *wiretest.Client, q string, each func()) (size int) {
	t.Helper()
	if err := c.Send(wire.ComQuery, q); err != nil {
		t.Fatal(err)
	}
	r := wire.NewReply(wire.ShapeResults, 1, false)
	buf := make([]byte, 64<<10)
	off, end := 0, 0
	for !r.Done() {
		n, ev := r.Next(buf[off:end])
		off += n
		size += n
		switch ev {
		case wire.EventBad, wire.EventErr:
			t.Fatalf("after %d bytes: %q", size, buf[:off])
		case wire.EventMore:
			each()
			end = copy(buf, buf[off:end])
			off = 0
			n, err := c.Conn.Conn.Read(buf[end:])
			if n == 0 && err != nil {
				t.Fatal(err)
			}
			end += n
		}
	}
	return size
}

// skipResult reads a reply of size bytes as it comes, frames unopened, and returns how many bytes that were.
func skipResult(t testing.TB, c *wiretest.Client, q string, size int) (sent int) {
	t.Helper()
	if err := c.Send(wire.ComQuery, q); err != nil {
		t.Fatal(err)
	}
	framed, ok := c.Conn.Conn.(*wire.CompressedConn)
	if !ok {
		n, err := io.CopyN(io.Discard, c.Conn.Conn, int64(size))
		if err != nil {
			t.Fatal(err)
		}
		return int(n)
	}
	var header [7]byte
	for size > 0 {
		if _, err := io.ReadFull(framed.Conn, header[:]); err != nil {
			t.Fatal(err)
		}
		packed, content := wire.PayloadLen(header[:]), wire.PayloadLen(header[4:])
		if content == 0 {
			content = packed
		}
		if _, err := io.CopyN(io.Discard, framed.Conn, int64(packed)); err != nil {
			t.Fatal(err)
		}
		size -= content
		sent += len(header) + packed
	}
	return sent
}

func TestCompressedResultsOfAnySizeTakeNoMoreMemory(t *testing.T) {
	h := newHouse(t, 1, func(o *options) { o.Backend.Compression = "zlib" })
	for _, capability := range []wire.Capability{wire.Compress, wire.ZstdCompression} {
		login := compressedLogin(capability)
		login.Schema = h.schema
		c := h.loggedIn(t, login)
		largeResult(t, c, "SELECT REPEAT('x', 1000000)", func() {}) // what is kept for the next is made
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		peak, reads := uint64(0), 0
		size := largeResult(t, c, "SELECT REPEAT('x', 10000000) FROM seq_1_to_10", func() {
			if reads++; reads%200 == 0 {
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
			}
		})
		if grown := int64(peak) - int64(before.HeapAlloc); grown > 6<<20 || size < 100_000_000 || peak == 0 {
			t.Errorf("heap grew by %d bytes for a result of %d", grown, size)
		}
	}
}
