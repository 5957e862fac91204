package demo

import (
	"time"

	"github.com/conntag/conntag/attribution"
)

// blame says for whom callers waited: seconds[waiter][holder]. The waits that end between two looks at the ledger are
// shared out over who held connections in between, in proportion to their connection-seconds.
type blame struct {
	last    attribution.Snapshot
	seconds map[string]map[string]float64
}

// look takes in what happened since the last look.
func (b *blame) look(s attribution.Snapshot) {
	before := map[string]*attribution.Caller{}
	for i := range b.last.Callers {
		before[b.last.Callers[i].Name] = &b.last.Callers[i]
	}
	held := map[string]time.Duration{}
	waited := map[string]time.Duration{}
	var total time.Duration
	for i := range s.Callers {
		c := &s.Callers[i]
		h, w := c.TotalHeld(), c.WaitTimes.Sum
		if was := before[c.Name]; was != nil {
			h -= was.TotalHeld()
			w -= was.WaitTimes.Sum
		}
		held[c.Name], waited[c.Name] = h, w
		total += h
	}
	b.last = s
	for waiter, w := range waited {
		if w <= 0 || total <= 0 {
			continue
		}
		if b.seconds == nil {
			b.seconds = map[string]map[string]float64{}
		}
		if b.seconds[waiter] == nil {
			b.seconds[waiter] = map[string]float64{}
		}
		for holder, h := range held {
			b.seconds[waiter][holder] += w.Seconds() * h.Seconds() / total.Seconds()
		}
	}
}
