package admin

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

func callersReply(at time.Time, s proxy.Snapshot) CallersReply {
	out := CallersReply{At: at, Since: s.Started, Callers: []Caller{}}
	for _, p := range s.Pools {
		total := heldTotal(p.Ledger)
		for i := range p.Ledger.Callers {
			out.Callers = append(out.Callers, caller(p.Name, &p.Ledger.Callers[i], total))
		}
	}
	return out
}

// heldTotal is summed here, not taken from the pool, so that the shares add up to 1 whatever the ledger does.
func heldTotal(l attribution.Snapshot) time.Duration {
	var total time.Duration
	for i := range l.Callers {
		total += l.Callers[i].TotalHeld()
	}
	return total
}

func caller(pool string, c *attribution.Caller, total time.Duration) Caller {
	out := Caller{
		Pool: pool, Name: c.Name,
		HeldSeconds:       c.TotalHeld().Seconds(),
		HeldShare:         share(c.TotalHeld(), total),
		Phases:            make(map[string]Phase, attribution.NumPhases),
		OldestHoldSeconds: c.OldestHold.Seconds(),
		Holds:             c.Holds,
		HoldP50Seconds:    c.HoldTimes.Quantile(0.50).Seconds(),
		HoldP99Seconds:    c.HoldTimes.Quantile(0.99).Seconds(),
		WaitedSeconds:     c.Waited.Seconds(),
		Waiting:           c.Waiting,
		Waits:             c.Waits,
		WaitP50Seconds:    c.WaitTimes.Quantile(0.50).Seconds(),
		WaitP99Seconds:    c.WaitTimes.Quantile(0.99).Seconds(),
		WaitTimeouts:      c.WaitTimeouts,
		WaitsAbandoned:    c.Abandoned,
		BytesFromClient:   c.BytesFromClient,
		BytesToClient:     c.BytesToClient,
		Statements:        c.Statements,
		Errors:            counts[attribution.ErrorClass](c.Errors[:]),
		Pins:              counts[attribution.PinReason](c.Pins[:]),
	}
	for i, held := range c.Held {
		out.Phases[attribution.Phase(i).String()] = Phase{
			Seconds: held.Seconds(), Share: share(held, total), BackendConns: c.InUse[i],
		}
		out.BackendConns += c.InUse[i]
	}
	return out
}

func poolsReply(at time.Time, s proxy.Snapshot) PoolsReply {
	out := PoolsReply{At: at, Since: s.Started, Pools: []Pool{}}
	for _, p := range s.Pools {
		out.Pools = append(out.Pools, Pool{
			Name: p.Name, Address: p.Address, Up: p.Up,
			Limit: p.Stat.Size, Idle: p.Stat.Idle, InUse: p.Stat.InUse, Dialing: p.Stat.Dialing, Closing: p.Stat.Closing, Waiting: p.Stat.Waiting,
			InUseSeconds:             p.Stat.InUseTime.Seconds(),
			FullSeconds:              p.Stat.FullTime.Seconds(),
			HeldSeconds:              heldTotal(p.Ledger).Seconds(),
			ConservationErrorSeconds: p.ConservationError.Seconds(),
			OldestHoldSeconds:        p.Ledger.OldestHold.Seconds(),
			OldestHoldCaller:         p.Ledger.OldestCaller,
			Acquires:                 p.Stat.Acquires,
			Waits:                    p.Stat.Waits,
			WaitTimeouts:             p.Stat.WaitTimeouts,
			WaitsAbandoned:           p.Stat.Abandoned + p.Stat.WaitErrors,
			WaitErrors:               p.Stat.WaitErrors,
			Dials:                    p.Stat.Dials,
			DialErrors:               p.Stat.DialErrors,
			Closes:                   counts[pool.CloseReason](p.Stat.Closes[:]),
			Callers:                  len(p.Ledger.Callers),
			CallersFolded:            p.Ledger.Folded,
			BytesSent:                p.BytesSent,
			BytesReceived:            p.BytesReceived,
		})
	}
	return out
}

func sessionsReply(at time.Time, sessions []proxy.SessionInfo) SessionsReply {
	out := SessionsReply{At: at, Sessions: make([]Session, 0, len(sessions))}
	for _, s := range sessions {
		pins := s.PinReasons
		if pins == nil {
			pins = []string{} // a list in JSON, never null
		}
		out.Sessions = append(out.Sessions, Session{
			ID: s.ID, User: s.User, Client: s.Client, Schema: s.Schema, Caller: s.Caller, Phase: s.Phase,
			PinReasons: pins, BackendID: s.BackendID, Since: s.Since,
			HeldForSeconds: s.HeldFor.Seconds(), Statements: s.Statements,
		})
	}
	slices.SortFunc(out.Sessions, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func share(part, total time.Duration) float64 {
	if total <= 0 {
		return 0
	}
	return float64(part) / float64(total)
}

// word is an enumeration with a name for every value.
type word interface {
	~uint8
	fmt.Stringer
}

// counts is the non-zero entries of a table that is indexed by a word.
func counts[W word](table []uint64) map[string]uint64 {
	out := map[string]uint64{}
	for i, n := range table {
		if n > 0 {
			out[W(i).String()] = n
		}
	}
	return out
}
