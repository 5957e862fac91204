package pool_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/conntag/conntag/pool"
)

func TestZeroLeaseIsNone(t *testing.T) {
	var l testLease
	if l.Valid() {
		t.Fatal("the zero lease is valid")
	}
	wantPanic(t, "Conn", func() { l.Conn() })
	wantPanic(t, "Release", l.Release)
	wantPanic(t, "Discard", l.Discard)
}

func TestAnyUseOfALeaseThatHasEndedPanicsAndHarmsNobody(t *testing.T) {
	uses := map[string]func(l testLease){
		"Conn":      func(l testLease) { l.Conn() },
		"Kind":      func(l testLease) { l.Kind() },
		"SetKind":   func(l testLease) { l.SetKind("batch") },
		"Ref":       func(l testLease) { l.Ref() },
		"Untouched": func(l testLease) { l.Untouched(pool.Ref{}) },
		"Release":   testLease.Release,
		"Discard":   testLease.Discard,
	}
	for name, use := range uses {
		for _, end := range []func(testLease){testLease.Release, testLease.Discard} {
			t.Run(name, func(t *testing.T) {
				bubble(t, size(1), func(t *testing.T, r *rig) {
					stale := r.lease("app")
					end(stale)
					synctest.Wait()
					if stale.Valid() {
						t.Fatal("still valid")
					}
					wantPanic(t, "on a free conn", func() { use(stale) })
					now := r.lease("app")
					wantPanic(t, "on a conn that another session has", func() { use(stale) })
					if !now.Valid() || r.pool.Stat().InUse != 1 {
						t.Fatal("the other session's lease was ended")
					}
				})
			})
		}
	}
}

func TestOfTwoReleasesAtTheSameTimeExactlyOnePanics(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		for range 100 {
			l := r.lease("app")
			var panics atomic.Int32
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					defer func() {
						if recover() != nil {
							panics.Add(1)
						}
					}()
					l.Release()
				})
			}
			both.Wait()
			if n := panics.Load(); n != 1 {
				t.Fatalf("%d of 2 releases panicked, want 1", n)
			}
		}
	})
}

// Here both are past the first look at the lease, as the clock keeps the first of them under the lock for a while.
func TestOfTwoReleasesThatBothFoundTheLeaseLiveExactlyOnePanics(t *testing.T) {
	var stall atomic.Bool
	start := time.Now()
	b := &backend{t: t}
	p := pool.New("main", pool.Config{Size: 1, WaitTimeout: time.Second}, pool.Hooks[string, *conn]{
		Dial: b.dial, Close: b.close,
		Now: func() time.Duration {
			for range 10000 {
				if !stall.Load() {
					break
				}
				runtime.Gosched()
			}
			stall.Store(false)
			return time.Since(start)
		},
	})
	l, err := p.Acquire(t.Context(), "app", &session{t: t, name: "s"}, pool.Ref{})
	if err != nil {
		t.Fatal(err)
	}
	var panics atomic.Int32
	var both sync.WaitGroup
	stall.Store(true)
	for range 2 {
		both.Go(func() {
			defer func() {
				if recover() != nil {
					panics.Add(1)
				}
			}()
			l.Release()
		})
	}
	both.Wait()
	if n := panics.Load(); n != 1 {
		t.Errorf("%d of 2 releases panicked, want 1", n)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestRefKeepsNoClosedConnAlive(t *testing.T) {
	p := pool.New("main", pool.Config{Size: 1, WaitTimeout: time.Second}, pool.Hooks[string, *conn]{
		Dial:  func(_ context.Context, kind string) (*conn, error) { return &conn{kind: kind}, nil },
		Close: func(*conn) {},
	})
	s := &session{t: t, name: "s"}
	var refs []pool.Ref
	var conns []weak.Pointer[conn]
	for _, kind := range []string{"app", "batch"} { // the first is closed for the second, the second at the end
		l, err := p.Acquire(t.Context(), kind, s, pool.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, l.Ref())
		conns = append(conns, weak.Make(l.Conn()))
		l.Release()
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	for i, c := range conns {
		if c.Value() != nil {
			t.Errorf("conn %d is still reachable through its ref", i)
		}
	}
	runtime.KeepAlive(refs)
}

func TestDiscardClosesTheConnAndDialsForTheFirstWaiter(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		w := r.begin(t.Context(), "w", "batch")
		l.Discard()
		w.want("holding conn 2")
		r.wantOpen(1)
		r.wantCloses(pool.CloseDiscarded, 1)
	})
}

func TestDiscardWithoutWaitersDialsNothing(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		r.lease("app").Discard()
		r.wantOpen(0)
		if s := r.pool.Stat(); s.Dials != 1 || s.Idle+s.InUse+s.Dialing+s.Closing != 0 {
			t.Fatalf("got %+v", s)
		}
	})
}

func TestSetKindDecidesWhoGetsTheConnNext(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		l.SetKind("batch")
		if l.Kind() != "batch" {
			t.Fatalf("kind is %q", l.Kind())
		}
		l.SetKind("batch")
		r.release(l)
		if _, ok := r.pool.TryAcquire("app", r.session("app"), pool.Ref{}); ok {
			t.Fatal("leased under its old kind")
		}
		l, ok := r.pool.TryAcquire("batch", r.session("batch"), pool.Ref{})
		if !ok || l.Conn().id != 1 || r.pool.Kinds() != 1 {
			t.Fatalf("got %v, %d kinds", ok, r.pool.Kinds())
		}
		w := r.begin(t.Context(), "w", "app")
		l.SetKind("app")
		r.release(l)
		w.want("holding conn 1")
	})
}

func TestUntouchedUntilAnotherLeaseHasHadTheConn(t *testing.T) {
	bubble(t, size(2), func(t *testing.T, r *rig) {
		l, other := r.lease("app"), r.lease("app")
		ref := l.Ref()
		if !l.Untouched(ref) || other.Untouched(ref) || l.Untouched(pool.Ref{}) {
			t.Fatal("a lease is untouched since its own ref, and no other's")
		}
		r.release(l)
		again, _ := r.pool.TryAcquire("app", r.session("again"), ref)
		if !again.Untouched(ref) || again.Ref() == ref {
			t.Fatal("the next lease on the same conn must be untouched, under a ref of its own")
		}
		newer := again.Ref()
		r.release(again)
		third, _ := r.pool.TryAcquire("app", r.session("third"), ref)
		if third.Untouched(ref) || !third.Untouched(newer) {
			t.Fatal("a lease came in between")
		}
	})
}

func TestConnPastItsLifetimeIsClosedWhenItIsReturned(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.MaxLifetime = 1, time.Minute }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		l := r.lease("app")
		time.Sleep(53 * time.Second) // lifetimes end between 54 s and 66 s
		r.release(l)
		r.wantOpen(1)
		l = r.lease("app")
		time.Sleep(14 * time.Second)
		r.wantOpen(1)
		r.release(l)
		r.wantOpen(0)
		r.wantCloses(pool.CloseLifetime, 1)
	})
}

func TestConnPastItsLifetimeIsReplacedForAWaiter(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.MaxLifetime = 1, time.Second }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		l := r.lease("app")
		w := r.begin(t.Context(), "w", "app")
		time.Sleep(2 * time.Second)
		r.release(l)
		w.want("holding conn 2")
		r.wantCloses(pool.CloseLifetime, 1)
	})
}
