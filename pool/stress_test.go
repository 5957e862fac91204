package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/conntag/conntag/pool"
)

// stress is many sessions doing random things to one pool on the real clock. Each conn it gets is marked with its
// owner by compare-and-swap, which can only fail when two sessions have the same conn.
type stress struct {
	t       *testing.T
	pool    *testPool
	backend *backend
	size    int
	kinds   []string

	granted, timedOut, cancelled, sentAway, dialFailed, tried atomic.Uint64
}

func TestRandomActionsLoseNoConnAndNoWaiter(t *testing.T) {
	rounds, sessions, size := 3000, 24, 5
	if testing.Short() {
		rounds = 300
	}
	x := &stress{t: t, backend: &backend{t: t}, size: size, kinds: []string{"app", "app", "app", "batch", "report"}}
	x.backend.refuse = func(string) error {
		if rand.IntN(8) == 0 {
			return errRefused
		}
		return nil
	}
	x.backend.probe = func(c *conn) { c.dead.Store(rand.IntN(16) == 0) }
	cfg := pool.Config{
		Size: size, WaitTimeout: 2 * time.Millisecond, IdleTimeout: time.Millisecond,
		MaxLifetime: 5 * time.Millisecond, LivenessAfter: 20 * time.Microsecond,
	}
	x.pool = pool.New("main", cfg, pool.Hooks[string, *conn]{Dial: x.backend.dial, Close: x.backend.close, Alive: x.backend.alive})

	all := make([]*session, sessions)
	for i := range all {
		all[i] = &session{t: t, name: fmt.Sprint("session ", i)}
	}
	var running, watching sync.WaitGroup
	stop := make(chan struct{})
	watching.Go(func() { x.watch(stop) })
	told := uint64(0)
	watching.Go(func() { told = x.sendAway(all, stop) })
	for _, s := range all {
		running.Go(func() {
			for range rounds {
				x.step(s)
			}
		})
	}
	running.Wait()
	close(stop)
	watching.Wait()
	if err := x.pool.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.settle(all)
	if got := x.sentAway.Load(); got == 0 || got != told {
		t.Errorf("%d waits ended with the error of Abandon, which ended %d", got, told)
	}
}

// sendAway abandons whoever it hits, and returns how many waits that ended. Most are being granted at that moment, or
// have not begun.
func (x *stress) sendAway(all []*session, stop chan struct{}) uint64 {
	ended := uint64(0)
	for {
		select {
		case <-stop:
			return ended
		default:
		}
		if x.pool.Abandon(all[rand.IntN(len(all))], errGone) {
			ended++
		}
		for range rand.IntN(64) {
			runtime.Gosched()
		}
	}
}

// step acquires, checks and uses one conn, and gives it back in one of the ways there are.
func (x *stress) step(s *session) {
	kind := x.kinds[rand.IntN(len(x.kinds))]
	l, ok := x.acquire(s, kind)
	if !ok {
		return
	}
	c := l.Conn()
	if !c.owner.CompareAndSwap(nil, s) {
		x.t.Errorf("conn %d belongs to %s and is leased to %s", c.id, c.owner.Load().name, s.name)
	}
	if c.closed.Load() || c.kind != kind || l.Kind() != kind {
		x.t.Errorf("conn %d: closed %v, kind %q and %q, want %q", c.id, c.closed.Load(), c.kind, l.Kind(), kind)
	}
	for range rand.IntN(4) {
		runtime.Gosched()
	}
	if rand.IntN(10) == 0 {
		c.kind = x.kinds[rand.IntN(len(x.kinds))]
		l.SetKind(c.kind)
	}
	if !c.owner.CompareAndSwap(s, nil) {
		x.t.Errorf("conn %d changed hands while %s had it", c.id, s.name)
	}
	if rand.IntN(10) == 0 {
		l.Discard()
	} else {
		l.Release()
	}
}

func (x *stress) acquire(s *session, kind string) (testLease, bool) {
	if rand.IntN(4) == 0 {
		l, ok := x.pool.TryAcquire(kind, s, pool.Ref{})
		if ok {
			x.tried.Add(1)
		}
		return l, ok
	}
	ctx := context.Background() // cannot end
	if rand.IntN(4) == 0 {
		impatient, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(500))*time.Microsecond)
		defer cancel()
		ctx = impatient
	}
	began := s.waits
	l, err := x.pool.Acquire(ctx, kind, s, pool.Ref{})
	var dialErr *pool.DialError
	switch {
	case err == nil:
		x.granted.Add(1)
	case errors.Is(err, pool.ErrWaitTimeout):
		x.timedOut.Add(1)
	case errors.Is(err, context.DeadlineExceeded):
		if s.waits > began {
			x.cancelled.Add(1)
		}
	case errors.Is(err, errGone):
		x.sentAway.Add(1)
	case errors.As(err, &dialErr):
		x.dialFailed.Add(1)
	default:
		x.t.Errorf("%s: %v", s.name, err)
	}
	return l, err == nil
}

// watch audits the pool while it runs, and cuts it: at every instant, the holders' times make up the integrals.
func (x *stress) watch(stop chan struct{}) {
	var last pool.Stat
	for {
		select {
		case <-stop:
			return
		default:
		}
		if err := x.pool.Audit(); err != nil {
			x.t.Errorf("audit: %v", err)
			return
		}
		x.pool.Cut(func(s pool.Stat, holders []pool.Holder) {
			if len(holders) != s.InUse+s.Waiting || s.Idle+s.InUse+s.Dialing+s.Closing > x.size {
				x.t.Errorf("%d holders: %+v", len(holders), s)
			}
			if s.Now < last.Now || s.InUseTime < last.InUseTime || s.InUseTime-last.InUseTime > (s.Now-last.Now)*time.Duration(x.size) {
				x.t.Errorf("from %+v to %+v", last, s)
			}
			last = s
		})
		runtime.Gosched()
	}
}

// settle checks the books when all is over.
func (x *stress) settle(all []*session) {
	s := x.pool.Stat()
	var held, waited time.Duration
	holds, waits, gaveUps := 0, 0, 0
	for _, one := range all {
		if one.phase != "" {
			x.t.Errorf("%s is still %s", one.name, one.phase)
		}
		held, waited = held+one.held, waited+one.waited
		holds, waits, gaveUps = holds+one.holds, waits+one.waits, gaveUps+one.gaveUps
	}
	if held != s.InUseTime || waited != s.WaitTime {
		x.t.Errorf("sessions held %v and waited %v, pool says %v and %v", held, waited, s.InUseTime, s.WaitTime)
	}
	if got := x.granted.Load() + x.tried.Load(); uint64(holds) != got || s.Acquires != got || uint64(waits) != s.Waits {
		x.t.Errorf("%d leases seen, %d holds told, %d acquires counted; %d waits told, %d counted", got, holds, s.Acquires, waits, s.Waits)
	}
	abandoned := x.cancelled.Load() + x.sentAway.Load()
	if s.WaitTimeouts != x.timedOut.Load() || s.Abandoned != abandoned || s.WaitErrors != x.dialFailed.Load() {
		x.t.Errorf("seen %d timeouts, %d abandoned, %d dial errors; counted %d, %d, %d",
			x.timedOut.Load(), abandoned, x.dialFailed.Load(), s.WaitTimeouts, s.Abandoned, s.WaitErrors)
	}
	if got := s.WaitTimeouts + s.Abandoned + s.WaitErrors; got != uint64(gaveUps) {
		x.t.Errorf("%d waits ended without a lease, holders were told of %d", got, gaveUps)
	}
	open, maxOpen, dialed := x.backend.counts()
	if open != 0 || maxOpen > x.size {
		x.t.Errorf("%d conns open after close, %d at once, size %d", open, maxOpen, x.size)
	}
	if err := x.pool.Audit(); err != nil {
		x.t.Error(err)
	}
	x.t.Logf("%d conns dialed; %+v", dialed, s)
}
