package attribution

import "testing"

func TestCutChargesOpenHoldsAndWaitsUpToNow(t *testing.T) {
	b := openBook()
	var second Meter
	second.Init(b.Ledger, b.fallback)
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Enter(Executing, 0)
	second.Statement(b.account("checkout"), 3*ms)
	second.Waiting(3 * ms)
	for now := 5 * ms; now <= 15*ms; now += 5 * ms {
		s := b.Cut(now, []*Meter{b.meter, &second})
		wantHeld(t, s, "checkout", Executing, now)
		wantWaited(t, s, "checkout", now-3*ms)
		c := callerOf(s, "checkout")
		wantCount(t, "executing now", c.InUse[Executing], 1)
		wantCount(t, "waiting now", c.Waiting, 1)
		wantCount(t, "finished holds", c.HoldTimes.Count, 0)
		if s.OldestHold != now || s.OldestCaller != "checkout" || c.OldestHold != now {
			t.Errorf("oldest hold %v of %q, want %v of checkout", s.OldestHold, s.OldestCaller, now)
		}
		if got := s.Imbalance(now-1*ms, now-1*ms, 1); got != 0 {
			t.Errorf("imbalance %v at %v", got, now)
		}
	}
}

func TestCutAfterALaterEventMovesToThatEvent(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Enter(Executing, 0)
	b.meter.Enter(Sending, 12*ms)
	s := b.cut(10 * ms) // the pool looked at the clock before the session did
	if s.At != 12*ms || s.Held != 12*ms {
		t.Errorf("cut at %v with %v held, want both 12ms", s.At, s.Held)
	}
	if got := s.Imbalance(10*ms, 10*ms, 1); got != 0 {
		t.Errorf("imbalance %v", got)
	}
}

func TestSnapshotDoesNotChangeAfterwards(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	s := b.cut(1 * ms)
	b.meter.Returned(9 * ms)
	wantTotal(t, s, "checkout", 1*ms)
	wantCount(t, "hold observations", callerOf(s, "checkout").HoldTimes.Count, 0)
}

func TestUntaggedHoldShowsUnderTheFallback(t *testing.T) {
	b := openBook()
	b.meter.Granted(0)
	b.meter.Enter(IdleInTransaction, 0)
	s := b.cut(2 * ms)
	wantCount(t, "idle in transaction now", callerOf(s, "user:app").InUse[IdleInTransaction], 1)
	if s.OldestCaller != "user:app" {
		t.Errorf("oldest hold is of %q", s.OldestCaller)
	}
}

func TestCutOfAnotherLedgersMeterPanics(t *testing.T) {
	b := openBook()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewLedger(DefaultConfig()).Cut(0, []*Meter{b.meter})
}
