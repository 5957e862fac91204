package pool

import "time"

// parkLocked makes r idle and sees to it that the reaper wakes in time for it. On a busy pool the reaper's alarm is
// nearly always early enough already, so this is one comparison.
func (p *Pool[K, C]) parkLocked(r *record[K, C]) {
	r.idleSince = p.stat.Now
	p.moveLocked(r, idle)
	if due := p.due(r); due < p.reapAt {
		p.reapAt = due
		select {
		case p.wake <- struct{}{}:
		default: // an earlier wake is on its way; the reaper will see this one's due time too
		}
	}
}

// due is when an idle connection has to be closed.
func (p *Pool[K, C]) due(r *record[K, C]) time.Duration {
	if p.cfg.IdleTimeout > 0 {
		return min(r.expires, r.idleSince+p.cfg.IdleTimeout)
	}
	return r.expires
}

// reap closes what has been idle too long or has grown too old while idle, until the pool is closed. Reuse takes the
// most recently used connection, so in a quiet hour the surplus goes cold and ends here.
func (p *Pool[K, C]) reap() {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		p.mu.Lock()
		p.settleLocked()
		p.reapAt = p.reapLocked()
		if p.reapAt == never {
			alarm.Stop()
		} else {
			alarm.Reset(p.reapAt - p.stat.Now)
		}
		p.mu.Unlock()

		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		case <-alarm.C:
		}
	}
}

// reapLocked closes what is due and returns when the next one will be.
func (p *Pool[K, C]) reapLocked() time.Duration {
	next := never
	for n := p.idle.back; n != nil; {
		r := n.item
		n = n.prev
		switch due := p.due(r); {
		case due > p.stat.Now:
			next = min(next, due)
		case r.expires <= p.stat.Now:
			p.retireLocked(r, CloseLifetime)
		default:
			p.retireLocked(r, CloseIdle)
		}
	}
	return next
}
