package attribution

import (
	"cmp"
	"slices"
	"time"
)

// Cut settles all meters at one instant and copies every account. meters are those that wait or hold, each once; the
// pool's lock must be held, so that no wait or hold begins or ends meanwhile. Then s.Imbalance is exactly 0.
//
// The instant is now, or the latest event that one of the meters has already charged when that came between the
// pool's look at the clock and this call: going back would take charged seconds away again.
func (l *Ledger) Cut(now time.Duration, meters []*Meter) Snapshot {
	l.cutting.Lock()
	defer l.cutting.Unlock()
	s := Snapshot{At: now}
	for _, m := range meters {
		m.mu.Lock()
		if m.ledger != l {
			panic("attribution: cut of a meter that belongs to another ledger")
		}
		if m.state != idle {
			s.At = max(s.At, m.since)
		}
	}
	// Read after the last meter is locked: an account that one of them is charged to was admitted before.
	l.admitting.Lock()
	accounts := l.accounts
	l.admitting.Unlock()
	for _, m := range meters {
		m.chargeUpTo(s.At)
	}
	places := s.copyAccounts(accounts)
	for _, m := range meters {
		if m.state != idle {
			m.showIn(&s.Callers[places[m.payer().slot]], s.At)
		}
	}
	for _, m := range meters {
		m.mu.Unlock()
	}
	for i := range s.Callers {
		if c := &s.Callers[i]; c.OldestHold > s.OldestHold {
			s.OldestHold, s.OldestCaller = c.OldestHold, c.Name
		}
	}
	s.Folded = l.folded.Load()
	return s
}

// copyAccounts fills Callers in their order, sums them up, and tells at which place each account's slot stands. The
// order is found first, on small keys: a Caller is half a kilobyte, and two locks are held.
func (s *Snapshot) copyAccounts(accounts []*Account) (places []int) {
	type key struct {
		held time.Duration
		slot int
	}
	order := make([]key, len(accounts))
	for slot, a := range accounts {
		order[slot].slot = slot
		for p := range a.held {
			order[slot].held += time.Duration(a.held[p].Load())
		}
	}
	slices.SortFunc(order, func(a, b key) int {
		if a.held != b.held {
			return cmp.Compare(b.held, a.held)
		}
		return cmp.Compare(accounts[a.slot].name, accounts[b.slot].name)
	})
	const perCaller = holdBuckets + waitBuckets
	counts := make([]uint64, perCaller*len(accounts))
	s.Callers = make([]Caller, len(accounts))
	places = make([]int, len(accounts))
	for i, k := range order {
		c := &s.Callers[i]
		accounts[k.slot].copyTo(c, counts[i*perCaller:][:perCaller:perCaller])
		s.Held += k.held
		s.Waited += c.Waited
		places[k.slot] = i
	}
	return places
}

// chargeUpTo settles an open wait or hold; what no tag has claimed goes to the fallback. Like showIn it needs the
// meter's lock.
func (m *Meter) chargeUpTo(at time.Duration) {
	if m.state != idle {
		m.settle(at)
		m.flush(m.payer())
	}
}

// showIn adds the open wait or hold to the gauges of its payer.
func (m *Meter) showIn(c *Caller, at time.Duration) {
	if m.state == waiting {
		c.Waiting++
		return
	}
	c.InUse[m.phase]++
	c.OldestHold = max(c.OldestHold, at-m.start)
}
