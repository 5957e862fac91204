package wire

import (
	"bufio"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the most that a zstd frame may ask a decoder to remember. A frame's content is shorter than 16 MiB, and so is
// every window that makes sense in it.
const maxWindow = 16 << 20

// inflater decompresses one frame after another. It is pooled: a connection has one only in the middle of a frame.
type inflater struct {
	io.Reader
	algorithm Compression
	source    *bufio.Reader
	zlib      io.ReadCloser
	zstd      *zstd.Decoder
	more      [1]byte // what comes behind the promised end: nothing
}

var inflaters = [...]sync.Pool{
	Zlib: {New: func() any { return newInflater(Zlib) }},
	Zstd: {New: func() any { return newInflater(Zstd) }},
}

func newInflater(algorithm Compression) *inflater {
	return &inflater{algorithm: algorithm, source: bufio.NewReaderSize(nil, 16<<10)}
}

func takeInflater(a Compression) *inflater { return inflaters[a].Get().(*inflater) }

func (f *inflater) put() {
	f.source.Reset(nil)
	inflaters[f.algorithm].Put(f)
}

// reset begins a frame that is read from src. It reads the first bytes.
func (f *inflater) reset(src io.Reader) (err error) {
	f.source.Reset(src)
	switch {
	case f.algorithm == Zlib && f.zlib == nil:
		f.zlib, err = zlib.NewReader(f.source)
		f.Reader = f.zlib
	case f.algorithm == Zlib:
		err = f.zlib.(zlib.Resetter).Reset(f.source, nil)
	case f.zstd == nil:
		// One goroutine is enough: the session's own.
		f.zstd, err = zstd.NewReader(f.source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		f.Reader = f.zstd
	default:
		err = f.zstd.Reset(f.source)
	}
	return err
}
