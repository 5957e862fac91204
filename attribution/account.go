package attribution

import (
	"sync/atomic"
	"time"
)

// Account holds what one caller was charged in one pool. Its counters only grow, and are atomics: the meters of many
// sessions with the same caller write to it at once. An account lives as long as its ledger.
type Account struct {
	name string
	slot int // position in Ledger.accounts

	held      [NumPhases]atomic.Int64 // nanoseconds
	holds     atomic.Uint64
	holdTimes holdTimes

	waited       atomic.Int64 // nanoseconds
	waits        atomic.Uint64
	waitTimes    waitTimes
	waitTimeouts atomic.Uint64
	abandoned    atomic.Uint64

	statements atomic.Uint64
	errors     [NumErrorClasses]atomic.Uint64
	pins       [NumPinReasons]atomic.Uint64
	fromClient atomic.Uint64 // bytes
	toClient   atomic.Uint64 // bytes
}

// Name is the caller's name as it was admitted.
func (a *Account) Name() string { return a.name }

// AddStatement counts one statement.
func (a *Account) AddStatement() { a.statements.Add(1) }

// AddError counts one error of class c.
func (a *Account) AddError(c ErrorClass) { a.errors[c].Add(1) }

// AddPin counts one pin for reason r.
func (a *Account) AddPin(r PinReason) { a.pins[r].Add(1) }

// AddBytes counts bytes read from and written to the client.
func (a *Account) AddBytes(fromClient, toClient uint64) {
	if fromClient != 0 {
		a.fromClient.Add(fromClient)
	}
	if toClient != 0 {
		a.toClient.Add(toClient)
	}
}

// copyTo copies the counters. counts is the memory for both histograms, holdBuckets+waitBuckets long.
func (a *Account) copyTo(c *Caller, counts []uint64) {
	c.Name = a.name
	for p := range a.held {
		c.Held[p] = time.Duration(a.held[p].Load())
	}
	c.Holds = a.holds.Load()
	c.HoldTimes = copyHistogram(holdBounds, a.holdTimes.counts[:], &a.holdTimes.sum, counts[:holdBuckets:holdBuckets])
	c.Waited = time.Duration(a.waited.Load())
	c.Waits = a.waits.Load()
	c.WaitTimes = copyHistogram(waitBounds, a.waitTimes.counts[:], &a.waitTimes.sum, counts[holdBuckets:])
	c.WaitTimeouts = a.waitTimeouts.Load()
	c.Abandoned = a.abandoned.Load()
	c.Statements = a.statements.Load()
	for i := range a.errors {
		c.Errors[i] = a.errors[i].Load()
	}
	for i := range a.pins {
		c.Pins[i] = a.pins[i].Load()
	}
	c.BytesFromClient = a.fromClient.Load()
	c.BytesToClient = a.toClient.Load()
}
