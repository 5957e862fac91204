package demo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conntag/conntag/attribution"
)

// standsOut is the share of connection-seconds from which on a caller is called the cause of a shortage.
const standsOut = 0.4

// phaseWords continue "… of that" with what a phase means for a held connection.
var phaseWords = map[string]string{
	attribution.Executing.String():         "executing statements",
	attribution.Sending.String():           "sending replies to clients that read slowly",
	attribution.IdleInTransaction.String(): "idle in transaction, with no statement running",
	attribution.Pinned.String():            "pinned: kept at rest for its session state",
	attribution.Preparing.String():         "preparing connections: login, reset and replay of session state",
}

// verdict is who held the pool, who waited because of it, and what to do, a paragraph each. It knows the report only.
func verdict(r Report) []string {
	if r.TopHolder == "" {
		return []string{"No connection was held: no statement reached the pool."}
	}
	top := r.Callers[0]
	paragraphs := []string{holding(r, top), waiting(r, top), "Fix: " + fix(r, top)}
	if r.ConservationErrorSeconds != 0 || r.WaitConservationErrorSeconds != 0 {
		paragraphs = append(paragraphs, fmt.Sprintf("The books do not balance: held seconds are off by %g and waited seconds by %g. "+
			"That is a defect of conntag, and the figures above may be wrong by as much.", r.ConservationErrorSeconds, r.WaitConservationErrorSeconds))
	}
	if r.FailedVisits > 0 {
		paragraphs = append(paragraphs, fmt.Sprintf("%s of the workload failed, the first with: %s", times(uint64(r.FailedVisits), "call"), r.FirstFailure))
	}
	return paragraphs
}

func holding(r Report, top Caller) string {
	held := fmt.Sprintf("%s of all connection-seconds (%.1f of %.1f s), %s of that %s", percent(top.HeldShare), top.HeldSeconds, r.HeldSeconds,
		percent(top.Phases[r.TopPhase].Seconds/top.HeldSeconds), phaseWords[r.TopPhase])
	if top.HeldShare >= standsOut {
		return top.Name + " held the pool: " + held + "."
	}
	return "No caller held the pool alone. " + top.Name + " held most: " + held + "."
}

func waiting(r Report, top Caller) string {
	if r.Waits == 0 {
		return fmt.Sprintf("Nobody waited: the pool of %d had a connection whenever one was asked for, and all were in use for %.1f of %.1f s.",
			r.PoolSize, r.FullSeconds, r.DurationSeconds)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "All %d connections were in use for %.1f of %.1f s; callers queued %s, %.1f s in total.",
		r.PoolSize, r.FullSeconds, r.DurationSeconds, times(r.Waits, "time"), r.WaitedTotal)
	if others := victims(r, top); len(others) > 0 {
		var waited, forTop float64
		for _, c := range others {
			waited += c.WaitedSeconds
			forTop += c.WaitedForTopSeconds
		}
		fmt.Fprintf(&b, " Others waited %.1f s, %s of it because of %s: ", waited, percent(forTop/waited), top.Name)
		for i, c := range others[:min(5, len(others))] {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %.1f s (p95 %s)", c.Name, c.WaitedForTopSeconds, milliseconds(c.WaitP95Seconds))
		}
		if more := len(others) - 5; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteString(".")
	}
	if top.WaitedSeconds > 0 {
		fmt.Fprintf(&b, " %s itself waited %.1f s (p95 %s).", top.Name, top.WaitedSeconds, milliseconds(top.WaitP95Seconds))
	}
	if r.WaitTimeouts > 0 {
		fmt.Fprintf(&b, " %s ended in error 1040, without a connection.", times(r.WaitTimeouts, "wait"))
	}
	return b.String()
}

// victims are the callers but top that waited, longest wait because of top first.
func victims(r Report, top Caller) []Caller {
	others := slices.DeleteFunc(slices.Clone(r.Callers), func(c Caller) bool { return c.Name == top.Name || c.WaitedSeconds <= 0 })
	slices.SortStableFunc(others, func(a, b Caller) int { return cmp.Compare(b.WaitedForTopSeconds, a.WaitedForTopSeconds) })
	return others
}

func fix(r Report, top Caller) string {
	switch {
	case r.Waits == 0:
		return fmt.Sprintf("nothing at this load. At a higher one, look first at what %s does while it is %s.", top.Name, shortPhase(r.TopPhase))
	case top.HeldShare < standsOut:
		return "no caller alone is the cause. Raise pool.size as far as the database allows, or shorten the holds of the first few."
	}
	switch r.TopPhase {
	case attribution.IdleInTransaction.String():
		return fmt.Sprintf("take what %s does between its statements, such as a call to another service, out of its transaction: "+
			"before BEGIN or after COMMIT. %s", top.Name, without(r, top))
	case attribution.Pinned.String():
		return fmt.Sprintf("let %s give up what keeps its connections (%s) as soon as it can. %s", top.Name, pinWords(top.Pins), without(r, top))
	case attribution.Executing.String():
		return fmt.Sprintf("make the statements of %s faster: look at their plans, their indexes and the locks they wait for.", top.Name)
	case attribution.Sending.String():
		return fmt.Sprintf("let %s select less, or read its results at once instead of working while it reads.", top.Name)
	default:
		return fmt.Sprintf("let the clients of %s keep the same session settings and schema as the others, so that there is nothing to replay.", top.Name)
	}
}

// without is what the same work would need if top released its connections while at rest: Little's law, with that time
// taken out of the holds.
func without(r Report, top Caller) string {
	saved := top.Phases[r.TopPhase].Seconds
	return fmt.Sprintf("Without that time the same work would have needed %.1f connections on average instead of %.1f.",
		(r.HeldSeconds-saved)/r.DurationSeconds, r.HeldSeconds/r.DurationSeconds)
}

func shortPhase(phase string) string { return strings.ReplaceAll(phase, "_", " ") }

// pinWords is "user_lock 12 times, temp_table 3 times", most first.
func pinWords(pins map[string]uint64) string {
	if len(pins) == 0 {
		return "see conntag show sessions"
	}
	reasons := slices.SortedFunc(maps.Keys(pins), func(a, b string) int {
		return cmp.Or(cmp.Compare(pins[b], pins[a]), cmp.Compare(a, b))
	})
	for i, reason := range reasons {
		reasons[i] = reason + " " + times(pins[reason], "time")
	}
	return strings.Join(reasons, ", ")
}

// times is "1 wait" or "8,113 waits".
func times(n uint64, noun string) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n != 1 {
		noun += "s"
	}
	return digits + " " + noun
}

func milliseconds(seconds float64) string {
	return length(time.Duration(seconds * float64(time.Second)))
}
