package pool

import "fmt"

// Kinds is how many kinds the pool keeps books of.
func (p *Pool[K, C]) Kinds() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.shelves)
}

// TimerSet reports whether the timer of the waits is set or goes off.
func (p *Pool[K, C]) TimerSet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.expiry.armed
}

// Audit recounts everything the pool counts as it goes, and checks the rules that DESIGN.md states. It walks lists
// where the pool trusts counters, so that it fails when the two part.
func (p *Pool[K, C]) Audit() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open := p.openLocked(); open > p.cfg.Size {
		return fmt.Errorf("%d slots occupied, size is %d", open, p.cfg.Size)
	}
	if got := p.recountLocked(p.idle, idle); got != p.count[idle] || got != p.idle.len {
		return fmt.Errorf("%d records are idle, counted %d, list says %d", got, p.count[idle], p.idle.len)
	}
	if got := p.recountLocked(p.leased, leased); got != p.count[leased] || got != p.leased.len {
		return fmt.Errorf("%d records are leased, counted %d, list says %d", got, p.count[leased], p.leased.len)
	}
	if got := p.recountLocked(p.closing, closing); got != p.count[closing] || got != p.closing.len {
		return fmt.Errorf("%d records are closing, counted %d, list says %d", got, p.count[closing], p.closing.len)
	}
	if p.queue.list.len > 0 && !p.expiry.armed {
		return fmt.Errorf("%d wait and the timer is not set", p.queue.list.len)
	}
	if err := p.auditQueueLocked(); err != nil {
		return err
	}
	records, dials, onShelf := 0, 0, 0
	for k, s := range p.shelves {
		records += s.records
		dials += s.dialing
		onShelf += s.idle.len
		if s.kind != k || s.records == 0 && s.waiting == 0 {
			return fmt.Errorf("shelf %v (%v) has %d records, %d waiters", k, s.kind, s.records, s.waiting)
		}
		if s.idle.len > 0 && s.waiting > 0 {
			return fmt.Errorf("kind %v: %d idle while %d wait", k, s.idle.len, s.waiting)
		}
	}
	if records != p.openLocked() || dials != p.count[dialing] || onShelf != p.idle.len {
		return fmt.Errorf("shelves hold %d records, %d dials, %d idle; pool %d, %d, %d",
			records, dials, onShelf, p.openLocked(), p.count[dialing], p.idle.len)
	}
	return p.auditBooksLocked()
}

func (p *Pool[K, C]) recountLocked(l list[*record[K, C]], want state) int {
	n := 0
	for at := l.front; at != nil; at = at.next {
		r := at.item
		if r.state == want && (r.holder != nil) == (want == leased) && (r.uses.Load()%2 == 1) == (want == leased) {
			n++
		}
	}
	return n
}

func (p *Pool[K, C]) auditQueueLocked() error {
	type tally struct{ waiting, covered int }
	kinds := map[*shelf[K, C]]*tally{}
	length, uncovered, ticket := 0, 0, uint64(0)
	for at := p.queue.list.front; at != nil; at = at.next {
		w := at.item
		length++
		if !w.queued || w.ticket <= ticket {
			return fmt.Errorf("waiter %d after %d, queued %v", w.ticket, ticket, w.queued)
		}
		ticket = w.ticket
		t := kinds[w.shelf]
		if t == nil {
			t = &tally{}
			kinds[w.shelf] = t
		}
		if w.covered && t.covered < t.waiting {
			return fmt.Errorf("waiter %d of kind %v has a dial, one before it has none", w.ticket, w.shelf.kind)
		}
		t.waiting++
		if w.covered {
			t.covered++
		} else {
			uncovered++
		}
	}
	if length != p.queue.list.len || uncovered != p.queue.uncovered {
		return fmt.Errorf("queue has %d waiters, %d uncovered; counted %d, %d", length, uncovered, p.queue.list.len, p.queue.uncovered)
	}
	for s, t := range kinds {
		if p.shelves[s.kind] != s || s.waiting != t.waiting || s.covered != t.covered || t.covered != min(s.dialing, t.waiting) {
			return fmt.Errorf("kind %v: %d wait, %d covered; counted %d, %d, %d dials", s.kind, t.waiting, t.covered, s.waiting, s.covered, s.dialing)
		}
	}
	if spare := p.cfg.Size - p.openLocked(); uncovered > 0 && (spare > 0 || p.idle.len > 0 || p.closing.len > 0) {
		return fmt.Errorf("%d wait without a dial, while %d slots are free, %d idle, %d closing", uncovered, spare, p.idle.len, p.closing.len)
	}
	return nil
}

func (p *Pool[K, C]) auditBooksLocked() error {
	s := p.statLocked()
	closes := uint64(0)
	for _, n := range s.Closes {
		closes += n
	}
	if want := s.DialErrors + uint64(s.Dialing+s.Idle+s.InUse) + closes; s.Dials != want {
		return fmt.Errorf("%d dials, but errors, conns and closes make %d: %+v", s.Dials, want, s)
	}
	return nil
}
