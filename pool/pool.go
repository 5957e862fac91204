package pool

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Holder is who waits for a connection and then holds it. It is told of each event exactly once, under the pool's
// lock, with the clock reading that the pool's own integral used; so it must not block and must not call the pool.
//
// A holder is in one wait or one hold at a time: Waiting, then Granted or GaveUp; after Granted, Returned. Granted
// comes without Waiting when an idle connection was there.
type Holder interface {
	Waiting(now time.Duration)
	Granted(now time.Duration)
	GaveUp(now time.Duration) // the wait ended without a lease: timeout, context, Abandon, dial error or Close
	Returned(now time.Duration)
}

// Hooks are what the pool knows of connections. None of them is called under the pool's lock, and none may panic.
type Hooks[K comparable, C any] struct {
	// Dial opens a connection of kind k; required. It runs in a goroutine of the pool and must be bounded in time.
	// ctx ends when the pool is closed, not when a waiter leaves.
	Dial func(ctx context.Context, k K) (C, error)
	// Close closes c; required. It runs in a goroutine of the pool and must be bounded in time, as the slot stays
	// occupied until it returns.
	Close func(c C)
	// Alive reports whether an idle connection can still be used. It runs in the goroutine that acquires, so it
	// should not wait for the backend. nil means yes.
	Alive func(c C) bool
	// Now is the monotonic time since a start that ledger and pool share; nil means since New.
	Now func() time.Duration
}

// Pool is a bounded set of backend connections. Its methods may be called by any goroutine.
type Pool[K comparable, C any] struct {
	name  string
	cfg   Config
	hooks Hooks[K, C]

	ctx     context.Context // of dials and of the reaper; ends with Close
	cancel  context.CancelFunc
	work    sync.WaitGroup // dials, closes, the reaper and the timer of the waits
	wake    chan struct{}  // tells the reaper that reapAt moved forward
	drained chan struct{}  // closed when the pool is closed and its last slot is free
	spare   sync.Pool      // of *waiter

	// mu guards all that follows. Holder methods and the func of Cut are the only foreign code called under it.
	mu      sync.Mutex
	closed  bool
	stat    Stat           // running totals; stat.Now is the time up to which they are settled
	count   [numStates]int // count[gone] is of no use
	shelves map[K]*shelf[K, C]
	idle    list[*record[K, C]] // most recently used first
	leased  list[*record[K, C]]
	closing list[*record[K, C]] // longest closing last
	queue   queue[K, C]
	expiry  expiry
	reapAt  time.Duration // when the reaper wakes by itself
	holders []Holder      // scratch of Cut
}

// New returns an empty pool; connections are dialed when they are asked for. It panics when cfg does not validate or
// a required hook is missing. The pool has one goroutine of its own, which Close ends.
func New[K comparable, C any](name string, cfg Config, h Hooks[K, C]) *Pool[K, C] {
	if problems := cfg.Validate(); problems != nil {
		panic(fmt.Sprintf("pool: config of %s: %v", name, problems))
	}
	if h.Dial == nil || h.Close == nil {
		panic("pool: Hooks.Dial and Hooks.Close are required")
	}
	if h.Now == nil {
		start := time.Now()
		h.Now = func() time.Duration { return time.Since(start) }
	}
	p := &Pool[K, C]{
		name:    name,
		cfg:     cfg,
		hooks:   h,
		wake:    make(chan struct{}, 1),
		drained: make(chan struct{}),
		shelves: make(map[K]*shelf[K, C]),
		reapAt:  never,
	}
	p.stat.Now = h.Now()
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.work.Go(p.reap)
	return p
}

// TryAcquire leases an idle connection of kind k to h, if there is one: the one prefer came from when that is idle,
// else the most recently used. It never dials and never waits, overtakes no waiter, and allocates nothing.
func (p *Pool[K, C]) TryAcquire(k K, h Holder, prefer Ref) (Lease[K, C], bool) {
	mustHolder(h)
	p.mu.Lock()
	p.settleLocked()
	r := p.takeLocked(k, prefer)
	if r == nil {
		p.serveLocked()
		p.mu.Unlock()
		return Lease[K, C]{}, false
	}
	l := p.grantLocked(r, h)
	p.mu.Unlock()
	return l, true
}

// Acquire leases a connection of kind k to h, and waits for it, first come first served, for at most WaitTimeout.
// prefer is as in TryAcquire. A connection that is granted in the same moment as the wait would end is delivered, so
// a nil error with an ended ctx is possible.
//
// A ctx that can't end, such as context.Background(), makes the wait cheaper; [Pool.Abandon] ends such a wait.
//
// Errors: ErrWaitTimeout, ErrClosed, ctx.Err(), what Abandon was given, or a *DialError.
func (p *Pool[K, C]) Acquire(ctx context.Context, k K, h Holder, prefer Ref) (Lease[K, C], error) {
	mustHolder(h)
	if err := ctx.Err(); err != nil {
		return Lease[K, C]{}, err
	}
	p.mu.Lock()
	p.settleLocked()
	ticket := p.queue.ticket() // before takeLocked, which may let others in while it probes
	if r := p.takeLocked(k, prefer); r != nil {
		l := p.grantLocked(r, h)
		p.mu.Unlock()
		return l, nil
	}
	if p.closed {
		p.mu.Unlock()
		return Lease[K, C]{}, ErrClosed
	}
	w := p.enqueueLocked(k, h, ticket)
	p.serveLocked()
	p.mu.Unlock()
	return p.await(ctx, w)
}

func mustHolder(h Holder) {
	if h == nil {
		panic("pool: acquire without a Holder")
	}
}

// takeLocked takes an idle connection of kind k that is alive, or returns nil. The lock is released while a
// connection is probed. When it returns nil, slots of dead connections may be left to serve: the caller does that, so
// that it can queue first if it was there first. (When a next connection is there to try, nobody waits for a slot.)
//
// No waiter is overtaken: a connection goes idle only when no waiter of its kind is there and every other waiter has
// a dial on the way (see placeLocked).
func (p *Pool[K, C]) takeLocked(k K, prefer Ref) *record[K, C] {
	for {
		r := p.pickLocked(k, prefer)
		if r == nil || p.hooks.Alive == nil || p.stat.Now-r.idleSince < p.cfg.LivenessAfter {
			return r
		}
		p.moveLocked(r, checking)
		p.mu.Unlock()
		alive := p.hooks.Alive(r.conn)
		p.mu.Lock()
		p.settleLocked()
		switch {
		case p.closed:
			p.closeLocked(r, CloseShutdown)
		case !alive:
			p.closeLocked(r, CloseDead)
		default:
			return r
		}
	}
}

func (p *Pool[K, C]) pickLocked(k K, prefer Ref) *record[K, C] {
	// The record's own pool is compared first: another pool's lock guards another pool's record.
	if r, ok := prefer.record.(*record[K, C]); ok && r.pool == p && r.state == idle && r.shelf.kind == k {
		return r
	}
	if s := p.shelves[k]; s != nil && s.idle.front != nil {
		return s.idle.front.item
	}
	return nil
}

func (p *Pool[K, C]) grantLocked(r *record[K, C], h Holder) Lease[K, C] {
	p.moveLocked(r, leased)
	r.holder = h
	p.stat.Acquires++
	h.Granted(p.stat.Now)
	return Lease[K, C]{record: r, use: r.uses.Add(1)}
}

// placeLocked finds the next use of a connection that nobody holds: the first waiter it can serve, else idle.
//
// A waiter of the same kind gets the connection. A waiter of another kind gets the slot, unless a dial is on the way
// for it already; then the slot would buy it nothing, and the next in line is looked at.
func (p *Pool[K, C]) placeLocked(r *record[K, C]) {
	switch {
	case p.closed:
		p.retireLocked(r, CloseShutdown)
		return
	case p.stat.Now >= r.expires:
		p.retireLocked(r, CloseLifetime)
		return
	}
	switch w := p.queue.firstFor(r.shelf); {
	case w == nil:
		p.parkLocked(r)
	case w.shelf == r.shelf:
		p.deliverLocked(w, r)
	default:
		p.retireLocked(r, CloseKind)
	}
}

// Close ends the pool: waiters get ErrClosed, idle connections are closed, dials are cancelled, and leased connections
// are closed as they come back. It returns nil when all that is done, or an error wrapping ctx.Err() when ctx ends
// first; the pool stays closed, and Close may be called again to wait on.
func (p *Pool[K, C]) Close(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed {
		p.settleLocked()
		p.closed = true
		for n := p.queue.list.front; n != nil; n = p.queue.list.front {
			p.failLocked(n.item, ErrClosed)
		}
		for n := p.idle.front; n != nil; n = p.idle.front {
			p.retireLocked(n.item, CloseShutdown)
		}
		p.disarmLocked()
		p.drainedLocked()
		p.cancel()
	}
	p.mu.Unlock()

	select {
	case <-p.drained:
	case <-ctx.Done():
		select {
		case <-p.drained:
		default:
			return fmt.Errorf("drain pool %s: %w", p.name, ctx.Err())
		}
	}
	// Every goroutine is past its last hook here. No new one can start, as that takes an occupied slot.
	p.work.Wait()
	return nil
}

// drainedLocked tells Close when the last slot of a closed pool is free. A closed pool has no waiters, so nothing can
// occupy a slot again, and this happens once.
func (p *Pool[K, C]) drainedLocked() {
	if p.closed && p.openLocked() == 0 {
		close(p.drained)
	}
}
