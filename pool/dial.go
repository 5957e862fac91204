package pool

import "math/rand/v2"

// serveLocked gives every slot that can be had to the first waiters without a dial on the way: a free slot, else one
// that is being freed, else that of the longest idle connection, which is of a kind that nobody waits for.
func (p *Pool[K, C]) serveLocked() {
	for p.queue.uncovered > 0 {
		w := p.queue.firstUncovered(nil)
		switch {
		case p.openLocked() < p.cfg.Size:
			r := p.dialLocked(w.shelf)
			p.work.Go(func() { p.dial(r) })
		case p.closing.back != nil:
			dying := p.closing.back.item
			p.moveLocked(dying, gone)
			dying.heir = p.dialLocked(w.shelf)
		case p.idle.back != nil:
			p.closeLocked(p.idle.back.item, CloseKind)
		default:
			return
		}
	}
}

// dialLocked books a dial of kind s.
//
// A dial belongs to the pool, not to the waiter it was started for. When that waiter leaves, or is served otherwise,
// the dial goes on and its connection goes to whoever is next: cancelling would turn every impatient client into a
// connect storm.
func (p *Pool[K, C]) dialLocked(s *shelf[K, C]) *record[K, C] {
	r := newRecord(p, s)
	p.moveLocked(r, dialing)
	p.coverLocked(s)
	p.stat.Dials++
	return r
}

func (p *Pool[K, C]) dial(r *record[K, C]) {
	c, err := p.hooks.Dial(p.ctx, r.shelf.kind)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.settleLocked()
	w := p.queue.first(r.shelf)
	if err != nil {
		p.stat.DialErrors++
		p.moveLocked(r, gone)
		if w != nil {
			p.failLocked(w, &DialError{Pool: p.name, Err: err})
		}
		p.serveLocked()
		p.drainedLocked()
		return
	}
	r.conn = c
	if p.cfg.MaxLifetime > 0 {
		// Spread by 10 % either way, so that connections dialed in one burst do not end in one burst.
		r.expires = p.stat.Now + jitter(p.cfg.MaxLifetime)
	}
	if w != nil {
		p.deliverLocked(w, r)
		return
	}
	p.placeLocked(r)
}

// retireLocked takes r out of use, and gives its slot to the first waiter that needs a dial.
func (p *Pool[K, C]) retireLocked(r *record[K, C], reason CloseReason) {
	p.closeLocked(r, reason)
	p.serveLocked()
}

// closeLocked starts the close of r. It runs elsewhere, as the caller has the lock and a session to get on with.
func (p *Pool[K, C]) closeLocked(r *record[K, C], reason CloseReason) {
	p.stat.Closes[reason]++
	p.moveLocked(r, closing)
	p.work.Go(func() { p.close(r) })
}

// close frees r's slot, or dials in it if a waiter was promised it in the meantime. Either way the connection is closed
// first: a server that counts connections must not see one more than Size.
func (p *Pool[K, C]) close(r *record[K, C]) {
	p.hooks.Close(r.conn)

	p.mu.Lock()
	r.forget()
	heir := r.heir
	if heir == nil { // so nobody waits for a slot
		p.moveLocked(r, gone)
		p.drainedLocked()
	}
	p.mu.Unlock()
	if heir != nil {
		p.dial(heir)
	}
}

// forget drops the closed connection, which a Ref would keep reachable otherwise.
func (r *record[K, C]) forget() {
	var none C
	r.conn = none
}

func jitter[D ~int64](d D) D { return D(float64(d) * (0.9 + 0.2*rand.Float64())) }
