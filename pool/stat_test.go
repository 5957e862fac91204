package pool_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conntag/conntag/pool"
)

func TestInUseTimeIsTheSumOfAllHoldsToTheNanosecond(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		a := r.begin(t.Context(), "a", "app")
		time.Sleep(7)
		b := r.begin(t.Context(), "b", "app")
		time.Sleep(11)
		a.lease.Release()
		time.Sleep(13)
		b.lease.Discard()
		time.Sleep(17)
		c := r.begin(t.Context(), "c", "app")
		time.Sleep(19)
		s := r.pool.Stat()
		var sum time.Duration
		for _, w := range []*attempt{a, b, c} {
			held, _ := w.settled(s.Now)
			sum += held
		}
		if want := time.Duration(7 + 2*11 + 13 + 19); s.InUseTime != want || sum != want {
			t.Fatalf("integral %d ns, holders %d ns, want %d ns (c still holds)", s.InUseTime, sum, want)
		}
	})
}

func TestFullTimeRunsOnlyWhileAllConnsAreLeased(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		a := r.lease("app")
		time.Sleep(time.Second)
		b := r.lease("app")
		time.Sleep(2 * time.Second)
		if got := r.pool.Stat().FullTime; got != 2*time.Second {
			t.Fatalf("got %v before the release, want 2s", got)
		}
		r.release(a)
		time.Sleep(4 * time.Second)
		r.release(b)
		if got := r.pool.Stat().FullTime; got != 2*time.Second {
			t.Fatalf("got %v, want 2s", got)
		}
	})
}

func TestWaitTimeIsTheSumOfAllWaitsToTheNanosecond(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		a := r.begin(t.Context(), "a", "app")
		time.Sleep(3)
		b := r.begin(t.Context(), "b", "app")
		time.Sleep(5)
		r.release(l)
		time.Sleep(7)
		s := r.pool.Stat()
		_, ofA := a.settled(s.Now)
		_, ofB := b.settled(s.Now)
		if s.WaitTime != 3+2*5+7 || ofA+ofB != s.WaitTime {
			t.Fatalf("integral %d ns, waiters %d + %d ns, want 20 ns", s.WaitTime, ofA, ofB)
		}
	})
}

func TestStatCountsEveryStateAConnCanBeIn(t *testing.T) {
	bubble(t, size(6), func(t *testing.T, r *rig) {
		a, b, c := r.lease("app"), r.lease("app"), r.lease("app")
		r.release(c)
		done := make(chan struct{})
		r.backend.shut = func(*conn) { <-done }
		b.Discard()
		r.backend.gated = true
		r.begin(t.Context(), "w", "batch")
		s := r.pool.Stat()
		got := fmt.Sprint(s.Name, s.Size, s.Idle, s.InUse, s.Dialing, s.Closing, s.Waiting, s.Acquires, s.Waits, s.Dials)
		if want := fmt.Sprint("main", 6, 1, 1, 1, 1, 1, 3, 4, 4); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		close(done)
		r.release(a)
	})
}

func TestCutShowsEveryHolderThatHoldsOrWaitsOnce(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		a, b := r.begin(t.Context(), "a", "app"), r.begin(t.Context(), "b", "app")
		c, d := r.begin(t.Context(), "c", "app"), r.begin(t.Context(), "d", "app")
		time.Sleep(time.Second)
		r.pool.Cut(func(s pool.Stat, holders []pool.Holder) {
			seen := map[pool.Holder]int{}
			var held, waited time.Duration
			for i, h := range holders {
				seen[h]++
				one := h.(*session)
				if want := []string{"holding", "holding", "waiting", "waiting"}[i]; one.at() != want {
					t.Errorf("holder %d is %s, want %s", i, one.at(), want)
				}
				x, y := one.settled(s.Now)
				held, waited = held+x, waited+y
			}
			if len(holders) != 4 || seen[a.session]*seen[b.session]*seen[c.session]*seen[d.session] != 1 {
				t.Errorf("got %d holders", len(holders))
			}
			if held != s.InUseTime || waited != s.WaitTime {
				t.Errorf("holders: held %v, waited %v; pool: %v, %v", held, waited, s.InUseTime, s.WaitTime)
			}
		})
		r.release(a.lease, b.lease)
		r.release(c.lease, d.lease)
		r.pool.Cut(func(s pool.Stat, holders []pool.Holder) {
			if len(holders) != 0 {
				t.Errorf("%d holders of an idle pool", len(holders))
			}
		})
	})
}

func TestCutForgetsItsHoldersWhenItReturns(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		r.lease("app")
		var kept []pool.Holder
		r.pool.Cut(func(_ pool.Stat, holders []pool.Holder) { kept = holders })
		if kept[0] != nil {
			t.Fatal("the scratch slice still names a holder")
		}
	})
}

func TestClockThatStepsBackDoesNotMoveTheIntegralBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := 10 * time.Second
		b := &backend{t: t}
		p := pool.New("main", pool.Config{Size: 1, WaitTimeout: time.Second}, pool.Hooks[string, *conn]{
			Dial: b.dial, Close: b.close, Now: func() time.Duration { return now },
		})
		synctest.Wait()
		s := &session{t: t, name: "s"}
		l, err := p.Acquire(t.Context(), "app", s, pool.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []struct{ clock, inUse time.Duration }{{15, 5}, {12, 5}, {14, 5}, {16, 6}} {
			now = at.clock * time.Second
			if got := p.Stat(); got.InUseTime != at.inUse*time.Second || got.Now != (10+at.inUse)*time.Second {
				t.Errorf("clock at %ds: in use %v, now %v, want %ds", at.clock, got.InUseTime, got.Now, at.inUse)
			}
		}
		l.Release()
		if got := p.Stat(); got.InUseTime != 6*time.Second || s.held != 6*time.Second || got.Now != 16*time.Second {
			t.Fatalf("in use %v, held %v, now %v", got.InUseTime, s.held, got.Now)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestStatAtIsWhatThePoolSaysThenIfNothingHappensInBetween(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		a := r.lease("app")
		check := func(what string) {
			t.Helper()
			before := r.pool.Stat()
			time.Sleep(3 * time.Second)
			after := r.pool.Stat()
			if got := before.At(after.Now); got != after {
				t.Errorf("%s: got %+v, want %+v", what, got, after)
			}
			if got := after.At(before.Now); got != after {
				t.Errorf("%s: an earlier time changed %+v to %+v", what, after, got)
			}
		}
		check("one leased")
		b := r.lease("app")
		check("full")
		w := r.begin(t.Context(), "w", "app")
		check("full, one waits")
		r.release(a, b)
		r.release(w.lease)
		check("idle")
	})
}

func TestCloseReasonsHaveNames(t *testing.T) {
	want := []string{"idle", "lifetime", "discarded", "dead", "kind", "shutdown", "unknown"}
	for i, name := range want {
		if got := pool.CloseReason(i).String(); got != name {
			t.Errorf("reason %d is %q, want %q", i, got, name)
		}
	}
}
