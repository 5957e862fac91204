package wire

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// zlibLevel: rows of short names and numbers come out at 47 % of their size, where servers' own level 6 makes 41 % of them
// in more than ten times the time.
const zlibLevel = zlib.BestSpeed

// maxFrame is the longest frame of ours, with room for what a compressor adds to incompressible content before we see it.
const maxFrame = frameHeaderLen + maxChunk + 1024

var (
	frames    = sync.Pool{New: func() any { return new([maxFrame]byte) }}
	deflaters = sync.Pool{New: func() any { return newDeflater() }}
)

// appendFrame appends chunk as frame number to dst, which has the capacity for it.
func appendFrame(dst, chunk []byte, number byte, a Compression, level byte) []byte {
	start := len(dst)
	body := start + frameHeaderLen
	dst = dst[:body]
	size := 0
	if len(chunk) >= minCompressed {
		var packed []byte
		if a == Zstd {
			packed = zstdEncoder(level).EncodeAll(chunk, dst)
		} else {
			packed = deflate(dst, chunk)
		}
		if len(packed)-body < len(chunk) {
			dst, size = packed, len(chunk)
		}
	}
	if size == 0 {
		dst = append(dst[:body], chunk...)
	}
	putFrameHeader(dst[start:], len(dst)-body, number, size)
	return dst
}

// deflater is a zlib writer with the slice that it appends to.
type deflater struct {
	*zlib.Writer
	out []byte
}

func newDeflater() *deflater {
	d := &deflater{}
	w, err := zlib.NewWriterLevel((*deflaterOutput)(d), zlibLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	d.Writer = w
	return d
}

// deflate appends chunk's compressed form to dst, or as much of it as dst has room for: then it is of no use.
func deflate(dst, chunk []byte) []byte {
	d := deflaters.Get().(*deflater)
	defer deflaters.Put(d)
	d.out = dst
	d.Reset((*deflaterOutput)(d))
	_, err := d.Write(chunk)
	if err == nil {
		err = d.Close()
	}
	out := d.out
	d.out = nil
	if err != nil {
		return out[:cap(out)]
	}
	return out
}

type deflaterOutput deflater

var errNoRoom = errors.New("no room")

func (o *deflaterOutput) Write(p []byte) (int, error) {
	if len(p) > cap(o.out)-len(o.out) {
		return 0, errNoRoom
	}
	o.out = append(o.out, p...)
	return len(p), nil
}

var (
	fastZstd    = sync.OnceValue(func() *zstd.Encoder { return newZstdEncoder(zstd.SpeedFastest) })
	defaultZstd = sync.OnceValue(func() *zstd.Encoder { return newZstdEncoder(zstd.SpeedDefault) })
)

// zstdEncoder serves all connections at once. Levels above the default are a client's wish to spend our processor;
// the format does not show that it was not granted.
func zstdEncoder(level byte) *zstd.Encoder {
	if level < DefaultZstdLevel {
		return fastZstd()
	}
	return defaultZstd()
}

func newZstdEncoder(level zstd.EncoderLevel) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(maxChunk), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}
