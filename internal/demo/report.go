package demo

import (
	"time"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/proxy"
)

// Report is what a run has shown, as -o json prints it. Shares are of all connection-seconds held in the pool: over the
// callers they make 1, and so do the phases of all callers.
type Report struct {
	DurationSeconds float64 `json:"duration_seconds"` // until the last visit had ended
	Interrupted     bool    `json:"interrupted"`      // ended by a signal before its time
	Clients         int     `json:"clients"`

	PoolSize     int     `json:"pool_size"`
	FullSeconds  float64 `json:"full_seconds"` // with every connection in use
	HeldSeconds  float64 `json:"held_seconds"` // connection-seconds of all callers
	TopHolder    string  `json:"top_holder"`   // empty when nothing was held
	TopPhase     string  `json:"top_phase"`    // in which it held most
	Waits        uint64  `json:"waits"`
	WaitTimeouts uint64  `json:"wait_timeouts"`
	WaitedTotal  float64 `json:"waited_seconds"`

	// The ledger's sums less the pool's own integrals: 0 unless the attribution leaks.
	ConservationErrorSeconds     float64 `json:"conservation_error_seconds"`
	WaitConservationErrorSeconds float64 `json:"wait_conservation_error_seconds"`

	Callers []Caller `json:"callers"` // by seconds held, most first

	FailedVisits int    `json:"failed_visits"` // calls of the workload that got an error
	FirstFailure string `json:"first_failure,omitempty"`
	Verdict      string `json:"verdict"` // sentences; paragraphs end in a line break
}

// Caller is one caller's part.
type Caller struct {
	Name           string           `json:"name"`
	HeldSeconds    float64          `json:"held_seconds"`
	HeldShare      float64          `json:"held_share"`
	Phases         map[string]Phase `json:"phases"`
	Holds          uint64           `json:"holds"`
	HoldP95Seconds float64          `json:"hold_p95_seconds"` // from a histogram: an estimate, as the next one
	WaitP95Seconds float64          `json:"wait_p95_seconds"` // over all its acquires, those without a wait included
	Waits          uint64           `json:"waits"`
	// WaitedSeconds are whole waits, each counted for the caller whose statement came of it.
	WaitedSeconds float64 `json:"waited_seconds"`
	// WaitedForTopSeconds is the part that the top holder's connections made it wait.
	WaitedForTopSeconds float64           `json:"waited_because_of_top_holder_seconds"`
	Statements          uint64            `json:"statements"`
	Pins                map[string]uint64 `json:"pins"` // by reason; only those that happened
}

// Phase is how long a caller held connections in one phase.
type Phase struct {
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"`
}

// newReport reads a report, all but its verdict, off the pool as it is at the end of a run that began at began.
func newReport(p proxy.PoolSnapshot, began time.Duration, b *blame) Report {
	l := &p.Ledger
	r := Report{
		DurationSeconds: (p.Stat.Now - began).Seconds(),
		PoolSize:        p.Stat.Size,
		FullSeconds:     p.Stat.FullTime.Seconds(),
		HeldSeconds:     l.Held.Seconds(),
		Waits:           p.Stat.Waits,
		WaitTimeouts:    p.Stat.WaitTimeouts,
		WaitedTotal:     p.Stat.WaitTime.Seconds(),

		ConservationErrorSeconds:     p.ConservationError.Seconds(),
		WaitConservationErrorSeconds: l.WaitImbalance(p.Stat.Now, p.Stat.WaitTime, p.Stat.Waiting).Seconds(),
	}
	if l.Held > 0 {
		r.TopHolder = l.Callers[0].Name
		r.TopPhase = topPhase(&l.Callers[0]).String()
	}
	for i := range l.Callers {
		c := &l.Callers[i]
		if c.TotalHeld() == 0 && c.WaitTimes.Sum == 0 {
			continue
		}
		r.Callers = append(r.Callers, newCaller(c, l.Held, b.seconds[c.Name][r.TopHolder]))
	}
	return r
}

func newCaller(c *attribution.Caller, held time.Duration, waitedForTop float64) Caller {
	out := Caller{
		Name:                c.Name,
		HeldSeconds:         c.TotalHeld().Seconds(),
		HeldShare:           share(c.TotalHeld(), held),
		Phases:              map[string]Phase{},
		Holds:               c.Holds,
		HoldP95Seconds:      c.HoldTimes.Quantile(0.95).Seconds(),
		WaitP95Seconds:      c.WaitTimes.Quantile(0.95).Seconds(),
		Waits:               c.Waits,
		WaitedSeconds:       c.WaitTimes.Sum.Seconds(),
		WaitedForTopSeconds: waitedForTop,
		Statements:          c.Statements,
		Pins:                map[string]uint64{},
	}
	for p, d := range c.Held {
		out.Phases[attribution.Phase(p).String()] = Phase{Seconds: d.Seconds(), Share: share(d, held)}
	}
	for reason, n := range c.Pins {
		if n > 0 {
			out.Pins[attribution.PinReason(reason).String()] = n
		}
	}
	return out
}

// topPhase is the phase in which a caller held connections longest.
func topPhase(c *attribution.Caller) attribution.Phase {
	top := attribution.Phase(0)
	for p := range c.Held {
		if c.Held[p] > c.Held[top] {
			top = attribution.Phase(p)
		}
	}
	return top
}

func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
