package pool_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/conntag/conntag/pool"
)

// quiet is a Holder that costs nothing.
type quiet struct{ _ int }

func (*quiet) Waiting(time.Duration)  {}
func (*quiet) Granted(time.Duration)  {}
func (*quiet) GaveUp(time.Duration)   {}
func (*quiet) Returned(time.Duration) {}

// benchKind is about what a proxy uses: a user, a schema-free set of capabilities.
type benchKind struct {
	user         string
	capabilities uint32
}

func benchPool(tb testing.TB, size int) *pool.Pool[benchKind, *int] {
	cfg := pool.DefaultConfig()
	cfg.Size = size
	p := pool.New("bench", cfg, pool.Hooks[benchKind, *int]{
		Dial:  func(context.Context, benchKind) (*int, error) { return new(int), nil },
		Close: func(*int) {},
		Alive: func(*int) bool { return true },
	})
	tb.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return p
}

var appKind = benchKind{user: "checkout", capabilities: 0x1ff}

func warm(tb testing.TB, p *pool.Pool[benchKind, *int]) pool.Ref {
	l, err := p.Acquire(context.Background(), appKind, new(quiet), pool.Ref{})
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Release()
	return l.Ref()
}

func TestTryAcquireAndReleaseAllocateNothing(t *testing.T) {
	p := benchPool(t, 2)
	ref := warm(t, p)
	h := new(quiet)
	allocs := testing.AllocsPerRun(1000, func() {
		l, ok := p.TryAcquire(appKind, h, ref)
		if !ok || !l.Untouched(ref) {
			t.Error("the idle conn was not to be had")
			return
		}
		ref = l.Ref()
		l.Release()
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func TestAcquireOfAnIdleConnAllocatesNothing(t *testing.T) {
	p := benchPool(t, 2)
	warm(t, p)
	h, ctx := new(quiet), t.Context()
	allocs := testing.AllocsPerRun(1000, func() {
		l, err := p.Acquire(ctx, appKind, h, pool.Ref{})
		if err != nil {
			t.Error(err)
			return
		}
		l.Release()
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func BenchmarkTryAcquireRelease(b *testing.B) {
	for _, prefer := range []bool{false, true} {
		name := map[bool]string{false: "any", true: "preferred"}[prefer]
		b.Run(name, func(b *testing.B) {
			p := benchPool(b, 2)
			ref := warm(b, p)
			if !prefer {
				ref = pool.Ref{}
			}
			h := new(quiet)
			b.ReportAllocs()
			for b.Loop() {
				l, ok := p.TryAcquire(appKind, h, ref)
				if !ok {
					b.Fatal("no idle conn")
				}
				l.Release()
			}
		})
	}
}

// Eight sessions per processor share four connections: nearly every Acquire waits.
func BenchmarkContendedAcquire(b *testing.B) {
	p := benchPool(b, 4)
	ctx := context.Background()
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		h := new(quiet)
		for pb.Next() {
			l, err := p.Acquire(ctx, appKind, h, pool.Ref{})
			if err != nil {
				b.Error(err)
				return
			}
			runtime.Gosched() // hold it, so that the others have to wait
			l.Release()
		}
	})
	s := p.Stat()
	b.ReportMetric(float64(s.Waits)/float64(s.Acquires), "waits/op")
}

func BenchmarkCut(b *testing.B) {
	p := benchPool(b, 100)
	for range 100 {
		l, err := p.Acquire(context.Background(), appKind, new(quiet), pool.Ref{})
		if err != nil {
			b.Fatal(err)
		}
		defer l.Release()
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Cut(func(pool.Stat, []pool.Holder) {})
	}
}
