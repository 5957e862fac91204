package pool

import "time"

// expiry is the pool's one timer for all waits. A wait mostly ends long before its time is up, so a timer for each
// would be set and stopped for nothing; this one is set when somebody begins to wait and none is, and again when it
// goes off and somebody still waits.
type expiry struct {
	timer *time.Timer
	armed bool // the timer is set or goes off; then it is counted in Pool.work
}

// armLocked sets the timer for the wait that is over first. Deadlines are on the clock of Hooks.Now: the reading that the
// event took anyhow, and a second one would keep the lock longer at every wait.
func (p *Pool[K, C]) armLocked(deadline time.Duration) {
	if p.expiry.armed || p.closed {
		return
	}
	p.expiry.armed = true
	p.work.Add(1)
	if d := deadline - p.stat.Now; p.expiry.timer == nil {
		p.expiry.timer = time.AfterFunc(d, p.expire)
	} else {
		p.expiry.timer.Reset(d)
	}
}

// disarmLocked stops the timer; one that is going off already finds the pool closed.
func (p *Pool[K, C]) disarmLocked() {
	if p.expiry.armed && p.expiry.timer.Stop() {
		p.expiry.armed = false
		p.work.Done()
	}
}

// expire ends the waits whose time is up. Deadlines are in the order of the queue but for a session that probed a dead
// connection before it queued, so the whole queue is looked at.
func (p *Pool[K, C]) expire() {
	defer p.work.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expiry.armed = false
	p.settleLocked()
	next := never
	for n := p.queue.list.front; n != nil; {
		w := n.item
		n = n.next
		switch {
		case w.deadline <= p.stat.Now:
			p.stat.WaitTimeouts++
			p.giveUpLocked(w, ErrWaitTimeout)
		default:
			next = min(next, w.deadline)
		}
	}
	if next != never {
		p.armLocked(next)
	}
}

// Abandon ends h's wait with err, if h waits. It is for a holder whose Acquire can't be reached by a context: the
// caller of Acquire gets err, and the wait counts as abandoned. A connection that was granted already is delivered.
func (p *Pool[K, C]) Abandon(h Holder, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := p.queue.list.front; n != nil; n = n.next {
		if n.item.holder == h {
			p.settleLocked()
			p.stat.Abandoned++
			p.giveUpLocked(n.item, err)
			return true
		}
	}
	return false
}
