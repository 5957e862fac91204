package attribution

import (
	"sync"
	"time"
)

// Meter turns the events of one session into charges by the written rule (DESIGN.md). A session has at most one wait
// or hold at a time. The zero value must be given to Init before use and must not be copied after.
//
// Waiting, Granted, GaveUp and Returned are called by the pool under its lock; the others by the session. The meter's
// own lock is taken inside the pool's, never the other way round, and is held for a few additions only.
//
// An event whose now lies before the start of the open segment charges nothing and leaves the start where it is: it
// read the clock before a cut and came after it.
type Meter struct {
	mu       sync.Mutex
	ledger   *Ledger
	fallback *Account // pays for what no tag ever claims

	state  meterState
	phase  Phase
	caller *Account // of the lease, or of the statement that wants one; nil while no tag is known
	last   *Account // who paid for the lease or wait that just ended; nil once a statement begins

	undecided bool // last's wait gave up, and may yet be called a time-out

	since   time.Duration // up to here the open wait or hold is charged, or pending
	start   time.Duration // of the open wait or hold
	stretch time.Duration // charged to payer within this hold, not yet observed
	pending pending       // what came before the first tag; empty while caller is set
}

type meterState uint8

const (
	idle meterState = iota // neither waits nor holds
	waiting
	holding
)

// Init ties the meter to a ledger and to the account that pays when there is no tag; nil means OtherName. It may be
// called again with another fallback (the session changed its user) between leases; during a wait or a hold it panics.
func (m *Meter) Init(l *Ledger, fallback *Account) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != idle {
		panic("attribution: meter initialised during a wait or a hold")
	}
	if m.fallback != nil {
		m.forgetLast()
		m.flush(m.fallback)
	}
	if fallback == nil {
		fallback = l.other
	}
	m.ledger, m.fallback = l, fallback
	m.caller = nil
}

// Statement says that a statement begins. a is the account of its tag, nil when it has none: it then inherits the
// lease's caller, if there is a lease. It does not change the phase.
func (m *Meter) Statement(a *Account, now time.Duration) {
	m.mu.Lock()
	m.forgetLast()
	if m.state == idle {
		// A statement before this one that got no lease has nothing to hand down, and no tag can claim it any more.
		m.flush(m.fallback)
		m.caller = nil
	}
	if a != nil && a != m.caller {
		m.turnTo(a, now)
	}
	if m.caller != nil {
		m.caller.AddStatement()
	} else {
		m.pending.any = true
		m.pending.statements++
	}
	m.mu.Unlock()
}

// turnTo makes a the caller from now on. What is pending becomes a's.
func (m *Meter) turnTo(a *Account, now time.Duration) {
	m.settle(now)
	if payer := m.payer(); m.state == holding && payer != a {
		// An untagged stretch that no cut has charged to the fallback is wholly a's: nothing to observe.
		if m.caller != nil || m.stretch > 0 {
			payer.holdTimes.observe(m.stretch)
		}
		m.stretch = 0
	}
	m.flush(a)
	m.caller = a
}

// Waiting says that the session joined the pool's queue.
func (m *Meter) Waiting(now time.Duration) {
	m.mu.Lock()
	m.forgetLast()
	m.state, m.start, m.since = waiting, now, now
	m.mu.Unlock()
}

// Granted says that a hold begins, after a wait or at once. Its first phase is Preparing.
func (m *Meter) Granted(now time.Duration) {
	m.mu.Lock()
	m.forgetLast()
	if m.state == waiting {
		m.endWait(now)
	} else {
		m.acquired(0, 0)
	}
	m.state, m.phase, m.start, m.since, m.stretch = holding, Preparing, now, now, 0
	m.mu.Unlock()
}

// GaveUp says that a wait ended without a lease: it timed out, or the client is gone. The wait is charged and observed
// like any other.
func (m *Meter) GaveUp(now time.Duration) {
	m.mu.Lock()
	if m.state == waiting {
		m.endWait(now)
		payer := m.payer()
		m.flush(payer)
		m.end(payer)
		m.undecided = true
	}
	m.mu.Unlock()
}

// Returned says that the hold is over, whether the connection is reused or closed.
func (m *Meter) Returned(now time.Duration) {
	m.mu.Lock()
	if m.state == holding {
		m.settle(now)
		payer := m.payer()
		m.flush(payer)
		payer.holdTimes.observe(m.stretch)
		payer.holds.Add(1)
		m.end(payer)
	}
	m.mu.Unlock()
}

// end forgets the tag: it never outlives its lease. Who paid stays known until the next statement, for an error that is
// reported once the connection is already back.
func (m *Meter) end(payer *Account) {
	m.state, m.last, m.caller = idle, payer, nil
}

// Enter settles the open segment and begins another in phase p. Outside a hold it does nothing.
func (m *Meter) Enter(p Phase, now time.Duration) {
	m.mu.Lock()
	if m.state == holding && p != m.phase {
		m.settle(now)
		m.phase = p
	}
	m.mu.Unlock()
}

// forgetLast ends the time in which late news of the last lease or wait is charged to who paid for it.
func (m *Meter) forgetLast() {
	if m.undecided {
		m.undecided = false
		m.last.abandoned.Add(1)
	}
	m.last = nil
}

// TimedOut says that the wait that just gave up was a time-out; called before the next statement. Without this call it
// counts as abandoned.
func (m *Meter) TimedOut() {
	m.mu.Lock()
	if m.undecided {
		m.undecided = false
		m.last.waitTimeouts.Add(1)
	}
	m.mu.Unlock()
}

// Pin counts a pin.
func (m *Meter) Pin(r PinReason) {
	m.mu.Lock()
	if a := m.known(); a != nil {
		a.AddPin(r)
	} else {
		m.pending.count().pins[r]++
	}
	m.mu.Unlock()
}

// Error counts an error. After the end of a lease or wait it belongs to who paid for that, until a statement begins.
func (m *Meter) Error(c ErrorClass) {
	m.mu.Lock()
	if a := m.known(); a != nil {
		a.AddError(c)
	} else {
		m.pending.count().errors[c]++
	}
	m.mu.Unlock()
}

// AddBytes counts bytes read from and written to the client, for the same caller as Error.
func (m *Meter) AddBytes(fromClient, toClient uint64) {
	m.mu.Lock()
	if a := m.known(); a != nil {
		a.AddBytes(fromClient, toClient)
	} else {
		c := m.pending.count()
		c.fromClient += fromClient
		c.toClient += toClient
	}
	m.mu.Unlock()
}

// Close says that the session is over; its lease must be back. What no tag claimed goes to the fallback.
func (m *Meter) Close() {
	m.mu.Lock()
	if m.state == idle {
		m.forgetLast()
		m.flush(m.fallback)
	}
	m.mu.Unlock()
}
