package attribution

import "time"

// Snapshot is a ledger at one instant, holds and waits that still go on included.
type Snapshot struct {
	At      time.Duration // the instant: the now given to Cut, or slightly later
	Callers []Caller      // by held seconds, most first, then by name
	Folded  uint64        // look-ups of names beyond the cap, charged to OtherName

	Held   time.Duration // connection-seconds, all callers and phases
	Waited time.Duration // all callers

	OldestHold   time.Duration // age of the oldest open hold; 0 without one
	OldestCaller string        // who holds it
}

// Caller is a copy of one account. Every figure but InUse, Waiting and OldestHold only grows from cut to cut.
type Caller struct {
	Name string

	Held      [NumPhases]time.Duration
	InUse     [NumPhases]int // connections held now
	Holds     uint64         // leases returned, each counted once, for the caller charged at its end
	HoldTimes Histogram      // stretches: what one caller held within one lease without a break

	Waiting      int           // sessions waiting now
	Waited       time.Duration // open waits included
	Waits        uint64        // waits that ended, with a lease or without
	WaitTimes    Histogram     // one observation per acquire, 0 for those that did not queue, give-ups included
	WaitTimeouts uint64
	Abandoned    uint64 // waits that ended without a lease for another reason: client gone, dial error, pool closed

	Statements      uint64
	Errors          [NumErrorClasses]uint64
	Pins            [NumPinReasons]uint64
	BytesFromClient uint64
	BytesToClient   uint64

	OldestHold time.Duration // age of the oldest open hold; 0 without one
}

// TotalHeld is the sum of Held over the phases.
func (c *Caller) TotalHeld() time.Duration {
	var sum time.Duration
	for _, d := range c.Held {
		sum += d
	}
	return sum
}

// Imbalance is the held seconds less the pool's own integral: 0 unless attribution leaks. The pool's figures are those
// of the same cut: its integral as of now, with leased connections in use. They are carried on to s.At, which is exact
// because nothing is leased or returned while the pool's lock is held.
func (s *Snapshot) Imbalance(now, integral time.Duration, leased int) time.Duration {
	return s.Held - integral - time.Duration(leased)*(s.At-now)
}

// WaitImbalance is the same for the waits: the waited seconds less the pool's integral of waiting sessions.
func (s *Snapshot) WaitImbalance(now, integral time.Duration, waiting int) time.Duration {
	return s.Waited - integral - time.Duration(waiting)*(s.At-now)
}
