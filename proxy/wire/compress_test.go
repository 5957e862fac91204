package wire

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zlib"
	"pgregory.net/rapid"
)

// tape is a connection that reads what it was given and keeps what is written.
type tape struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (t *tape) Read(p []byte) (int, error)        { return t.in.Read(p) }
func (t *tape) Write(p []byte) (int, error)       { return t.out.Write(p) }
func (t *tape) SetReadDeadline(_ time.Time) error { return nil }

// packedFrames is what a peer writes for pieces, each with one Write.
func packedFrames(t testing.TB, a Compression, pieces ...[]byte) []byte {
	t.Helper()
	sink := &tape{}
	c := NewCompressedConn(sink, a, DefaultZstdLevel, false)
	for _, p := range pieces {
		if n, err := c.Write(p); err != nil || n != len(p) {
			t.Fatalf("wrote %d of %d bytes: %v", n, len(p), err)
		}
	}
	return sink.out.Bytes()
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

var algorithms = []Compression{Zlib, Zstd}

func TestWhatIsWrittenInFramesIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(algorithms).Draw(t, "algorithm")
		sink := &tape{}
		w := NewCompressedConn(sink, a, byte(rapid.IntRange(1, 22).Draw(t, "level")), false)
		var want []byte
		for range rapid.IntRange(1, 5).Draw(t, "pieces") {
			n := rapid.OneOf(rapid.IntRange(0, 200), rapid.SampledFrom([]int{49, 50, 51, maxChunk - 1, maxChunk, maxChunk + 1, 3 * maxChunk})).Draw(t, "length")
			piece := bytes.Repeat([]byte("0123456789"), n/10+1)[:n]
			if rapid.Bool().Draw(t, "incompressible") {
				piece = random(n)
			}
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
			want = append(want, piece...)
		}
		var in io.Reader = bytes.NewReader(sink.out.Bytes())
		if rapid.Bool().Draw(t, "byte by byte") {
			in = iotest.OneByteReader(in)
		}
		got, err := io.ReadAll(NewCompressedConn(&tape{in: in}, a, 0, true))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("read %d of %d bytes: %v", len(got), len(want), err)
		}
	})
}

func TestShortAndIncompressibleContentIsStored(t *testing.T) {
	for _, a := range algorithms {
		for name, c := range map[string]struct {
			content []byte
			stored  bool
		}{
			"49 bytes":       {bytes.Repeat([]byte{'a'}, 49), true},
			"100 bytes":      {bytes.Repeat([]byte{'a'}, 100), false},
			"incompressible": {random(5000), true},
			"a full chunk":   {random(maxChunk), true},
			"compressible":   {bytes.Repeat([]byte("row "), 5000), false},
		} {
			frame := packedFrames(t, a, c.content)
			if stored := PayloadLen(frame[4:]) == 0; stored != c.stored {
				t.Errorf("%s with algorithm %d: stored %v", name, a, stored)
			}
			if len(frame) > frameHeaderLen+len(c.content) {
				t.Errorf("%s with algorithm %d: grew to %d bytes", name, a, len(frame))
			}
		}
	}
}

func TestFramesAreNumberedInBothDirectionsTogether(t *testing.T) {
	one, two := net.Pipe()
	client, server := NewCompressedConn(one, Zlib, 0, false), NewCompressedConn(two, Zlib, 0, true)
	defer one.Close()
	defer two.Close()
	say := func(from, to *CompressedConn, n int) {
		t.Helper()
		done := make(chan error, 1)
		go func() {
			_, err := from.Write(random(n))
			done <- err
		}()
		if _, err := io.ReadFull(to, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		client.Begin()
		server.Begin()
		say(client, server, 300*maxChunk) // more frames than there are numbers
		say(server, client, 10)
		say(client, server, 100)
		say(server, client, 2*maxChunk)
		if want := byte(300 + 1 + 1 + 2 - 256); client.out != want || server.out != want {
			t.Errorf("the next frame is number %d of the client, %d of the server; want %d", client.out, server.out, want)
		}
	}
}

func TestAServerInsistsOnFrameNumbersAndAClientDoesNot(t *testing.T) {
	frame := packedFrames(t, Zlib, random(10))
	frame[3] = 7
	if _, err := io.ReadAll(NewCompressedConn(&tape{in: bytes.NewReader(frame)}, Zlib, 0, true)); !errors.Is(err, ErrSequence) {
		t.Errorf("server: got %v", err)
	}
	client := NewCompressedConn(&tape{in: bytes.NewReader(frame)}, Zlib, 0, false)
	if _, err := io.ReadAll(client); err != nil || client.out != 8 {
		t.Errorf("client: %v, goes on with %d", err, client.out)
	}
}

func TestBadFramesAreRefused(t *testing.T) {
	text := bytes.Repeat([]byte("SELECT 1;"), 100)
	for _, a := range algorithms {
		good := packedFrames(t, a, text)
		bend := func(f func(p []byte) []byte) []byte { return f(bytes.Clone(good)) }
		cases := map[string]struct {
			frame []byte
			want  error
		}{
			"says less than it holds": {bend(func(p []byte) []byte { p[4]--; return p }), ErrUncompress},
			"says more than it holds": {bend(func(p []byte) []byte { p[4]++; return p }), ErrUncompress},
			"is no compressed data":   {bend(func(p []byte) []byte { copy(p[frameHeaderLen:], "nonsense"); return p }), ErrUncompress},
			"is cut short":            {bend(func(p []byte) []byte { p[0] -= 5; return p }), ErrUncompress},
			"is empty":                {[]byte{0, 0, 0, 0, 9, 0, 0}, ErrUncompress},
			"ends in its header":      {good[:4], io.ErrUnexpectedEOF},
			"ends in its content":     {good[:len(good)-6], io.ErrUnexpectedEOF},
		}
		for name, c := range cases {
			got, err := io.ReadAll(NewCompressedConn(&tape{in: bytes.NewReader(c.frame)}, a, 0, true))
			if !errors.Is(err, c.want) || len(got) > len(text) {
				t.Errorf("a frame that %s with algorithm %d: got %d bytes, %v; want %v", name, a, len(got), err, c.want)
			}
		}
	}
}

func TestWhatStandsBehindAFramesContentIsSkipped(t *testing.T) {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write([]byte(strings.Repeat("x", 100)))
	_ = w.Close()
	packed.WriteString("behind")
	frame := make([]byte, frameHeaderLen)
	putFrameHeader(frame, packed.Len(), 0, 100)
	in := slices.Concat(frame, packed.Bytes(), []byte{2, 0, 0, 1, 0, 0, 0, 'o', 'k'})
	got, err := io.ReadAll(NewCompressedConn(&tape{in: bytes.NewReader(in)}, Zlib, 0, true))
	if want := strings.Repeat("x", 100) + "ok"; err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// drip is a connection whose deadline passes between any two bytes.
type drip struct {
	tape
	late bool
}

func (d *drip) Read(p []byte) (int, error) {
	if d.late = !d.late; d.late {
		return 0, os.ErrDeadlineExceeded
	}
	return d.tape.Read(p[:1])
}

func TestADeadlineInterruptsBetweenFramesOnly(t *testing.T) {
	text := bytes.Repeat([]byte("SELECT 1;"), 100)
	for _, a := range algorithms {
		c := NewCompressedConn(&drip{tape: tape{in: bytes.NewReader(packedFrames(t, a, text, text))}}, a, 0, true)
		var got []byte
		late := 0
		for {
			p := make([]byte, 64)
			n, err := c.Read(p)
			got = append(got, p[:n]...)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				late++
			} else if err != nil {
				break
			}
		}
		if want := slices.Concat(text, text); !bytes.Equal(got, want) || late < 2*frameHeaderLen || late > 2*frameHeaderLen+2 {
			t.Errorf("algorithm %d: read %d of %d bytes with %d interruptions", a, len(got), len(want), late)
		}
	}
}

func TestNoDecoderIsHeldBetweenFrames(t *testing.T) {
	for _, a := range algorithms {
		text := bytes.Repeat([]byte("SELECT 1;"), 100)
		c := NewCompressedConn(&tape{in: bytes.NewReader(packedFrames(t, a, text))}, a, 0, true)
		if _, err := io.ReadFull(c, make([]byte, len(text))); err != nil || c.inflater != nil {
			t.Errorf("algorithm %d: %v, still with a decoder: %v", a, err, c.inflater != nil)
		}
	}
}

func FuzzCompressedConn(f *testing.F) {
	for _, a := range algorithms {
		f.Add(byte(a), packedFrames(f, a, random(10), bytes.Repeat([]byte("row "), 100), random(300)))
	}
	f.Add(byte(Zlib), []byte{0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, a byte, in []byte) {
		algorithm := Zlib + Compression(a%2)
		promised := 0
		for p := in; len(p) >= frameHeaderLen; p = p[min(len(p), frameHeaderLen+PayloadLen(p)):] {
			if promised += PayloadLen(p[4:]); PayloadLen(p[4:]) == 0 {
				promised += PayloadLen(p)
			}
		}
		n, err := io.Copy(io.Discard, NewCompressedConn(&tape{in: bytes.NewReader(in)}, algorithm, 0, true))
		if n > int64(promised) {
			t.Fatalf("%d bytes out of frames that promised %d", n, promised)
		}
		if err != nil && !errors.Is(err, ErrUncompress) && !errors.Is(err, ErrSequence) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("unnamed error %v", err)
		}
		// What was sent is read back whatever it is.
		again, err := io.ReadAll(NewCompressedConn(&tape{in: bytes.NewReader(packedFrames(t, algorithm, in))}, algorithm, 0, true))
		if err != nil || !bytes.Equal(again, in) {
			t.Fatalf("read %d of %d bytes back: %v", len(again), len(in), err)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	var rows []byte
	for i := 0; len(rows) < 48<<10; i++ {
		rows = AppendLenString(rows, strings.Repeat("name", i%5)+string(rune('a'+i%26)))
		rows = append(rows, byte(i), byte(i>>8), byte(i*7), byte(i*13))
	}
	for name, a := range map[string]Compression{"zlib": Zlib, "zstd": Zstd} {
		packed := packedFrames(b, a, rows)
		b.Run(name+"/write", func(b *testing.B) {
			c := NewCompressedConn(&discard{}, a, DefaultZstdLevel, false)
			b.SetBytes(int64(len(rows)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Write(rows)
			}
			b.ReportMetric(float64(len(packed))/float64(len(rows)), "ratio")
		})
		b.Run(name+"/read", func(b *testing.B) {
			in := bytes.NewReader(packed)
			c := NewCompressedConn(&tape{in: in}, a, 0, false)
			buf := make([]byte, len(rows))
			b.SetBytes(int64(len(rows)))
			b.ReportAllocs()
			for b.Loop() {
				in.Reset(packed)
				_, _ = io.ReadFull(c, buf)
			}
		})
	}
}

type discard struct{ net.Conn }

func (*discard) Write(p []byte) (int, error) { return len(p), nil }
