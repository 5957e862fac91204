package pool_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conntag/conntag/pool"
)

func TestPoolExpiresEachWaitAtItsOwnTimeWithOneTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New("p", pool.Config{Size: 1, WaitTimeout: 10 * time.Second}, pool.Hooks[string, int]{
			Dial:  func(context.Context, string) (int, error) { return 1, nil },
			Close: func(int) {},
		})
		first, err := p.Acquire(context.Background(), "k", &silent{}, pool.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var waits sync.WaitGroup
		for i := range 5 {
			waits.Go(func() {
				_, err := p.Acquire(context.Background(), "k", &silent{}, pool.Ref{})
				if waited := time.Since(start); !errors.Is(err, pool.ErrWaitTimeout) || waited != time.Duration(i)*time.Second+10*time.Second {
					t.Errorf("wait %d: %v after %s", i, err, waited)
				}
			})
			time.Sleep(time.Second)
		}
		waits.Wait()
		first.Release()
		// The queue was empty meanwhile: who comes now has the whole time.
		l, err := p.Acquire(context.Background(), "k", &silent{}, pool.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		if _, err := p.Acquire(context.Background(), "k", &silent{}, pool.Ref{}); !errors.Is(err, pool.ErrWaitTimeout) || time.Since(start) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		l.Release()
		if err := p.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// A wait that the timer was set for ends otherwise; whoever else waits, or comes while the timer is still set, has
// exactly its own time.
func TestTimerIsSetAnewWhenTheWaitItWasSetForEndedOtherwise(t *testing.T) {
	ways := map[string]func(r *rig, head *attempt, leave context.CancelFunc, l testLease) testLease{
		"granted": func(_ *rig, head *attempt, _ context.CancelFunc, l testLease) testLease {
			l.Release()
			head.want("holding conn 1")
			return head.lease
		},
		"context": func(_ *rig, head *attempt, leave context.CancelFunc, l testLease) testLease {
			leave()
			head.want("context canceled")
			return l
		},
		"abandoned": func(r *rig, head *attempt, _ context.CancelFunc, l testLease) testLease {
			r.pool.Abandon(head.session, errGone)
			head.want(errGone.Error())
			return l
		},
	}
	for how, end := range ways {
		t.Run(how, func(t *testing.T) {
			bubble(t, size(1), func(t *testing.T, r *rig) {
				l := r.lease("app")
				ctx, leave := context.WithCancel(context.Background())
				defer leave()
				head := r.begin(ctx, "head", "app") // at 0 s
				time.Sleep(3 * time.Second)
				next := r.begin(context.Background(), "next", "app") // at 3 s
				time.Sleep(2 * time.Second)
				l = end(r, head, leave, l)
				time.Sleep(8*time.Second - 1)
				next.want("waiting") // though the timer went off at 10 s
				time.Sleep(1)
				next.want(pool.ErrWaitTimeout.Error())
				if r.pool.TimerSet() {
					t.Error("the timer is set and nobody waits")
				}
				r.release(l)
			})
		})
	}
}

func TestWaiterOfAnEmptyQueueHasItsWholeTimeThoughTheTimerIsStillSet(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		first := r.begin(context.Background(), "first", "app") // at 0 s
		time.Sleep(time.Second)
		l.Release()
		first.want("holding conn 1")
		if s := r.pool.Stat(); s.Waiting != 0 || !r.pool.TimerSet() {
			t.Fatalf("%d wait, timer set: %v; want an empty queue and the timer left alone", s.Waiting, r.pool.TimerSet())
		}
		time.Sleep(6 * time.Second)
		second := r.begin(context.Background(), "second", "app") // at 7 s
		time.Sleep(10*time.Second - 1)
		second.want("waiting")
		time.Sleep(1)
		second.want(pool.ErrWaitTimeout.Error())
		r.release(first.lease)
	})
}

// The head's deadline is the later one: it came first, and queued only after it had found its conn dead.
func TestWaiterThatQueuedLateExpiresByItsOwnTime(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.LivenessAfter = 2, 0 }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		r.backend.dialed[0].dead.Store(true)
		r.backend.gated = true
		answer := make(chan struct{})
		r.backend.probe = func(*conn) { <-answer }
		first := r.begin(context.Background(), "first", "app")
		second := r.begin(context.Background(), "second", "app") // waits from 0 s
		time.Sleep(4 * time.Second)
		close(answer)
		first.want("waiting") // from 4 s
		time.Sleep(6 * time.Second)
		second.want(pool.ErrWaitTimeout.Error())
		first.want("waiting")
		time.Sleep(4*time.Second - 1)
		first.want("waiting")
		time.Sleep(1)
		first.want(pool.ErrWaitTimeout.Error())
	})
}

func TestCloseStopsTheTimerAndWaitsForOneThatGoesOff(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		w := r.begin(context.Background(), "w", "app")
		done := r.closing(t.Context())
		w.want(pool.ErrClosed.Error())
		if r.pool.TimerSet() {
			t.Error("the timer outlives the pool")
		}
		l.Release()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
	timeouts := 0
	for range 200 { // timer and Close fall on one instant
		bubble(t, size(1), func(t *testing.T, r *rig) {
			l := r.lease("app")
			w := r.begin(context.Background(), "w", "app")
			done := make(chan error, 1)
			go func() { time.Sleep(10 * time.Second); done <- r.pool.Close(context.Background()) }()
			<-w.done
			if errors.Is(w.err, pool.ErrWaitTimeout) {
				timeouts++
			} else if !errors.Is(w.err, pool.ErrClosed) {
				t.Fatal(w.err)
			}
			l.Release()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if s := r.pool.Stat(); s.WaitTimeouts+s.WaitErrors != 1 || w.gaveUps != 1 {
				t.Fatalf("gave up %d times: %+v", w.gaveUps, s)
			}
		})
	}
	t.Logf("%d of 200 races timed out", timeouts)
}

var errGone = errors.New("gone")

func TestAbandonEndsOneHoldersWaitAndNoOther(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		l := r.lease("app")
		var line []*attempt
		for _, name := range []string{"a", "b", "c"} {
			line = append(line, r.begin(context.Background(), name, "app"))
		}
		time.Sleep(2 * time.Second)
		if !r.pool.Abandon(line[1].session, errGone) {
			t.Error("b waits and was not abandoned")
		}
		line[0].want("waiting")
		line[1].want(errGone.Error())
		line[2].want("waiting")
		if r.pool.Abandon(line[1].session, errGone) || r.pool.Abandon(r.session("stranger"), errGone) {
			t.Error("somebody who does not wait was abandoned")
		}
		if s := r.pool.Stat(); s.Abandoned != 1 || s.WaitErrors+s.WaitTimeouts != 0 || line[1].gaveUps != 1 || line[1].waited != 2*time.Second {
			t.Errorf("b gave up %d times after %v; pool says %+v", line[1].gaveUps, line[1].waited, s)
		}
		r.release(l)
		line[0].want("holding conn 1")
		if r.pool.Abandon(line[0].session, errGone) || !line[0].lease.Valid() {
			t.Error("Abandon ended a lease")
		}
		r.release(line[0].lease)
		line[2].want("holding conn 1")
	})
}

func TestAbandonedWaitLeavesItsDialToTheNextOfItsKind(t *testing.T) {
	bubble(t, size(1), func(t *testing.T, r *rig) {
		r.backend.gated = true
		first := r.begin(context.Background(), "first", "app")
		second := r.begin(context.Background(), "second", "app")
		r.pool.Abandon(first.session, errGone)
		first.want(errGone.Error())
		r.backend.finish("app", nil)
		second.want("holding conn 1")
	})
}

func TestPoolAbandonsAWaitOnceAndNeverALease(t *testing.T) {
	for range 300 {
		p := pool.New("p", pool.Config{Size: 1, WaitTimeout: time.Minute}, pool.Hooks[string, int]{
			Dial:  func(context.Context, string) (int, error) { return 1, nil },
			Close: func(int) {},
		})
		first, err := p.Acquire(context.Background(), "k", &silent{}, pool.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		h := &silent{}
		ended := make(chan error, 1)
		go func() {
			l, err := p.Acquire(context.Background(), "k", h, pool.Ref{})
			if err == nil {
				l.Release()
			}
			ended <- err
		}()
		for p.Stat().Waiting == 0 {
		}
		var race sync.WaitGroup
		var abandoned bool
		race.Go(func() { abandoned = p.Abandon(h, errGone) })
		race.Go(first.Release)
		race.Wait()
		if err := <-ended; abandoned != errors.Is(err, errGone) {
			t.Fatalf("abandoned %v, got %v", abandoned, err)
		}
		if p.Abandon(h, errGone) {
			t.Fatal("a wait that is over was abandoned")
		}
		if s := p.Stat(); s.InUse != 0 || s.Waiting != 0 || (s.Abandoned == 1) != abandoned {
			t.Fatalf("abandoned %v, but %+v", abandoned, s)
		}
		if err := p.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

type silent struct{ _ byte } // not empty, so that each has an address of its own

func (*silent) Waiting(time.Duration)  {}
func (*silent) Granted(time.Duration)  {}
func (*silent) GaveUp(time.Duration)   {}
func (*silent) Returned(time.Duration) {}
