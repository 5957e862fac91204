package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestReplySettlesExactlyItsBytesWhateverTheChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		noise := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "noise")
		s.check(t, noise, func() int { return len(s.bytes) + len(noise) })
		largest := rapid.SampledFrom([]int{1, 2, 5, 64, 1500, 16384}).Draw(t, "largest chunk")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "chunks"), 0))
		s.check(t, noise, func() int { return 1 + rnd.IntN(largest) })
	})
}

func TestReplyIsNotDoneBeforeItsLastByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		if len(s.bytes) == 0 || len(s.resume) > 0 {
			return
		}
		r := NewReply(s.shape, s.first, s.tracked)
		for from, short := 0, s.bytes[:len(s.bytes)-1]; ; {
			n, ev := r.Next(short[from:])
			from += n
			if r.Done() || ev == EventBad {
				t.Fatalf("with one byte missing: done %v, event %d", r.Done(), ev)
			}
			if ev == EventMore {
				return
			}
		}
	})
}

func TestReplyFollowsPacketsOf16MiB(t *testing.T) {
	zeros := make([]byte, 2*MaxPayload+1)
	for _, size := range []int{MaxPayload - 1, MaxPayload, MaxPayload + 1, 2 * MaxPayload, 2*MaxPayload + 1} {
		s := newScript(ShapeResults, 1, true)
		s.event(EventColumns, []byte{1})
		s.definitions(1)
		s.interimEOF(StatusAutocommit)
		s.packet(zeros[:size])
		s.packet([]byte{1, 'a'})
		s.eof(StatusAutocommit)
		for _, chunk := range []int{len(s.bytes), 64 << 10, MaxPayload, MaxPayload + HeaderLen} {
			s.check(t, []byte{1, 2, 3}, func() int { return chunk })
		}
	}
}

// A long row's continuation may start with any byte: it is never taken for an ERR or an EOF.
func TestReplyDoesNotReadTheContinuationOfALongRow(t *testing.T) {
	for _, first := range []byte{ErrHeader, EOFHeader, OKHeader, InfileHeader} {
		s := newScript(ShapeRows, 7, false)
		row := make([]byte, MaxPayload+5)
		row[0], row[MaxPayload] = 1, first
		s.packet(row)
		s.eof(0)
		s.check(t, nil, func() int { return 1 << 20 })
	}
}

func TestReplyRefusesWhatNoReplyLooksLike(t *testing.T) {
	cases := map[string]struct {
		shape   Shape
		packets [][]byte
		seq     byte
	}{
		"number skipped":          {ShapeOK, [][]byte{{0, 0, 0, 2, 0, 0, 0}}, 2},
		"empty packet first":      {ShapeResults, [][]byte{{}}, 1},
		"no columns":              {ShapeResults, [][]byte{{0xfc, 0, 0}}, 1},
		"OK that ends early":      {ShapeOK, [][]byte{{0, 0, 0, 2}}, 1},
		"rows for a ping":         {ShapeOK, [][]byte{{3}}, 1},
		"file for a ping":         {ShapeOK, [][]byte{{InfileHeader, 'f'}}, 1},
		"EOF for a query":         {ShapeResults, [][]byte{{EOFHeader, 0, 0, 2, 0}}, 1},
		"prepared without counts": {ShapePrepare, [][]byte{{0, 1, 0, 0, 0, 1}}, 1},
		"one definition too many": {ShapeResults, [][]byte{{1}, {3, 'd', 'e', 'f'}, {3, 'd', 'e', 'f'}}, 1},
		"EOF of six bytes":        {ShapeRows, [][]byte{{EOFHeader, 0, 0, 2, 0, 0}}, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScript(c.shape, 1, false)
			s.seq = c.seq
			for _, p := range c.packets {
				s.packet(p)
			}
			for _, chunk := range []int{1, len(s.bytes)} {
				seen, _ := follow(t, s, make([]byte, 8), func() int { return chunk })
				if len(seen) == 0 || seen[len(seen)-1].ev != EventBad {
					t.Errorf("saw %v, want it to end in EventBad", seen)
				}
			}
		})
	}
}

func TestReplyTellsWhatItSaw(t *testing.T) {
	s := newScript(ShapeResults, 1, true)
	s.event(EventColumns, []byte{1})
	s.definitions(1)
	s.interimEOF(StatusAutocommit | StatusMoreResults)
	s.eof(StatusAutocommit | StatusMoreResults)
	s.ok(OK{AffectedRows: 3, InsertID: 300, Status: StatusInTrans | StatusSessionState, Warnings: 2, Info: []byte("Records: 3"), State: []byte{1, 2, 1, 'x'}})
	r := NewReply(ShapeResults, 1, true)
	for from := 0; !r.Done(); {
		n, ev := r.Next(s.bytes[from:])
		if ev == EventBad || ev == EventMore {
			t.Fatalf("event %d at %d", ev, from)
		}
		from += n
	}
	ok := r.OK
	if ok.AffectedRows != 3 || ok.InsertID != 300 || ok.Warnings != 2 || ok.Status != StatusInTrans|StatusSessionState ||
		string(ok.Info) != "Records: 3" || !bytes.Equal(ok.State, []byte{1, 2, 1, 'x'}) || !r.HasRows || r.Failed != 0 {
		t.Errorf("got %+v, rows %v, failed %d", ok, r.HasRows, r.Failed)
	}
	if r.Seq() != s.seq {
		t.Errorf("next number %d, want %d", r.Seq(), s.seq)
	}
}

// pointSelect is the reply to SELECT v FROM t WHERE id=1.
func pointSelect() []byte {
	s := newScript(ShapeResults, 1, true)
	s.event(EventColumns, []byte{1})
	s.definitions(1)
	s.interimEOF(StatusAutocommit)
	s.packet([]byte{2, '4', '2'})
	s.eof(StatusAutocommit)
	return s.bytes
}

func walk(reply []byte) bool {
	r := NewReply(ShapeResults, 1, true)
	for from := 0; !r.Done(); {
		n, ev := r.Next(reply[from:])
		if ev == EventMore || ev == EventBad {
			return false
		}
		from += n
	}
	return true
}

func TestReplyAllocatesNothing(t *testing.T) {
	reply := pointSelect()
	allocs := testing.AllocsPerRun(1000, func() {
		if !walk(reply) {
			t.Fatal("the reply does not end")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}

func BenchmarkReplyPointSelect(b *testing.B) {
	reply := pointSelect()
	b.ReportAllocs()
	b.SetBytes(int64(len(reply)))
	for b.Loop() {
		if !walk(reply) {
			b.Fatal("the reply does not end")
		}
	}
}
