package pool

import "time"

// CloseReason is why a connection was closed.
type CloseReason uint8

// The reasons for which a connection is closed.
const (
	CloseIdle      CloseReason = iota // idle for IdleTimeout
	CloseLifetime                     // older than MaxLifetime
	CloseDiscarded                    // its lease was discarded
	CloseDead                         // Hooks.Alive said no
	CloseKind                         // its slot was needed for another kind
	CloseShutdown                     // the pool was closed
	NumCloseReasons
)

var closeReasons = [NumCloseReasons]string{"idle", "lifetime", "discarded", "dead", "kind", "shutdown"}

func (r CloseReason) String() string {
	if r < NumCloseReasons {
		return closeReasons[r]
	}
	return "unknown"
}

// Stat is a pool at one instant: all of it was read under one lock.
//
// Connections: Idle + InUse + Dialing + Closing <= Size. Books: Dials = DialErrors + Dialing + Idle + InUse + the sum
// of Closes, and Waits = Waiting + WaitTimeouts + Abandoned + WaitErrors + the waits that ended in a lease.
type Stat struct {
	Name string
	Now  time.Duration // on the clock of Hooks.Now; the three times below are settled up to here

	Size    int
	Idle    int // including those being probed
	InUse   int
	Dialing int
	Closing int // slots that Hooks.Close keeps occupied; counted in Dialing once they are promised to a waiter
	Waiting int

	// InUseTime is the integral of InUse, in connection-seconds: exactly the sum over all holders of the time from
	// Granted to Returned, with holds that go on counted up to Now.
	InUseTime time.Duration
	// FullTime is how long InUse was Size.
	FullTime time.Duration
	// WaitTime is the integral of Waiting, likewise exact.
	WaitTime time.Duration

	Acquires     uint64 // leases granted
	Waits        uint64 // waits begun; an acquire served from the idle ones is none
	WaitTimeouts uint64 // waits that ended with ErrWaitTimeout
	Abandoned    uint64 // waits that ended with their context or by Abandon
	WaitErrors   uint64 // waits that ended with a DialError or ErrClosed
	Dials        uint64 // dials begun
	DialErrors   uint64
	Closes       [NumCloseReasons]uint64
}

// Stat returns the pool's numbers as of now.
func (p *Pool[K, C]) Stat() Stat {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settleLocked()
	return p.statLocked()
}

// Cut calls f with the pool's numbers and every holder that holds or waits, first those that hold, at one instant:
// no hold and no wait begins or ends before f returns. The slice is reused by the next Cut. f must not call the pool.
func (p *Pool[K, C]) Cut(f func(Stat, []Holder)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settleLocked()
	holders := p.holders[:0]
	for n := p.leased.front; n != nil; n = n.next {
		holders = append(holders, n.item.holder)
	}
	for n := p.queue.list.front; n != nil; n = n.next {
		holders = append(holders, n.item.holder)
	}
	p.holders = holders
	defer clear(holders) // a scratch slice must not keep a finished session alive
	f(p.statLocked(), holders)
}

func (p *Pool[K, C]) statLocked() Stat {
	s := p.stat
	s.Name = p.name
	s.Size = p.cfg.Size
	s.Idle = p.count[idle] + p.count[checking]
	s.InUse = p.count[leased]
	s.Dialing = p.count[dialing]
	s.Closing = p.count[closing]
	s.Waiting = p.queue.list.len
	return s
}

// settleLocked reads the clock, once per critical section, and brings the integrals up to it. Everything that happens
// before the unlock happens at stat.Now.
func (p *Pool[K, C]) settleLocked() {
	now := p.hooks.Now()
	passed := now - p.stat.Now
	if passed <= 0 {
		return // a clock handed in may step back; the integral must not
	}
	p.stat.InUseTime += passed * time.Duration(p.count[leased])
	p.stat.WaitTime += passed * time.Duration(p.queue.list.len)
	if p.count[leased] == p.cfg.Size {
		p.stat.FullTime += passed
	}
	p.stat.Now = now
}

// At is the same numbers a moment later, with nothing having begun or ended since. It serves a ledger that is cut
// together with the pool and finds a charge that was made after the pool read its clock.
func (s Stat) At(now time.Duration) Stat {
	passed := now - s.Now
	if passed <= 0 {
		return s
	}
	s.Now = now
	s.InUseTime += passed * time.Duration(s.InUse)
	s.WaitTime += passed * time.Duration(s.Waiting)
	if s.InUse == s.Size {
		s.FullTime += passed
	}
	return s
}
