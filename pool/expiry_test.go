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

func TestPoolAbandonsAWaitOnceAndNeverALease(t *testing.T) {
	gone := errors.New("gone")
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
		race.Go(func() { abandoned = p.Abandon(h, gone) })
		race.Go(first.Release)
		race.Wait()
		if err := <-ended; abandoned != errors.Is(err, gone) {
			t.Fatalf("abandoned %v, got %v", abandoned, err)
		}
		if p.Abandon(h, gone) {
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
