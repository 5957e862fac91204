package attribution

import "testing"

func TestStandingNamesWhoIsCharged(t *testing.T) {
	b := openBook()
	steps := []struct {
		do   func()
		want Standing
	}{
		{func() {}, Standing{Caller: "user:app"}},
		{func() { b.meter.Statement(nil, 0); b.meter.Waiting(0) }, Standing{Caller: "user:app", Waiting: true, For: 9 * ms}},
		{func() { b.meter.Granted(4 * ms) }, Standing{Caller: "user:app", Holding: true, Phase: Preparing, For: 5 * ms}},
		{func() { b.meter.Statement(b.account("checkout"), 5*ms); b.meter.Enter(Executing, 5*ms) },
			Standing{Caller: "checkout", Holding: true, Phase: Executing, For: 5 * ms}},
		{func() { b.meter.Returned(6 * ms) }, Standing{Caller: "checkout"}},
	}
	for i, step := range steps {
		step.do()
		if got := b.meter.Standing(9 * ms); got != step.want {
			t.Errorf("step %d: got %+v, want %+v", i, got, step.want)
		}
	}
}

func TestIdleTimeBeginsWhereAHoldEnds(t *testing.T) {
	b := openBook()
	b.meter.Statement(nil, ms)
	b.meter.Waiting(ms)
	b.meter.Granted(2 * ms)
	if got := b.meter.IdleFor(5 * ms); got != 0 {
		t.Errorf("idle for %v during a hold", got)
	}
	b.meter.Returned(6 * ms)
	if got := b.meter.IdleFor(9 * ms); got != 3*ms {
		t.Errorf("idle for %v, want 3ms", got)
	}
}
