package metrics

import (
	"sync"
	"time"
)

// births remembers since when each series that appears late was certainly 0: the last scrape that did not
// have it. Prometheus takes it as the created timestamp, and then rate() does not lose a new caller's first
// seconds. It holds no more than the ledger does, which never forgets a caller either.
type births struct {
	mu   sync.Mutex
	last time.Time // begin of the last scrape; zero before the first
	at   map[seriesKey]time.Time
}

type seriesKey struct{ pool, caller, what string }

// ofLocked is when the counters of k began at 0; what the first scrape finds has been there since the start.
func (b *births) ofLocked(k seriesKey, started time.Time) time.Time {
	at, ok := b.at[k]
	if !ok {
		at = b.last
		if at.IsZero() {
			at = started
		}
		b.at[k] = at
	}
	return at
}

// scrapedLocked ends a scrape that began at now. The begin counts, since its snapshot was taken after it.
func (b *births) scrapedLocked(now time.Time) { b.last = now }
