package pool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conntag/conntag/pool"
)

func TestTryAcquireOnAnEmptyPoolNeitherDialsNorWaits(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		s := r.session("s")
		l, ok := r.pool.TryAcquire("app", s, pool.Ref{})
		if ok || l.Valid() {
			t.Fatal("got a lease from an empty pool")
		}
		synctest.Wait()
		if _, _, dialed := r.backend.counts(); dialed != 0 || s.waits+s.holds != 0 {
			t.Fatalf("%d dials, %d waits, %d holds, want none", dialed, s.waits, s.holds)
		}
	})
}

func TestPoolDialsOnlyWhenAConnIsAskedForAndNeverBeyondSize(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		r.wantOpen(0)
		a := r.lease("app")
		r.wantOpen(1)
		r.release(a)
		a = r.lease("app")
		r.wantOpen(1)
		b, c := r.lease("app"), r.lease("app")
		r.wantOpen(3)
		r.begin(t.Context(), "late", "app").want("waiting")
		r.wantOpen(3)
		r.release(a, b, c)
	})
}

func TestAcquireTakesTheMostRecentlyUsedConn(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		a, b, c := r.lease("app"), r.lease("app"), r.lease("app")
		r.release(a, c, b)
		for _, want := range []int{2, 3, 1} {
			l, ok := r.pool.TryAcquire("app", r.session("s"), pool.Ref{})
			if !ok || l.Conn().id != want {
				t.Fatalf("got %v, want conn %d", ok, want)
			}
		}
	})
}

func TestAcquirePrefersTheConnOfItsRefWhileThatIsIdle(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		a, b, c := r.lease("app"), r.lease("app"), r.lease("app")
		ref := a.Ref()
		r.release(a, b, c)
		l, ok := r.pool.TryAcquire("app", r.session("s"), ref)
		if !ok || l.Conn().id != 1 {
			t.Fatalf("TryAcquire got %v %v, want conn 1", ok, l.Conn().id)
		}
		other, err := r.pool.Acquire(t.Context(), "app", r.session("other"), ref)
		if err != nil || other.Conn().id != 3 {
			t.Fatalf("with conn 1 leased: got conn %d, %v, want the most recently used, 3", other.Conn().id, err)
		}
	})
}

func TestAcquireIgnoresARefOfAnotherKindOfAClosedConnOrOfAnotherPool(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		app, batch := r.lease("app"), r.lease("batch")
		ofBatch := batch.Ref()
		closed := r.lease("app")
		ofClosed := closed.Ref()
		closed.Discard()
		r.release(app, batch)

		b := &backend{t: t}
		elsewhere := pool.New("other", pool.Config{Size: 1, WaitTimeout: time.Second}, pool.Hooks[string, *conn]{Dial: b.dial, Close: b.close})
		foreign, err := elsewhere.Acquire(t.Context(), "app", r.session("foreign"), pool.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		ofForeign := foreign.Ref()
		foreign.Release()

		for _, ref := range []pool.Ref{ofBatch, ofClosed, ofForeign, {}} {
			l, ok := r.pool.TryAcquire("app", r.session("s"), ref)
			if !ok || l.Conn() != r.backend.dialed[0] {
				t.Fatalf("ref %v: got %v, want the idle conn of the right kind", ref, ok)
			}
			l.Release()
		}
		if err := elsewhere.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAcquireWithAnEndedContextTakesNothing(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := r.session("s")
		if _, err := r.pool.Acquire(ctx, "app", s, pool.Ref{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want context.Canceled", err)
		}
		if s.waits+s.holds != 0 {
			t.Fatalf("the holder was told of %d waits, %d holds", s.waits, s.holds)
		}
	})
}

func TestAcquireProbesOnlyConnsIdleForLivenessAfter(t *testing.T) {
	cfg := func(c *pool.Config) { c.LivenessAfter = 50 * time.Millisecond }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		time.Sleep(50*time.Millisecond - 1)
		r.release(r.lease("app"))
		if n := len(r.backend.probes); n != 0 {
			t.Fatalf("%d probes of a conn idle for less, want 0", n)
		}
		time.Sleep(50 * time.Millisecond)
		r.release(r.lease("app"))
		if n := len(r.backend.probes); n != 1 {
			t.Fatalf("%d probes, want 1", n)
		}
	})
}

func TestAcquireClosesDeadConnsAndTakesTheNextLiveOne(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.LivenessAfter = 4, 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		a, b, c := r.lease("app"), r.lease("app"), r.lease("app")
		r.release(a, b, c)
		r.backend.dialed[2].dead.Store(true)
		r.backend.dialed[1].dead.Store(true)
		l, ok := r.pool.TryAcquire("app", r.session("s"), pool.Ref{})
		if !ok || l.Conn().id != 1 {
			t.Fatalf("got %v, want conn 1", ok)
		}
		r.wantOpen(1)
		r.wantCloses(pool.CloseDead, 2)
	})
}

func TestAcquireDialsWhenEveryIdleConnIsDead(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.LivenessAfter = 1, 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		r.backend.dialed[0].dead.Store(true)
		if _, ok := r.pool.TryAcquire("app", r.session("try"), pool.Ref{}); ok {
			t.Fatal("TryAcquire leased a dead conn")
		}
		synctest.Wait()
		if l := r.lease("app"); l.Conn().id != 2 {
			t.Fatalf("got conn %d, want a new one", l.Conn().id)
		}
	})
}

func TestProbedConnIsNeitherLeasedNorLostToOthers(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.LivenessAfter = 1, 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		answer := make(chan struct{})
		r.backend.probe = func(*conn) { <-answer }
		first := r.begin(t.Context(), "first", "app")
		second := r.begin(t.Context(), "second", "app")
		first.want("waiting")
		second.want("waiting")
		if s := r.pool.Stat(); s.Idle != 1 || s.InUse != 0 || s.Waiting != 1 {
			t.Fatalf("while probing: %d idle, %d in use, %d waiting, want 1, 0, 1", s.Idle, s.InUse, s.Waiting)
		}
		close(answer)
		first.want("holding conn 1")
		r.release(first.lease)
		second.want("holding conn 1")
	})
}

func TestNewKindTakesTheSlotOfTheLongestIdle(t *testing.T) {
	bubble(t, size(3), func(t *testing.T, r *rig) {
		a, b, c := r.lease("app"), r.lease("batch"), r.lease("app")
		r.release(b, a, c)
		l := r.lease("report")
		if l.Conn().kind != "report" || !r.backend.dialed[1].closed.Load() {
			t.Fatalf("got a %s conn, conn 2 closed: %v", l.Conn().kind, r.backend.dialed[1].closed.Load())
		}
		r.wantOpen(3)
		r.wantCloses(pool.CloseKind, 1)
	})
}

func TestNewKindUsesAFreeSlotBeforeItClosesAnything(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		r.release(r.lease("batch"))
		r.wantOpen(2)
		r.wantCloses(pool.CloseKind, 0)
	})
}

func TestIdleConnIsLeasedWhileAnotherKindWaitsForItsDial(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		r.backend.gated = true
		slow := r.begin(t.Context(), "slow", "batch")
		if _, ok := r.pool.TryAcquire("app", r.session("s"), pool.Ref{}); !ok {
			t.Fatal("an idle conn was refused for the sake of a waiter it cannot help")
		}
		r.backend.finish("batch", nil)
		slow.want("holding conn 2")
	})
}

func TestPoolForgetsAKindWithoutConnsOrWaiters(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		for _, kind := range []string{"a", "b", "c", "d"} {
			r.release(r.lease(kind))
		}
		if n := r.pool.Kinds(); n != 1 {
			t.Fatalf("%d kinds kept, want 1", n)
		}
		r.lease("d").Discard()
		synctest.Wait()
		if n := r.pool.Kinds(); n != 0 {
			t.Fatalf("%d kinds kept of an empty pool, want 0", n)
		}
	})
}

func TestWithoutAnAliveHookIdleConnsAreTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{t: t}
		p := pool.New("main", pool.Config{Size: 1, WaitTimeout: time.Second}, pool.Hooks[string, *conn]{Dial: b.dial, Close: b.close})
		s := &session{t: t, name: "s"}
		for range 2 {
			l, err := p.Acquire(t.Context(), "app", s, pool.Ref{})
			if err != nil || l.Conn().id != 1 {
				t.Fatalf("got %v", err)
			}
			l.Release()
			time.Sleep(time.Hour)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNewPanicsOnAConfigThatDoesNotValidateOrAMissingHook(t *testing.T) {
	b := &backend{t: t}
	wantPanic(t, "size 0", func() {
		pool.New("main", pool.Config{WaitTimeout: 1}, pool.Hooks[string, *conn]{Dial: b.dial, Close: b.close})
	})
	wantPanic(t, "no Dial", func() { pool.New("main", pool.DefaultConfig(), pool.Hooks[string, *conn]{Close: b.close}) })
	wantPanic(t, "no Close", func() { pool.New("main", pool.DefaultConfig(), pool.Hooks[string, *conn]{Dial: b.dial}) })
}

func TestAcquireWithoutAHolderPanicsAndLeavesThePoolUsable(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		wantPanic(t, "Acquire", func() { _, _ = r.pool.Acquire(t.Context(), "app", nil, pool.Ref{}) })
		wantPanic(t, "TryAcquire", func() { r.pool.TryAcquire("app", nil, pool.Ref{}) })
		r.release(r.lease("app"))
	})
}
