package pool_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conntag/conntag/pool"
)

var errRefused = errors.New("connection refused")

func gated(r *rig) { r.backend.gated = true }

func TestDialErrorGoesToTheFirstWaiterOfItsKindOnly(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		gated(r)
		batch := r.begin(t.Context(), "batch", "batch")
		first := r.begin(t.Context(), "first", "app")
		second := r.begin(t.Context(), "second", "app")
		r.backend.finish("app", errRefused)
		first.want("dial backend of pool main: connection refused")
		var dialErr *pool.DialError
		if !errors.As(first.err, &dialErr) || dialErr.Pool != "main" || !errors.Is(first.err, errRefused) {
			t.Fatalf("got %#v", first.err)
		}
		batch.want("waiting")
		second.want("waiting")
		if s := r.pool.Stat(); s.DialErrors != 1 || s.WaitErrors != 1 || first.gaveUps != 1 {
			t.Fatalf("%d dial errors, %d wait errors, %d give-ups, want 1 each", s.DialErrors, s.WaitErrors, first.gaveUps)
		}
	})
}

func TestDialErrorFreesTheSlotForTheNextWaiter(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		gated(r)
		first := r.begin(t.Context(), "first", "app")
		second := r.begin(t.Context(), "second", "batch")
		r.backend.finish("app", errRefused)
		first.want("dial backend of pool main: connection refused")
		r.backend.finish("batch", nil)
		second.want("holding conn 1")
	})
}

func TestDialOutlivesItsWaiterAndServesTheNextOfItsKind(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		gated(r)
		ctx, leave := context.WithCancel(t.Context())
		gone := r.begin(ctx, "gone", "app")
		other := r.begin(t.Context(), "other", "batch")
		next := r.begin(t.Context(), "next", "app")
		leave()
		gone.want("context canceled")
		r.backend.finish("app", nil)
		next.want("holding conn 1")
		other.want("waiting")
		if s := r.pool.Stat(); s.Dials != 1 {
			t.Fatalf("%d dials, want 1", s.Dials)
		}
	})
}

func TestDialWhoseWaitersHaveAllLeftGoesIdle(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		gated(r)
		w := r.begin(t.Context(), "w", "app")
		time.Sleep(10 * time.Second)
		w.want(pool.ErrWaitTimeout.Error())
		r.backend.finish("app", nil)
		synctest.Wait()
		if s := r.pool.Stat(); s.Idle != 1 || s.Dialing != 0 {
			t.Fatalf("%d idle, %d dialing, want 1, 0", s.Idle, s.Dialing)
		}
		if l := r.lease("app"); l.Conn().id != 1 {
			t.Fatalf("got conn %d", l.Conn().id)
		}
	})
}

func TestDialWhoseWaitersHaveAllLeftMakesRoomForAnotherKind(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		gated(r)
		ctx, leave := context.WithCancel(t.Context())
		gone := r.begin(ctx, "gone", "app")
		batch := r.begin(t.Context(), "batch", "batch")
		leave()
		gone.want("context canceled")
		r.backend.finish("app", nil)
		synctest.Wait()
		r.backend.finish("batch", nil)
		batch.want("holding conn 2")
		r.wantOpen(1)
	})
}

func TestDialErrorWithoutAWaiterIsCountedAndDropped(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		gated(r)
		ctx, leave := context.WithCancel(t.Context())
		r.begin(ctx, "gone", "app")
		leave()
		synctest.Wait()
		r.backend.finish("app", errRefused)
		synctest.Wait()
		if s := r.pool.Stat(); s.DialErrors != 1 || s.WaitErrors != 0 || s.Dialing != 0 {
			t.Fatalf("got %+v", s)
		}
	})
}

func TestWaiterIsServedByADialThatLostItsWaiterInsteadOfASecondDial(t *testing.T) {
	bubble(t, size(5), func(t *testing.T, r *rig) {
		gated(r)
		ctx, leave := context.WithCancel(t.Context())
		r.begin(ctx, "gone", "app")
		leave()
		synctest.Wait()
		next := r.begin(t.Context(), "next", "app")
		if got := r.backend.inFlight(); len(got) != 1 {
			t.Fatalf("dials in flight: %v, want one", got)
		}
		second := r.begin(t.Context(), "second", "app")
		if got := r.backend.inFlight(); len(got) != 2 {
			t.Fatalf("dials in flight: %v, want two", got)
		}
		r.backend.finish("app", nil)
		r.backend.finish("app", nil)
		next.want("holding conn 1")
		second.want("holding conn 2")
	})
}

func TestEveryWaiterGetsADialOfItsKindWhileSlotsAreFree(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		gated(r)
		for _, kind := range []string{"a", "b", "b", "a", "c"} {
			r.begin(t.Context(), kind, kind)
		}
		if got, want := r.backend.inFlight(), []string{"a", "b", "b"}; !slices.Equal(got, want) {
			t.Fatalf("dials in flight: %v, want %v", got, want)
		}
	})
}

// A server that admits Size connections must not be asked for one more because a close is slow.
func TestDialWaitsForTheCloseOfTheConnItReplaces(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		done := make(chan struct{})
		r.backend.shut = func(*conn) { <-done }
		r.release(r.lease("app"))
		batch := r.begin(t.Context(), "batch", "batch")
		batch.want("waiting")
		r.wantOpen(1)
		if s := r.pool.Stat(); s.Dialing != 1 || s.Idle != 0 {
			t.Fatalf("%d dialing, %d idle, want 1, 0", s.Dialing, s.Idle)
		}
		close(done)
		batch.want("holding conn 2")
		if _, maxOpen, _ := r.backend.counts(); maxOpen != 1 {
			t.Fatalf("%d conns were open at once, size is 1", maxOpen)
		}
	})
}

func TestSlotOnItsWayToAWaiterSavesTheNextConnOfAnotherKind(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		a, b := r.lease("app"), r.lease("app")
		batch := r.begin(t.Context(), "batch", "batch")
		done := make(chan struct{})
		r.backend.shut = func(*conn) { <-done }
		a.Discard() // its slot is batch's, though its close takes a while
		r.release(b)
		close(done)
		batch.want("holding conn 3")
		r.wantCloses(pool.CloseKind, 0)
		r.wantOpen(2)
	})
}

// One that finds its idle conn dead needs one slot. The dead conn's will do, so the idle conn of another kind stays.
func TestDeadConnIsReplacedInItsOwnSlot(t *testing.T) {
	cfg := func(c *pool.Config) { c.LivenessAfter = 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("batch"))
		r.release(r.lease("app"))
		r.backend.dialed[1].dead.Store(true)
		if l := r.lease("app"); l.Conn().id != 3 {
			t.Fatalf("got conn %d", l.Conn().id)
		}
		r.wantCloses(pool.CloseKind, 0)
		r.wantOpen(2)
	})
}

func TestSlotIsFreeOnlyWhenItsConnIsClosed(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		done := make(chan struct{})
		r.backend.shut = func(*conn) { <-done }
		r.lease("app").Discard() // returns although the close is stuck
		synctest.Wait()
		if s := r.pool.Stat(); s.Closing != 1 || s.Dialing != 0 {
			t.Fatalf("%d closing, %d dialing, want 1, 0", s.Closing, s.Dialing)
		}
		w := r.begin(t.Context(), "w", "app")
		w.want("waiting")
		if s := r.pool.Stat(); s.Closing != 0 || s.Dialing != 1 {
			t.Fatalf("%d closing, %d dialing, want 0, 1: the slot is promised", s.Closing, s.Dialing)
		}
		close(done)
		w.want("holding conn 2")
		if _, maxOpen, _ := r.backend.counts(); maxOpen != 1 {
			t.Fatalf("%d conns were open at once, size is 1", maxOpen)
		}
	})
}
