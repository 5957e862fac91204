package attribution

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// trial runs the same events through meters and through the model.
type trial struct {
	t      *rapid.T
	ledger *Ledger
	meters []*Meter
	model  model
	names  []string
	now    time.Duration
	leases int
	before map[string]Caller
}

func TestLedgerAgreesWithTheModelAtEveryCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newTrial(t)
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) { x.now += time.Duration(rapid.IntRange(0, 50_000_000).Draw(t, "ns")) },
			"statement":   x.statement,
			"acquire":     x.acquire,
			"give up":     x.giveUp,
			"phase":       x.phase,
			"return":      x.giveBack,
			"count":       x.count,
			"cut":         x.cut,
		})
		x.closeAll()
	})
}

func newTrial(t *rapid.T) *trial {
	x := &trial{t: t, before: map[string]Caller{}}
	x.ledger = NewLedger(Config{MaxCallers: rapid.IntRange(2, 8).Draw(t, "max callers"), Callers: []string{"a"}})
	x.names = []string{"", "", "a", "b", "c", "user:0", "user:1", "d", "e"}
	for i := range rapid.IntRange(1, 5).Draw(t, "sessions") {
		a := x.ledger.Account(fmt.Appendf(nil, "user:%d", i%2))
		m := &Meter{}
		m.Init(x.ledger, a)
		x.meters = append(x.meters, m)
		x.model.sessions = append(x.model.sessions, &modelSession{fallback: a.Name()})
	}
	return x
}

func (x *trial) pick(t *rapid.T) (*Meter, *modelSession) {
	i := rapid.IntRange(0, len(x.meters)-1).Draw(t, "session")
	return x.meters[i], x.model.sessions[i]
}

// sessionTime is the clock as a session read it, perhaps long before its event gets the meter's lock.
func (x *trial) sessionTime(t *rapid.T) time.Duration {
	return max(0, x.now-time.Duration(rapid.IntRange(0, 2).Draw(t, "late"))*7*ms)
}

func (x *trial) statement(t *rapid.T) {
	m, s := x.pick(t)
	now := x.sessionTime(t)
	name := rapid.SampledFrom(x.names).Draw(t, "tag")
	var a *Account
	if name != "" {
		a = x.ledger.Account([]byte(name))
		name = a.Name()
	}
	m.Statement(a, now)
	x.model.statement(s, name, now)
}

func (x *trial) acquire(t *rapid.T) {
	m, s := x.pick(t)
	if s.holding {
		return
	}
	if !s.waiting && rapid.Bool().Draw(t, "queue") {
		m.Waiting(x.now)
		x.model.wait(s, x.now)
		return
	}
	x.leases++
	m.Granted(x.now)
	x.model.grant(s, x.now, x.leases)
}

func (x *trial) giveUp(t *rapid.T) {
	m, s := x.pick(t)
	if !s.waiting {
		return
	}
	m.GaveUp(x.now)
	x.model.giveUp(s, x.now)
	if rapid.Bool().Draw(t, "timed out") {
		m.TimedOut()
		x.model.timedOut(s)
	}
}

func (x *trial) phase(t *rapid.T) {
	m, s := x.pick(t)
	now, p := x.sessionTime(t), Phase(rapid.IntRange(0, NumPhases-1).Draw(t, "phase"))
	m.Enter(p, now)
	if s.holding && p != s.phase {
		x.model.pass(s, now)
		s.phase = p
	}
}

func (x *trial) giveBack(t *rapid.T) {
	m, s := x.pick(t)
	if !s.holding {
		return
	}
	m.Returned(x.now)
	x.model.giveBack(s, x.now)
}

func (x *trial) count(t *rapid.T) {
	m, s := x.pick(t)
	m.Error(Deadlock)
	m.Pin(Cursor)
	m.AddBytes(3, 5)
	x.model.add(s, "error", 1)
	x.model.add(s, "pin", 1)
	x.model.add(s, "bytes from client", 3)
	x.model.add(s, "bytes to client", 5)
}

// cut looks at the clock before some of the sessions' last events, but never before the pool's last one.
func (x *trial) cut(t *rapid.T) {
	now := max(x.model.last, x.sessionTime(t))
	x.model.poolEvent(now)
	at := now
	var meters []*Meter
	for i, s := range x.model.sessions {
		if s.waiting || s.holding {
			meters = append(meters, x.meters[i])
			at = max(at, s.upTo)
		}
	}
	s := x.ledger.Cut(now, meters)
	x.model.cut(at)
	if s.At != at {
		t.Fatalf("cut at %v, want %v", s.At, at)
	}
	if got := s.Imbalance(now, x.model.integral, x.model.leased); got != 0 {
		t.Fatalf("imbalance of %v at %v", got, at)
	}
	if got := s.WaitImbalance(now, x.model.queueing, x.model.queued); got != 0 {
		t.Fatalf("imbalance of the waits of %v at %v", got, at)
	}
	x.compare(t, s)
	x.neverDecreasing(t, s)
	x.nothingLost(t, s)
}

// compare checks every figure of every caller against the model.
func (x *trial) compare(t *rapid.T, s Snapshot) {
	sums, open := x.model.sums(), x.model.open()
	for _, c := range s.Callers {
		want := sums[c.Name]
		figures := map[string]time.Duration{
			"waited": c.Waited, "acquire length": c.WaitTimes.Sum,
			"wait": time.Duration(c.Waits), "acquire": time.Duration(c.WaitTimes.Count),
			"abandoned": time.Duration(c.Abandoned), "timeout": time.Duration(c.WaitTimeouts),
			"hold": time.Duration(c.Holds), "statement": time.Duration(c.Statements),
			"error": time.Duration(c.Errors[Deadlock]), "pin": time.Duration(c.Pins[Cursor]),
			"bytes from client": time.Duration(c.BytesFromClient), "bytes to client": time.Duration(c.BytesToClient),
		}
		for p, d := range c.Held {
			figures["held "+Phase(p).String()] = d
		}
		for what, got := range figures {
			if got != want[what] {
				t.Fatalf("%s: %s is %d, want %d", c.Name, what, got, want[what])
			}
		}
		if got := c.HoldTimes.Sum + open[c.Name]; got != c.TotalHeld() {
			t.Fatalf("%s: observed %v and open %v, held %v", c.Name, c.HoldTimes.Sum, open[c.Name], c.TotalHeld())
		}
	}
}

// neverDecreasing checks what Prometheus counters need: no figure of any caller goes back.
func (x *trial) neverDecreasing(t *rapid.T, s Snapshot) {
	for _, c := range s.Callers {
		was := x.before[c.Name]
		for p := range c.Held {
			if c.Held[p] < was.Held[p] {
				t.Fatalf("%s: %v went from %v to %v", c.Name, Phase(p), was.Held[p], c.Held[p])
			}
		}
		for i := range was.HoldTimes.Counts {
			if c.HoldTimes.Counts[i] < was.HoldTimes.Counts[i] {
				t.Fatalf("%s: hold bucket %d went back", c.Name, i)
			}
		}
		for i := range was.WaitTimes.Counts {
			if c.WaitTimes.Counts[i] < was.WaitTimes.Counts[i] {
				t.Fatalf("%s: wait bucket %d went back", c.Name, i)
			}
		}
		if c.Waited < was.Waited || c.Waits < was.Waits || c.Holds < was.Holds || c.Statements < was.Statements ||
			c.HoldTimes.Sum < was.HoldTimes.Sum || c.WaitTimes.Sum < was.WaitTimes.Sum || c.Abandoned < was.Abandoned {
			t.Fatalf("%s went back from %+v to %+v", c.Name, was, c)
		}
		x.before[c.Name] = c
	}
	if len(s.Callers) < len(x.before) {
		t.Fatal("a caller is gone")
	}
}

// nothingLost checks the sums over all callers: every acquire and return of the pool is there exactly once.
func (x *trial) nothingLost(t *rapid.T, s Snapshot) {
	var acquires, waited, openWaits = uint64(0), time.Duration(0), time.Duration(0)
	var holds, stretches uint64
	var inUse, waiting int
	for _, c := range s.Callers {
		acquires += c.WaitTimes.Count
		waited += c.WaitTimes.Sum
		holds += c.Holds
		stretches += c.HoldTimes.Count
		waiting += c.Waiting
		for _, n := range c.InUse {
			inUse += n
		}
	}
	for _, m := range x.model.sessions {
		if m.waiting {
			openWaits += s.At - m.began
		}
	}
	if acquires != x.model.acquires || holds != x.model.returns || stretches != x.model.returns+x.model.turns {
		t.Fatalf("acquires %d, holds %d, stretches %d; want %d, %d, %d", acquires, holds, stretches,
			x.model.acquires, x.model.returns, x.model.returns+x.model.turns)
	}
	if waited+openWaits != s.Waited {
		t.Fatalf("observed waits %v and open ones %v, waited %v", waited, openWaits, s.Waited)
	}
	if inUse != x.model.leased || waiting != x.model.queued {
		t.Fatalf("in use %d, waiting %d; want %d, %d", inUse, waiting, x.model.leased, x.model.queued)
	}
}

// closeAll ends every session and checks that the ledger then has everything that ever happened.
func (x *trial) closeAll() {
	for i, s := range x.model.sessions {
		switch m := x.meters[i]; {
		case s.holding:
			m.Returned(x.now)
			x.model.giveBack(s, x.now)
		case s.waiting:
			m.GaveUp(x.now)
			x.model.giveUp(s, x.now)
		}
		x.meters[i].Close()
		x.model.forgetPaid(s)
		x.model.give(s, s.fallback)
	}
	s := x.ledger.Cut(x.now, nil)
	x.model.poolEvent(x.now)
	x.compare(x.t, s)
	x.neverDecreasing(x.t, s)
	x.nothingLost(x.t, s)
	if got := s.Imbalance(x.now, x.model.integral, 0); got != 0 {
		x.t.Fatalf("imbalance of %v at the end", got)
	}
}
