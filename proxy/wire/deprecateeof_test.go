package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// translate is a relay to a client with DeprecateEOF, which gets text in the sizes that cut returns. It ends where the
// reply does, or where it is none.
func translate(text []byte, shape Shape, first byte, tracked bool, resume []byte, cut func() int) (out []byte, last Event) {
	r := NewReply(shape, first, tracked)
	from, to := 0, 0
	for !r.Done() {
		n, ev := r.Next(text[from:to])
		out = append(out, text[from:from+n]...)
		from += n
		last = ev
		switch ev {
		case EventBad:
			return out, ev
		case EventInfile:
			if len(resume) > 0 {
				r.Resume(resume[0])
				resume = resume[1:]
			}
		case EventMore:
			if to == len(text) {
				return out, ev
			}
			to = min(len(text), to+cut())
		case EventEOF:
			out = out[:len(out)-HeaderLen-EOFLen]
			if r.Interim {
				r.Drop()
				break
			}
			out = append(out, EOFLen+EndGrowth, 0, 0, r.Seq()-1)
			out = r.OK.AppendEnd(out)
		}
	}
	return out, last
}

// checkTranslated compares with what a server writes to a client with DeprecateEOF.
func (s *script) checkTranslated(t failer, cut func() int) {
	t.Helper()
	got, _ := translate(bytes.Clone(s.bytes), s.shape, s.first, s.tracked, s.modern.resume, cut)
	if !bytes.Equal(got, s.modern.bytes) {
		at := 0
		for at < min(len(got), len(s.modern.bytes)) && got[at] == s.modern.bytes[at] {
			at++
		}
		t.Fatalf("%d bytes, want %d; at %d got %.40x, want %.40x", len(got), len(s.modern.bytes), at, got[at:], s.modern.bytes[at:])
	}
}

func TestATranslatedReplyIsWhatAServerWithoutEOFsWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		s.checkTranslated(t, func() int { return len(s.bytes) })
		largest := rapid.SampledFrom([]int{1, 2, 5, 64, 1500, 16384}).Draw(t, "largest chunk")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "chunks"), 0))
		s.checkTranslated(t, func() int { return 1 + rnd.IntN(largest) })
	})
}

func TestTranslationLeavesOutOrLengthensEachKindOfEOF(t *testing.T) {
	columns := func(s *script) { s.event(EventColumns, []byte{1}); s.definitions(1) }
	cases := map[string]struct {
		shape Shape
		build func(*script)
	}{
		"no rows": {ShapeResults, func(s *script) { columns(s); s.interimEOF(0); s.eof(StatusAutocommit) }},
		"three results": {ShapeResults, func(s *script) {
			for range 3 {
				columns(s)
				s.interimEOF(StatusMoreResults)
				s.packet([]byte{1, 'a'})
				s.eof(StatusMoreResults)
			}
			s.ok(OK{AffectedRows: 1})
		}},
		"300 results": {ShapeResults, func(s *script) {
			for range 300 {
				columns(s)
				s.interimEOF(StatusMoreResults)
				s.eof(StatusMoreResults)
			}
			s.ok(OK{})
		}},
		"300 rows": {ShapeResults, func(s *script) {
			columns(s)
			s.interimEOF(0)
			for range 300 {
				s.packet([]byte{1, 'a'})
			}
			s.eof(0)
		}},
		"error among rows": {ShapeResults, func(s *script) {
			columns(s)
			s.interimEOF(0)
			s.packet([]byte{1, 'a'})
			s.event(EventErr, []byte("\xff\x01\x04#HY000no"))
		}},
		"cursor": {ShapeResults, func(s *script) { columns(s); s.eof(StatusCursorExists) }},
		"fetch":  {ShapeRows, func(s *script) { s.packet([]byte{0, 0, 1}); s.eof(StatusCursorExists | StatusLastRowSent) }},
		"nothing to bind": {ShapePrepare, func(s *script) {
			s.event(EventPrepared, []byte{0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0})
			s.definitions(1)
			s.interimEOF(0)
		}},
		"parameter only": {ShapePrepare, func(s *script) {
			s.event(EventPrepared, []byte{0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0})
			s.definitions(1)
			s.interimEOF(0)
		}},
		"columns and parameters": {ShapePrepare, func(s *script) {
			s.event(EventPrepared, []byte{0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0})
			s.definitions(1)
			s.interimEOF(0)
			s.definitions(1)
			s.interimEOF(0)
		}},
		"fields":     {ShapeFields, func(s *script) { s.definitions(3); s.eof(StatusInTrans) }},
		"set option": {ShapeOK, func(s *script) { s.eof(StatusAutocommit | StatusSessionState) }},
		"file behind a result": {ShapeResults, func(s *script) {
			columns(s)
			s.interimEOF(StatusMoreResults)
			s.eof(StatusMoreResults)
			s.event(EventInfile, []byte{InfileHeader, 'f'})
			s.seq, s.modern.seq = s.seq+2, s.modern.seq+2
			s.modern.resume = append(s.modern.resume, s.modern.seq)
			s.ok(OK{AffectedRows: 1})
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScript(c.shape, 1, false)
			c.build(s)
			for _, chunk := range []int{1, 3, 9, 1 << 20} {
				s.checkTranslated(t, func() int { return chunk })
			}
		})
	}
}

// A row's first byte is that of an EOF when its first column is longer than 16 MiB; then the row takes several packets.
func TestTranslationNumbersThePacketsOfRowsOver16MiB(t *testing.T) {
	row := AppendLenString(nil, string(make([]byte, MaxPayload+1)))
	if row[0] != EOFHeader {
		t.Fatalf("the row begins with %#x", row[0])
	}
	for _, row := range [][]byte{row, make([]byte, MaxPayload-1), make([]byte, MaxPayload), make([]byte, 2*MaxPayload)} {
		s := newScript(ShapeResults, 250, false)
		s.event(EventColumns, []byte{1})
		s.definitions(1)
		s.interimEOF(0)
		s.packet(row)
		s.packet([]byte{1, 'a'})
		s.packet(row)
		s.eof(0)
		for _, chunk := range []int{len(s.bytes), 64 << 10, MaxPayload + HeaderLen} {
			s.checkTranslated(t, func() int { return chunk })
		}
	}
}

func FuzzTranslate(f *testing.F) {
	f.Add(pointSelect(), byte(ShapeResults), true, uint64(0x0101))
	f.Add([]byte{5, 0, 0, 1, 0xfb, 'f', 'i', 'l', 'e', 7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0}, byte(ShapeResults), false, uint64(1))
	f.Add([]byte{5, 0, 0, 1, 0xfe, 0, 0, 2, 0}, byte(ShapeOK), false, uint64(1))
	f.Fuzz(func(t *testing.T, text []byte, shape byte, tracked bool, cuts uint64) {
		shape %= byte(ShapeString) + 1
		whole, end := translate(bytes.Clone(text), Shape(shape), 1, tracked, nil, func() int { return len(text) })
		pieces, endInPieces := translate(bytes.Clone(text), Shape(shape), 1, tracked, nil, func() int {
			cuts = cuts>>4 | cuts<<60
			return int(cuts&0xf) + 1
		})
		if end != endInPieces || !bytes.Equal(whole, pieces) {
			t.Fatalf("at once event %d, %x\nin pieces %d, %x", end, whole, endInPieces, pieces)
		}
		for seq := byte(1); len(whole) >= HeaderLen; seq++ {
			if whole[3] != seq {
				t.Fatalf("number %d, want %d: %x", whole[3], seq, whole)
			}
			whole = whole[min(len(whole), HeaderLen+PayloadLen(whole)):]
		}
	})
}

// BenchmarkReplyRows walks 10,000 rows of 200 bytes: classic as they are, modern with a number written into each.
func BenchmarkReplyRows(b *testing.B) {
	s := newScript(ShapeResults, 1, true)
	s.event(EventColumns, []byte{1})
	s.definitions(1)
	s.interimEOF(StatusAutocommit)
	for range 10_000 {
		s.packet(AppendLenString(nil, string(make([]byte, 200))))
	}
	s.eof(StatusAutocommit)
	for name, modern := range map[string]bool{"classic": false, "modern": true} {
		b.Run(name, func(b *testing.B) {
			text := make([]byte, len(s.bytes))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				copy(text, s.bytes)
				r := NewReply(ShapeResults, 1, true)
				for from := 0; !r.Done(); {
					n, ev := r.Next(text[from:])
					from += n
					if modern && ev == EventEOF && r.Interim {
						r.Drop()
					}
				}
			}
		})
	}
}
