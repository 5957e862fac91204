package pool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conntag/conntag/pool"
)

// closing runs Close in a goroutine and returns where its error will be.
func (r *rig) closing(ctx context.Context) chan error {
	done := make(chan error, 1)
	go func() { done <- r.pool.Close(ctx) }()
	synctest.Wait()
	return done
}

func wantBlocked(t *testing.T, done chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		t.Fatalf("Close returned %v too early", err)
	default:
	}
}

func TestCloseOfAnIdlePoolClosesEveryConn(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		a, b := r.lease("app"), r.lease("batch")
		r.release(a, b)
		if err := r.pool.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if open, _, _ := r.backend.counts(); open != 0 {
			t.Fatalf("%d conns open when Close returned", open)
		}
		r.wantCloses(pool.CloseShutdown, 2)
	})
}

func TestCloseOfAnUnusedPoolReturnsAtOnce(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		if err := r.pool.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCloseWaitsForLeasesAndClosesThemAsTheyComeBack(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a, b := r.lease("app"), r.lease("app")
		done := r.closing(t.Context())
		wantBlocked(t, done)
		if !a.Valid() {
			t.Fatal("Close ended a lease")
		}
		a.Release()
		r.wantOpen(1)
		wantBlocked(t, done)
		b.Discard()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		r.wantOpen(0)
	})
}

func TestCloseEndsEveryWaitWithErrClosed(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		a, b := r.begin(t.Context(), "a", "app"), r.begin(t.Context(), "b", "batch")
		done := r.closing(t.Context())
		a.want(pool.ErrClosed.Error())
		b.want(pool.ErrClosed.Error())
		if !errors.Is(a.err, pool.ErrClosed) || a.gaveUps != 1 || b.gaveUps != 1 || r.pool.Stat().WaitErrors != 2 {
			t.Fatalf("%v, gave up %d and %d times, %d wait errors", a.err, a.gaveUps, b.gaveUps, r.pool.Stat().WaitErrors)
		}
		l.Release()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestClosedPoolLeasesNothing(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		if err := r.pool.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := r.session("s")
		if _, ok := r.pool.TryAcquire("app", s, pool.Ref{}); ok {
			t.Fatal("TryAcquire leased from a closed pool")
		}
		if _, err := r.pool.Acquire(t.Context(), "app", s, pool.Ref{}); !errors.Is(err, pool.ErrClosed) {
			t.Fatalf("got %v, want ErrClosed", err)
		}
		if s.waits+s.holds != 0 {
			t.Fatal("the holder was told of something")
		}
	})
}

func TestCloseGivesUpWithItsContextAndCanBeCalledAgain(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		l := r.lease("app")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.pool.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || err.Error() != "drain pool main: context deadline exceeded" {
			t.Fatalf("got %v", err)
		}
		done := r.closing(t.Context())
		wantBlocked(t, done)
		l.Release()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		for range 50 { // either could be looked at first
			if err := r.pool.Close(ctx); err != nil {
				t.Fatalf("Close of a drained pool with an ended context: %v", err)
			}
		}
	})
}

func TestCloseCalledByManyReturnsToAll(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		l := r.lease("app")
		a, b, c := r.closing(t.Context()), r.closing(t.Context()), r.closing(t.Context())
		l.Release()
		for _, done := range []chan error{a, b, c} {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestCloseCancelsDials(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.backend.gated = true
		w := r.begin(t.Context(), "w", "app")
		if err := r.pool.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.want(pool.ErrClosed.Error())
	})
}

func TestDialThatSucceedsAfterCloseIsClosed(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		arrived := make(chan struct{})
		r.backend.refuse = func(string) error { <-arrived; return nil } // deaf to its context
		r.begin(t.Context(), "w", "app")
		done := r.closing(t.Context())
		wantBlocked(t, done)
		close(arrived)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if open, _, dialed := r.backend.counts(); open != 0 || dialed != 1 {
			t.Fatalf("%d of %d dialed conns are open", open, dialed)
		}
	})
}

func TestConnProbedDuringCloseIsClosedAndNotLeased(t *testing.T) {
	cfg := func(c *pool.Config) { c.LivenessAfter = 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		answer := make(chan struct{})
		r.backend.probe = func(*conn) { <-answer }
		w := r.begin(t.Context(), "w", "app")
		done := r.closing(t.Context())
		wantBlocked(t, done)
		close(answer)
		w.want(pool.ErrClosed.Error())
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}
