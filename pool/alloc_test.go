//go:build !race

// The race detector makes sync.Pool drop waiters at random, so allocations are counted without it.

package pool_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/conntag/conntag/pool"
)

// Two sessions pass the one connection to and fro, and neither lets go of it before the other waits.
func TestContendedAcquireAllocatesNothing(t *testing.T) {
	p := benchPool(t, 1)
	acquire := func(h pool.Holder) pool.Lease[benchKind, *int] {
		l, err := p.Acquire(context.Background(), appKind, h, pool.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	var over atomic.Bool
	awaitWaiter := func() {
		for p.Stat().Waiting == 0 && !over.Load() {
			runtime.Gosched()
		}
	}
	own, other := new(quiet), new(quiet)
	l := acquire(own)
	var running sync.WaitGroup
	running.Go(func() {
		for !over.Load() {
			l, err := p.Acquire(context.Background(), appKind, other, pool.Ref{})
			if err != nil {
				t.Error(err)
				return
			}
			awaitWaiter()
			l.Release()
		}
	})
	before := p.Stat()
	allocs := testing.AllocsPerRun(1000, func() {
		awaitWaiter()
		l.Release()
		l = acquire(own)
	})
	waits := p.Stat().Waits - before.Waits
	over.Store(true)
	l.Release()
	running.Wait()
	if allocs != 0 || waits < 2000 {
		t.Errorf("%v allocations in a run, %d waits in 1000; want none, and two in each run", allocs, waits)
	}
}
