package attribution

import "testing"

func TestWaitOfATaggedStatementIsChargedAtOnce(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Waiting(0)
	s := b.cut(7 * ms)
	wantWaited(t, s, "checkout", 7*ms)
	wantCount(t, "waiting now", callerOf(s, "checkout").Waiting, 1)
	wantCount(t, "waits", callerOf(s, "checkout").Waits, 0)
	b.meter.Granted(60 * ms)
	s = b.cut(60 * ms)
	wantWaited(t, s, "checkout", 60*ms)
	wantCount(t, "waiting now", callerOf(s, "checkout").Waiting, 0)
	wantCount(t, "waits", callerOf(s, "checkout").Waits, 1)
}

func TestWaitIsObservedOnceWithItsWholeLength(t *testing.T) {
	b := openBook()
	b.meter.Statement(nil, 0)
	b.meter.Waiting(0)
	b.cut(20 * ms) // 20 ms go to the fallback and stay there
	b.meter.Granted(60 * ms)
	b.meter.Statement(b.account("checkout"), 61*ms)
	b.meter.Returned(62 * ms)
	s := b.cut(62 * ms)
	wantWaited(t, s, "user:app", 20*ms)
	wantWaited(t, s, "checkout", 40*ms)
	wantCount(t, "observations of the fallback", callerOf(s, "user:app").WaitTimes.Count, 0)
	c := callerOf(s, "checkout")
	if c.WaitTimes.Count != 1 || c.WaitTimes.Sum != 60*ms {
		t.Errorf("observed %d waits of %v, want 1 of 60ms", c.WaitTimes.Count, c.WaitTimes.Sum)
	}
}

func TestAcquireWithoutAWaitIsObservedAsZero(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 5*ms)
	b.meter.Granted(5 * ms)
	c := callerOf(b.cut(5*ms), "checkout")
	wantCount(t, "waits", c.Waits, 0)
	wantCount(t, "observations in the lowest bucket", c.WaitTimes.Counts[0], 1)
}

func TestWaitThatTimesOutIsChargedAndObserved(t *testing.T) {
	for _, tag := range []string{"", "checkout"} {
		b := openBook()
		var a *Account
		name := "user:app"
		if tag != "" {
			a, name = b.account(tag), tag
		}
		b.meter.Statement(a, 0)
		b.meter.Waiting(0)
		b.meter.GaveUp(30 * ms)
		b.meter.TimedOut()
		b.meter.Error(WaitTimeout)
		b.meter.Statement(b.account("later"), 40*ms)
		s := b.cut(40 * ms)
		wantWaited(t, s, name, 30*ms)
		wantTotal(t, s, name, 0)
		c := callerOf(s, name)
		wantCount(t, "waits", c.Waits, 1)
		wantCount(t, "wait observations", c.WaitTimes.Count, 1)
		wantCount(t, "time-outs", c.WaitTimeouts, 1)
		wantCount(t, "abandoned", c.Abandoned, 0)
		wantCount(t, "errors", c.Errors[WaitTimeout], 1)
		wantCount(t, "statements", c.Statements, 1)
		wantWaited(t, s, "later", 0)
	}
}

func TestWaitThatGivesUpWithoutATimeoutIsAbandoned(t *testing.T) {
	for what, next := range map[string]func(book){
		"statement":   func(b book) { b.meter.Statement(b.account("later"), 2*ms) },
		"wait":        func(b book) { b.meter.Waiting(2 * ms) },
		"lease":       func(b book) { b.meter.Granted(2 * ms) },
		"close":       func(b book) { b.meter.Close() },
		"change user": func(b book) { b.meter.Init(b.Ledger, b.account("user:other")) },
	} {
		b := openBook()
		b.meter.Statement(b.account("checkout"), 0)
		b.meter.Waiting(0)
		b.meter.GaveUp(1 * ms)
		next(b)
		b.meter.TimedOut() // too late: not about that wait
		c := callerOf(b.cut(2*ms), "checkout")
		if c.Abandoned != 1 || c.WaitTimeouts != 0 {
			t.Errorf("%s: abandoned %d, time-outs %d, want 1 and 0", what, c.Abandoned, c.WaitTimeouts)
		}
	}
}
