package attribution

import (
	"testing"
	"time"
)

func TestStatementWithATagIsChargedToItsTag(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Enter(Executing, 2*ms)
	b.meter.Returned(10 * ms)
	s := b.cut(20 * ms)
	wantHeld(t, s, "checkout", Preparing, 2*ms)
	wantHeld(t, s, "checkout", Executing, 8*ms)
	wantTotal(t, s, "user:app", 0)
	wantCount(t, "statements", callerOf(s, "checkout").Statements, 1)
	wantCount(t, "holds", callerOf(s, "checkout").Holds, 1)
}

func TestUntaggedStatementInheritsTheLeasesCaller(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Enter(Executing, 0)
	b.meter.Statement(nil, 5*ms)
	b.meter.Error(Duplicate)
	b.meter.Pin(UserLock)
	b.meter.Returned(9 * ms)
	s := b.cut(9 * ms)
	wantHeld(t, s, "checkout", Executing, 9*ms)
	c := callerOf(s, "checkout")
	wantCount(t, "statements", c.Statements, 2)
	wantCount(t, "errors", c.Errors[Duplicate], 1)
	wantCount(t, "pins", c.Pins[UserLock], 1)
}

func TestWhatCameBeforeTheFirstTagIsChargedToIt(t *testing.T) {
	b := openBook()
	b.meter.Statement(nil, 0) // BEGIN
	b.meter.Waiting(0)
	b.meter.Granted(3 * ms)
	b.meter.Enter(Executing, 4*ms)
	b.meter.Error(Syntax)
	b.meter.Pin(TempTable)
	b.meter.AddBytes(7, 11)
	b.meter.Enter(IdleInTransaction, 6*ms)
	b.meter.Statement(b.account("checkout"), 10*ms)
	b.meter.Enter(Executing, 10*ms)
	b.meter.Returned(11 * ms)
	s := b.cut(11 * ms)
	wantHeld(t, s, "checkout", Preparing, 1*ms)
	wantHeld(t, s, "checkout", Executing, 3*ms)
	wantHeld(t, s, "checkout", IdleInTransaction, 4*ms)
	wantWaited(t, s, "checkout", 3*ms)
	c := callerOf(s, "checkout")
	wantCount(t, "statements", c.Statements, 2)
	wantCount(t, "errors", c.Errors[Syntax], 1)
	wantCount(t, "pins", c.Pins[TempTable], 1)
	wantCount(t, "bytes from the client", c.BytesFromClient, 7)
	wantCount(t, "bytes to the client", c.BytesToClient, 11)
	wantCount(t, "waits", c.Waits, 1)
	wantCount(t, "wait observations", c.WaitTimes.Count, 1)
	wantCount(t, "hold observations", c.HoldTimes.Count, 1)
	if c.HoldTimes.Sum != 8*ms || c.WaitTimes.Sum != 3*ms {
		t.Errorf("observed hold %v and wait %v, want 8ms and 3ms", c.HoldTimes.Sum, c.WaitTimes.Sum)
	}
	f := callerOf(s, "user:app")
	if f.TotalHeld() != 0 || f.Waited != 0 || f.Statements != 0 || f.HoldTimes.Count != 0 || f.WaitTimes.Count != 0 {
		t.Errorf("the fallback was charged too: %+v", f)
	}
}

func TestWhatACutHasChargedToTheFallbackStaysThere(t *testing.T) {
	b := openBook()
	b.meter.Statement(nil, 0)
	b.meter.Granted(0)
	b.meter.Enter(Executing, 0)
	b.meter.Error(Other)
	s := b.cut(4 * ms)
	wantHeld(t, s, "user:app", Executing, 4*ms)
	wantCount(t, "statements of the fallback", callerOf(s, "user:app").Statements, 1)
	wantCount(t, "errors of the fallback", callerOf(s, "user:app").Errors[Other], 1)

	b.meter.Statement(b.account("checkout"), 10*ms)
	b.meter.Returned(12 * ms)
	s = b.cut(12 * ms)
	wantHeld(t, s, "user:app", Executing, 4*ms)
	wantHeld(t, s, "checkout", Executing, 8*ms) // 4..10 were pending since the cut
	wantCount(t, "statements of the tag", callerOf(s, "checkout").Statements, 1)
	for name, want := range map[string]uint64{"user:app": 4, "checkout": 8} {
		if got := callerOf(s, name).HoldTimes; got.Count != 1 || got.Sum != time.Duration(want)*ms {
			t.Errorf("%s: observed %d stretches of %v, want 1 of %dms", name, got.Count, got.Sum, want)
		}
	}
}

func TestHoldWithoutAnyTagIsChargedToTheFallback(t *testing.T) {
	b := openBook()
	b.meter.Statement(nil, 0)
	b.meter.Waiting(0)
	b.meter.Granted(2 * ms)
	b.meter.Enter(Executing, 2*ms)
	b.meter.Pin(Cursor)
	b.meter.Enter(Pinned, 5*ms)
	b.meter.Returned(9 * ms)
	s := b.cut(9 * ms)
	wantHeld(t, s, "user:app", Executing, 3*ms)
	wantHeld(t, s, "user:app", Pinned, 4*ms)
	wantWaited(t, s, "user:app", 2*ms)
	c := callerOf(s, "user:app")
	wantCount(t, "statements", c.Statements, 1)
	wantCount(t, "pins", c.Pins[Cursor], 1)
	wantCount(t, "waits", c.Waits, 1)
	wantCount(t, "hold observations", c.HoldTimes.Count, 1)
}

func TestBetweenStatementsTheCallerIsTheOneOfTheStatementThatEnded(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Enter(Executing, 0)
	b.meter.Enter(IdleInTransaction, 2*ms)
	b.meter.Statement(b.account("inventory"), 10*ms)
	b.meter.Enter(Executing, 10*ms)
	b.meter.Enter(IdleInTransaction, 13*ms)
	b.meter.Returned(20 * ms)
	s := b.cut(20 * ms)
	wantHeld(t, s, "checkout", Executing, 2*ms)
	wantHeld(t, s, "checkout", IdleInTransaction, 8*ms)
	wantHeld(t, s, "inventory", Executing, 3*ms)
	wantHeld(t, s, "inventory", IdleInTransaction, 7*ms)
	wantCount(t, "holds of the first caller", callerOf(s, "checkout").Holds, 0)
	wantCount(t, "holds of the last caller", callerOf(s, "inventory").Holds, 1)
}

func TestTagNeverOutlivesItsLease(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Returned(2 * ms)
	b.meter.Statement(nil, 3*ms)
	b.meter.Waiting(3 * ms)
	b.meter.Granted(4 * ms)
	b.meter.Returned(9 * ms)
	s := b.cut(9 * ms)
	wantTotal(t, s, "checkout", 2*ms)
	wantTotal(t, s, "user:app", 5*ms)
	wantWaited(t, s, "user:app", 1*ms)
}

func TestLeaseWithoutAStatementDoesNotInheritTheLastTag(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Returned(2 * ms)
	b.meter.Waiting(3 * ms) // a command that is no statement
	b.meter.Granted(4 * ms)
	b.meter.Returned(9 * ms)
	s := b.cut(9 * ms)
	wantTotal(t, s, "checkout", 2*ms)
	wantTotal(t, s, "user:app", 5*ms)
	wantWaited(t, s, "user:app", 1*ms)
}

func TestTagOfAStatementWithoutALeaseIsNotInherited(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0) // answered by the proxy itself
	b.meter.Statement(nil, 1*ms)
	b.meter.Granted(1 * ms)
	b.meter.Returned(3 * ms)
	s := b.cut(3 * ms)
	wantTotal(t, s, "checkout", 0)
	wantTotal(t, s, "user:app", 2*ms)
	wantCount(t, "statements of the tag", callerOf(s, "checkout").Statements, 1)
}

func TestUntaggedStatementWithoutALeaseIsNotClaimedByALaterTag(t *testing.T) {
	b := openBook()
	b.meter.Statement(nil, 0)
	b.meter.Error(Syntax)
	b.meter.Statement(b.account("checkout"), 1*ms)
	s := b.cut(1 * ms)
	wantCount(t, "statements of the fallback", callerOf(s, "user:app").Statements, 1)
	wantCount(t, "errors of the fallback", callerOf(s, "user:app").Errors[Syntax], 1)
	wantCount(t, "statements of the tag", callerOf(s, "checkout").Statements, 1)
}

func TestErrorReportedAfterTheLeaseIsBackBelongsToItsCaller(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Returned(2 * ms)
	b.meter.Error(Gone)
	b.meter.Statement(nil, 3*ms)
	b.meter.Error(Syntax)
	b.meter.Close()
	s := b.cut(3 * ms)
	wantCount(t, "lost backends of the tag", callerOf(s, "checkout").Errors[Gone], 1)
	wantCount(t, "errors of the next statement", callerOf(s, "user:app").Errors[Syntax], 1)
}

func TestChangeOfCallerObservesTheFinishedStretch(t *testing.T) {
	b := openBook()
	x, y := b.account("x"), b.account("y")
	b.meter.Statement(x, 0)
	b.meter.Granted(0)
	b.meter.Statement(y, 10*ms)
	b.meter.Statement(y, 20*ms) // the same caller: no new stretch
	b.meter.Statement(x, 30*ms)
	s := b.cut(40 * ms)
	if got := callerOf(s, "x").HoldTimes; got.Count != 1 || got.Sum != 10*ms {
		t.Errorf("x while its second stretch is open: %d of %v, want 1 of 10ms", got.Count, got.Sum)
	}
	b.meter.Returned(45 * ms)
	s = b.cut(45 * ms)
	if got := callerOf(s, "x").HoldTimes; got.Count != 2 || got.Sum != 25*ms {
		t.Errorf("x: %d of %v, want 2 of 25ms", got.Count, got.Sum)
	}
	if got := callerOf(s, "y").HoldTimes; got.Count != 1 || got.Sum != 20*ms {
		t.Errorf("y: %d of %v, want 1 of 20ms", got.Count, got.Sum)
	}
}

func TestTagEqualToTheFallbackContinuesItsStretch(t *testing.T) {
	b := openBook()
	b.meter.Statement(nil, 0)
	b.meter.Granted(0)
	b.cut(5 * ms)
	b.meter.Statement(b.fallback, 7*ms)
	b.meter.Returned(9 * ms)
	if got := callerOf(b.cut(9*ms), "user:app").HoldTimes; got.Count != 1 || got.Sum != 9*ms {
		t.Errorf("observed %d of %v, want 1 of 9ms", got.Count, got.Sum)
	}
}

func TestEventBeforeTheSegmentsStartChargesNothing(t *testing.T) {
	b := openBook()
	b.meter.Statement(b.account("checkout"), 0)
	b.meter.Granted(0)
	b.meter.Enter(Executing, 0)
	b.cut(10 * ms)
	b.meter.Enter(Sending, 8*ms) // read its clock before the cut
	b.meter.Returned(15 * ms)
	s := b.cut(15 * ms)
	wantHeld(t, s, "checkout", Executing, 10*ms)
	wantHeld(t, s, "checkout", Sending, 5*ms)
}

func TestEventsOutsideAHoldChargeNothing(t *testing.T) {
	b := openBook()
	b.meter.Enter(Executing, 1*ms)
	b.meter.Returned(2 * ms)
	b.meter.GaveUp(3 * ms)
	s := b.cut(4 * ms)
	if s.Held != 0 || s.Waited != 0 || callerOf(s, "user:app").Holds != 0 {
		t.Errorf("charged without a hold: %+v", s)
	}
}

func TestMeterWithoutAFallbackChargesOther(t *testing.T) {
	l := NewLedger(DefaultConfig())
	var m Meter
	m.Init(l, nil)
	m.Statement(nil, 0)
	m.Granted(0)
	m.Returned(4 * ms)
	wantTotal(t, l.Cut(4*ms, nil), OtherName, 4*ms)
}

func TestChangeOfFallbackChargesTheOldOneFirst(t *testing.T) {
	b := openBook()
	b.meter.Statement(nil, 0)
	b.meter.Init(b.Ledger, b.account("user:other"))
	b.meter.Statement(nil, 0)
	b.meter.Close()
	s := b.cut(0)
	wantCount(t, "statements of the old user", callerOf(s, "user:app").Statements, 1)
	wantCount(t, "statements of the new user", callerOf(s, "user:other").Statements, 1)
}

func TestInitDuringAHoldPanics(t *testing.T) {
	b := openBook()
	b.meter.Granted(0)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	b.meter.Init(b.Ledger, nil)
}
