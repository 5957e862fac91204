package pool

import (
	"context"
	"time"
)

// waiter is one Acquire in the queue. Whoever takes it off the queue, exactly once and under the lock, sets lease or err
// and signals ready.
type waiter[K comparable, C any] struct {
	shelf   *shelf[K, C] // of the kind it wants
	holder  Holder
	ticket  uint64
	queued  bool
	covered bool // a dial is on the way for it

	lease    Lease[K, C]
	err      error
	ready    chan struct{} // holds one, so that the signal never blocks under the lock
	deadline time.Duration

	place node[*waiter[K, C]]
}

// queue is the waiters of all kinds in order of arrival.
type queue[K comparable, C any] struct {
	list      list[*waiter[K, C]]
	uncovered int // waiters with no dial on the way for them
	tickets   uint64
}

// ticket is the place in line of an Acquire that begins now.
func (q *queue[K, C]) ticket() uint64 {
	q.tickets++
	return q.tickets
}

// insert puts w in line by its ticket: at the end, unless w probed a dead connection while others arrived. Then w may
// come before covered waiters of its kind; but the dead connection's slot is there for it, so it is covered as well by
// the serveLocked that follows.
func (q *queue[K, C]) insert(w *waiter[K, C]) {
	after := q.list.back
	for after != nil && after.item.ticket > w.ticket {
		after = after.prev
	}
	q.list.insertAfter(after, &w.place)
	q.uncovered++
}

// first returns the first waiter that wants kind s, or nil.
func (q *queue[K, C]) first(s *shelf[K, C]) *waiter[K, C] {
	if s.waiting == 0 {
		return nil
	}
	for n := q.list.front; n != nil; n = n.next {
		if n.item.shelf == s {
			return n.item
		}
	}
	return nil
}

// firstUncovered returns the first waiter without a dial on the way, of kind s, or of any kind when s is nil. At most
// Size waiters are covered, and those stand at the front but for a few, so the walk is short.
func (q *queue[K, C]) firstUncovered(s *shelf[K, C]) *waiter[K, C] {
	for n := q.list.front; n != nil; n = n.next {
		if w := n.item; !w.covered && (s == nil || w.shelf == s) {
			return w
		}
	}
	return nil
}

// firstFor returns the first waiter to whom a connection of kind s is of use: one of that kind, or one of another kind
// that has no dial on the way.
func (q *queue[K, C]) firstFor(s *shelf[K, C]) *waiter[K, C] {
	if s.waiting == 0 && q.uncovered == 0 {
		return nil
	}
	for n := q.list.front; n != nil; n = n.next {
		if w := n.item; w.shelf == s || !w.covered {
			return w
		}
	}
	return nil
}

func (p *Pool[K, C]) enqueueLocked(k K, h Holder, ticket uint64) *waiter[K, C] {
	w, _ := p.spare.Get().(*waiter[K, C])
	if w == nil {
		w = &waiter[K, C]{ready: make(chan struct{}, 1)}
		w.place.item = w
	}
	w.shelf, w.holder, w.ticket, w.queued = p.shelfLocked(k), h, ticket, true
	w.shelf.waiting++
	p.queue.insert(w)
	p.coverLocked(w.shelf) // a dial whose own waiter has left may be on the way
	p.stat.Waits++
	h.Waiting(p.stat.Now)
	w.deadline = p.stat.Now + p.cfg.WaitTimeout
	p.armLocked(w.deadline)
	return w
}

// dequeueLocked takes w out of the queue; a dial that was on the way for it is now on the way for the next of its kind.
// When w leaves because a dial ended, that record must have left the dialing state before.
func (p *Pool[K, C]) dequeueLocked(w *waiter[K, C]) {
	s := w.shelf
	w.queued = false
	p.queue.list.remove(&w.place)
	s.waiting--
	if w.covered {
		w.covered = false
		s.covered--
	} else {
		p.queue.uncovered--
	}
	p.coverLocked(s)
	p.dropShelfLocked(s)
}

// coverLocked matches the dials of one kind with its first waiters.
func (p *Pool[K, C]) coverLocked(s *shelf[K, C]) {
	for s.covered < min(s.dialing, s.waiting) {
		p.queue.firstUncovered(s).covered = true
		s.covered++
		p.queue.uncovered--
	}
}

func (p *Pool[K, C]) deliverLocked(w *waiter[K, C], r *record[K, C]) {
	w.lease = p.grantLocked(r, w.holder)
	p.dequeueLocked(w)
	w.ready <- struct{}{}
}

func (p *Pool[K, C]) failLocked(w *waiter[K, C], err error) {
	p.stat.WaitErrors++
	p.giveUpLocked(w, err)
}

// giveUpLocked ends w's wait without a lease; the caller has counted it.
func (p *Pool[K, C]) giveUpLocked(w *waiter[K, C], err error) {
	p.dequeueLocked(w)
	w.holder.GaveUp(p.stat.Now)
	w.err = err
	w.ready <- struct{}{}
}

// await waits until w's wait is ended by a grant or an error, or ctx ends.
func (p *Pool[K, C]) await(ctx context.Context, w *waiter[K, C]) (Lease[K, C], error) {
	if done := ctx.Done(); done == nil {
		<-w.ready // the usual way: no select, since somebody always ends the wait
	} else {
		select {
		case <-w.ready:
		case <-done:
			p.leave(w, ctx.Err())
		}
	}
	lease, err := w.lease, w.err
	p.recycle(w)
	return lease, err
}

// leave ends w's wait with err and counts it, unless it has been ended in the meantime: then what it was ended with is
// delivered, since the holder has been told so already and a connection must not be lost.
func (p *Pool[K, C]) leave(w *waiter[K, C], err error) {
	p.mu.Lock()
	if w.queued {
		p.settleLocked()
		p.stat.Abandoned++
		p.giveUpLocked(w, err)
	}
	p.mu.Unlock()
	<-w.ready // sent under the lock, so it is there
}

// recycle keeps w's channel for another wait. That is safe because w is out of the queue and its signal,
// if there was one, has been received: nobody else can reach it.
func (p *Pool[K, C]) recycle(w *waiter[K, C]) {
	w.shelf, w.holder, w.lease, w.err = nil, nil, Lease[K, C]{}, nil
	p.spare.Put(w)
}
