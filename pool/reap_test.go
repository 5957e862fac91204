package pool_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/conntag/conntag/pool"
)

func TestIdleConnIsClosedAtExactlyIdleTimeout(t *testing.T) {
	cfg := func(c *pool.Config) { c.IdleTimeout = time.Minute }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		l := r.lease("app")
		time.Sleep(time.Hour) // held, not idle
		r.release(l)
		time.Sleep(time.Minute - 1)
		r.wantOpen(1)
		time.Sleep(1)
		r.wantOpen(0)
		r.wantCloses(pool.CloseIdle, 1)
	})
}

func TestReuseKeepsTheHotConnsAndLetsTheSurplusGo(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.IdleTimeout = 5, time.Minute }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		var all []testLease
		for range 5 {
			all = append(all, r.lease("app"))
		}
		r.release(all...)
		for range 20 {
			time.Sleep(10 * time.Second)
			a, b := r.lease("app"), r.lease("app")
			r.release(a, b)
		}
		r.wantOpen(2)
		r.wantCloses(pool.CloseIdle, 3)
	})
}

func TestEachIdleConnIsClosedInItsOwnTime(t *testing.T) {
	cfg := func(c *pool.Config) { c.Size, c.IdleTimeout = 3, time.Minute }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		for _, l := range []testLease{r.lease("a"), r.lease("b"), r.lease("c")} {
			r.release(l)
			time.Sleep(20 * time.Second)
		}
		r.wantOpen(2) // the first has just been idle for a minute
		time.Sleep(20 * time.Second)
		r.wantOpen(1)
		time.Sleep(20 * time.Second)
		r.wantOpen(0)
	})
}

func TestIdleConnPastItsLifetimeIsClosedWithoutBeingAskedFor(t *testing.T) {
	cfg := func(c *pool.Config) { c.MaxLifetime, c.IdleTimeout = time.Minute, time.Hour }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		time.Sleep(54*time.Second - 1)
		r.wantOpen(1)
		time.Sleep(12*time.Second + 1)
		r.wantOpen(0)
		r.wantCloses(pool.CloseLifetime, 1)
	})
}

func TestLifetimesOfABurstAreSpreadWithinTenPercent(t *testing.T) {
	const n = 200
	cfg := func(c *pool.Config) { c.Size, c.MaxLifetime = n, 100*time.Second }
	bubble(t, cfg, func(t *testing.T, r *rig) {
		var all []testLease
		for range n {
			all = append(all, r.lease("app"))
		}
		r.release(all...)
		time.Sleep(90*time.Second - 1)
		r.wantOpen(n)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if open, _, _ := r.backend.counts(); open < n/4 || open > n*3/4 {
			t.Fatalf("%d of %d conns are open at the nominal lifetime, want about half", open, n)
		}
		time.Sleep(10*time.Second + 1)
		r.wantOpen(0)
	})
}

func TestZeroTimeoutsKeepIdleConnsForEver(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.release(r.lease("app"))
		time.Sleep(365 * 24 * time.Hour)
		r.wantOpen(1)
	})
}
