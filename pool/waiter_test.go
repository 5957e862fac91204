package pool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conntag/conntag/pool"
)

func TestPoolHandsAReturnedConnToTheFirstLiveWaiter(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		ctx, leave := context.WithCancel(t.Context())
		gone := r.begin(ctx, "gone", "app")
		first := r.begin(t.Context(), "first", "app")
		second := r.begin(t.Context(), "second", "app")
		leave()
		gone.want("context canceled")
		r.release(l)
		first.want("holding conn 1")
		second.want("waiting")
		r.release(first.lease)
		second.want("holding conn 1")
	})
}

func TestWaitersAreServedInOrderOfArrival(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		held := []testLease{r.lease("app"), r.lease("app"), r.lease("app")}
		var line []*attempt
		for i := range 50 {
			line = append(line, r.begin(t.Context(), fmt.Sprint("waiter ", i), "app"))
		}
		for i, a := range line {
			a.want("waiting")
			held[0].Release()
			synctest.Wait()
			if a.state() == "waiting" {
				t.Fatalf("waiter %d was not served in its turn", i)
			}
			held = append(held[1:], a.lease)
		}
		r.release(held...)
	})
}

func TestConnPassesFromHolderToWaiterInOneInstant(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		w := r.begin(t.Context(), "w", "app")
		time.Sleep(3 * time.Second)
		l.Release()
		if w.at() != "holding" {
			t.Fatal("the waiter was not granted within Release")
		}
		if s := r.pool.Stat(); s.InUseTime != 3*time.Second || s.FullTime != 3*time.Second || s.InUse != 1 {
			t.Fatalf("in use %v, full %v, %d leased", s.InUseTime, s.FullTime, s.InUse)
		}
		w.want("holding conn 1")
	})
}

func TestTryAcquireOvertakesNoWaiter(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		w := r.begin(t.Context(), "w", "app")
		l.Release() // w has not run yet: what was returned must be out of reach already
		if _, ok := r.pool.TryAcquire("app", r.session("jumper"), pool.Ref{}); ok {
			t.Fatal("TryAcquire took the conn of a waiter")
		}
		w.want("holding conn 1")
	})
}

func TestWaitEndsAtExactlyWaitTimeout(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		w := r.begin(t.Context(), "w", "app")
		time.Sleep(10*time.Second - 1)
		w.want("waiting")
		time.Sleep(1)
		w.want(pool.ErrWaitTimeout.Error())
		if !errors.Is(w.err, pool.ErrWaitTimeout) {
			t.Fatalf("got %v", w.err)
		}
		if _, waited := w.settled(0); waited != 10*time.Second || w.gaveUps != 1 {
			t.Fatalf("waited %v, gave up %d times", waited, w.gaveUps)
		}
		if s := r.pool.Stat(); s.WaitTimeouts != 1 || s.Abandoned != 0 || s.Waiting != 0 || s.WaitTime != 10*time.Second {
			t.Fatalf("got %+v", s)
		}
		r.release(l)
		if s := r.pool.Stat(); s.Idle != 1 {
			t.Fatalf("%d idle after the release, want 1: the conn went to somebody who had left", s.Idle)
		}
	})
}

func TestContextEndsAWait(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w := r.begin(ctx, "w", "app")
		time.Sleep(time.Second)
		w.want("context deadline exceeded")
		if s := r.pool.Stat(); s.WaitTimeouts != 0 || s.Abandoned != 1 || s.WaitTime != time.Second {
			t.Fatalf("got %+v", s)
		}
		r.release(l)
	})
}

// Timer, context and release fall on one instant of the fake clock, so the scheduler decides who is first. Whoever it
// is, the conn must be held by the waiter or be back.
func TestConnIsNotLostWhenAWaitEndsInTheMomentOfItsGrant(t *testing.T) {
	for _, how := range []string{"timeout", "context"} {
		t.Run(how, func(t *testing.T) {
			granted := 0
			for range 200 {
				bubble(t, size(1), func(t *testing.T, r *rig) {
					l := r.lease("app")
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					w := r.begin(ctx, "w", "app")
					if how == "context" {
						go func() { time.Sleep(10*time.Second - time.Millisecond); cancel() }()
						go func() { time.Sleep(10*time.Second - time.Millisecond); l.Release() }()
					} else {
						go func() { time.Sleep(10 * time.Second); l.Release() }()
					}
					<-w.done
					synctest.Wait()
					switch s := r.pool.Stat(); {
					case w.err == nil:
						granted++
						if s.InUse != 1 || w.at() != "holding" {
							t.Fatalf("granted, but %d in use, holder %q", s.InUse, w.at())
						}
						w.lease.Release()
					case s.Idle != 1 || w.at() != "":
						t.Fatalf("%v, but %d idle, holder %q", w.err, s.Idle, w.at())
					}
				})
			}
			t.Logf("%d of 200 races granted", granted)
		})
	}
}

func TestRecycledWaiterStartsAFreshWait(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		for range 20 {
			w := r.begin(t.Context(), "w", "app")
			time.Sleep(9 * time.Second)
			w.want("waiting")
			l.Release()
			w.want("holding conn 1")
			l = w.lease
			late := r.begin(t.Context(), "late", "app")
			time.Sleep(10 * time.Second)
			late.want(pool.ErrWaitTimeout.Error())
		}
	})
}

func TestReturnedConnOfAnotherKindGivesItsSlotToTheFirstWaiter(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		batch := r.begin(t.Context(), "batch", "batch")
		app := r.begin(t.Context(), "app", "app")
		r.release(l)
		batch.want("holding conn 2")
		app.want("waiting")
		r.wantCloses(pool.CloseKind, 1)
		r.release(batch.lease)
		app.want("holding conn 3")
	})
}

func TestReturnedConnPassesOverAWaiterOfAnotherKindWhoseDialIsOnTheWay(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		l := r.lease("app")
		r.backend.gated = true
		batch := r.begin(t.Context(), "batch", "batch") // dials into the second slot
		app := r.begin(t.Context(), "app", "app")
		r.release(l)
		app.want("holding conn 1")
		batch.want("waiting")
		r.wantCloses(pool.CloseKind, 0)
		r.backend.finish("batch", nil)
		batch.want("holding conn 2")
	})
}

func TestReturnedConnGoesToTheFirstOfItsKindThoughADialIsOnTheWay(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		l := r.lease("app")
		r.backend.gated = true
		first := r.begin(t.Context(), "first", "app")
		second := r.begin(t.Context(), "second", "app")
		r.release(l)
		first.want("holding conn 1")
		second.want("waiting")
		r.backend.finish("app", nil) // was started for first
		second.want("holding conn 2")
	})
}

// first finds its idle conn dead after second has come to wait. It came earlier, so it is served earlier.
func TestWaiterThatProbedADeadConnKeepsItsPlaceInLine(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.LivenessAfter = 1, 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		r.backend.dialed[0].dead.Store(true)
		answer := make(chan struct{})
		r.backend.probe = func(*conn) { <-answer }
		first := r.begin(t.Context(), "first", "app")
		second := r.begin(t.Context(), "second", "app")
		close(answer)
		first.want("holding conn 2")
		second.want("waiting")
		r.release(first.lease)
		second.want("holding conn 2")
	})
}

func TestWaiterThatProbedADeadConnIsServedBeforeALaterOneOfAnotherKind(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.LivenessAfter = 1, 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		r.backend.dialed[0].dead.Store(true)
		answer := make(chan struct{})
		r.backend.probe = func(*conn) { <-answer }
		first := r.begin(t.Context(), "first", "app")
		second := r.begin(t.Context(), "second", "batch")
		close(answer)
		first.want("holding conn 2")
		second.want("waiting")
		r.release(first.lease)
		second.want("holding conn 3")
	})
}

func TestDeadConnFoundByTryAcquireGivesItsSlotToAWaiter(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.LivenessAfter = 1, 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		r.backend.dialed[0].dead.Store(true)
		answer := make(chan struct{})
		r.backend.probe = func(*conn) { <-answer }
		refused := make(chan bool)
		go func() {
			_, ok := r.pool.TryAcquire("app", r.session("try"), pool.Ref{})
			refused <- !ok
		}()
		synctest.Wait()
		w := r.begin(t.Context(), "w", "batch")
		close(answer)
		if !<-refused {
			t.Fatal("TryAcquire leased a dead conn")
		}
		w.want("holding conn 2")
	})
}

// As above, but a dial is already on the way for second: whichever dial ends first is for first.
func TestWaiterThatProbedADeadConnGetsTheDialOfALaterOneIfThatIsFaster(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.LivenessAfter = 2, 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		r.backend.dialed[0].dead.Store(true)
		r.backend.gated = true
		answer := make(chan struct{})
		r.backend.probe = func(*conn) { <-answer }
		first := r.begin(t.Context(), "first", "app")
		second := r.begin(t.Context(), "second", "app")
		release := make(chan struct{})
		r.backend.shut = func(*conn) { <-release } // keeps the dead conn's slot occupied
		close(answer)
		synctest.Wait()
		if err := r.pool.Audit(); err != nil {
			t.Fatal(err)
		}
		r.backend.finish("app", nil)
		first.want("holding conn 2")
		second.want("waiting")
		close(release)
		synctest.Wait()
		r.backend.finish("app", nil)
		second.want("holding conn 3")
	})
}
