package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

// holder is a caller that held connections in one phase, and waited, in seconds.
func holder(name string, phase attribution.Phase, held float64, waits uint64, waited float64) attribution.Caller {
	c := account(name, 0, waited)
	c.Held[phase] = seconds(held)
	c.Waits = waits
	return c
}

// poolOf is a pool of 16 after 10 s in which these callers used it.
func poolOf(full float64, callers ...attribution.Caller) proxy.PoolSnapshot {
	p := proxy.PoolSnapshot{Stat: pool.Stat{Size: 16, Now: 12 * time.Second, FullTime: seconds(full)}}
	for _, c := range callers {
		p.Ledger.Held += c.TotalHeld()
		p.Ledger.Waited += c.WaitTimes.Sum
		p.Stat.Waits += c.Waits
	}
	p.Stat.WaitTime = p.Ledger.Waited
	p.Ledger.At, p.Ledger.Callers = p.Stat.Now, callers
	return p
}

func verdictOn(p proxy.PoolSnapshot, change ...func(*Report)) string {
	var b blame
	b.look(p.Ledger)
	r := newReport(p, 2*time.Second, &b)
	for _, f := range change {
		f(&r)
	}
	return strings.Join(verdict(r), "\n")
}

func TestVerdictNamesHolderPhaseVictimsAndFix(t *testing.T) {
	p := poolOf(9,
		holder("checkout_completion", attribution.IdleInTransaction, 120, 1000, 8),
		holder("storefront_read", attribution.Executing, 24, 2345, 20),
		holder("cart_update", attribution.Executing, 6, 300, 10))
	p.Ledger.Callers[0].Held[attribution.Executing] = 10 * time.Second
	p.Ledger.Held += 10 * time.Second
	want := `checkout_completion held the pool: 81.2% of all connection-seconds (130.0 of 160.0 s), 92.3% of that idle in transaction, with no statement running.
All 16 connections were in use for 9.0 of 10.0 s; callers queued 3,645 times, 38.0 s in total. Others waited 30.0 s, 81.2% of it because of checkout_completion: storefront_read 16.2 s (p95 -), cart_update 8.1 s (p95 -). checkout_completion itself waited 8.0 s (p95 -).
Fix: take what checkout_completion does between its statements, such as a call to another service, out of its transaction: before BEGIN or after COMMIT. Without that time the same work would have needed 4.0 connections on average instead of 16.0.`
	if diff := cmp.Diff(want, verdictOn(p)); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}

func TestVerdictFollowsTheFigures(t *testing.T) {
	pinned := holder("importer", attribution.Pinned, 90, 0, 0)
	pinned.Pins[attribution.UserLock], pinned.Pins[attribution.TempTable] = 1200, 1
	victim := holder("storefront_read", attribution.Executing, 10, 5, 2)
	for name, c := range map[string]struct {
		pool   proxy.PoolSnapshot
		change func(*Report)
		want   []string
		not    string
	}{
		"another caller is on top": {
			pool: poolOf(1, holder("storefront_read", attribution.Executing, 60, 0, 0), holder("checkout_completion", attribution.IdleInTransaction, 40, 9, 3)),
			want: []string{"storefront_read held the pool: 60.0%", "100.0% of that executing statements", "because of storefront_read: checkout_completion 1.8 s",
				"Fix: make the statements of storefront_read faster"},
			not: "before BEGIN",
		},
		"nobody waited": {
			pool: poolOf(0, holder("checkout_completion", attribution.IdleInTransaction, 40, 0, 0), holder("cart_update", attribution.Executing, 1, 0, 0)),
			want: []string{"checkout_completion held the pool: 97.6%", "Nobody waited: the pool of 16", "in use for 0.0 of 10.0 s",
				"Fix: nothing at this load. At a higher one, look first at what checkout_completion does while it is idle in transaction."},
			not: "because of",
		},
		"only the holder waited": {
			pool: poolOf(2, holder("checkout_completion", attribution.IdleInTransaction, 40, 7, 2)),
			want: []string{"queued 7 times, 2.0 s in total. checkout_completion itself waited 2.0 s"},
			not:  "Others",
		},
		"nobody stands out": {
			pool: poolOf(9, holder("a", attribution.Executing, 35, 1, 1), holder("b", attribution.Executing, 33, 1, 1), holder("c", attribution.Executing, 32, 1, 1)),
			want: []string{"No caller held the pool alone. a held most: 35.0%", "Fix: no caller alone is the cause."},
		},
		"pinned": {
			pool: poolOf(9, pinned, victim),
			want: []string{"of that pinned", "(user_lock 1,200 times, temp_table 1 time)", "needed 1.0 connections on average instead of 10.0"},
		},
		"sending": {
			pool: poolOf(9, holder("export", attribution.Sending, 90, 0, 0), victim),
			want: []string{"sending replies to clients that read slowly", "Fix: let export select less"},
		},
		"preparing": {
			pool: poolOf(9, holder("export", attribution.Preparing, 90, 0, 0), victim),
			want: []string{"preparing connections", "Fix: let the clients of export keep the same session settings"},
		},
		"nothing was held": {
			pool: poolOf(0),
			want: []string{"No connection was held: no statement reached the pool."},
			not:  "Fix",
		},
		"waits timed out": {
			pool:   poolOf(9, pinned, victim),
			change: func(r *Report) { r.WaitTimeouts = 1 },
			want:   []string{"1 wait ended in error 1040"},
		},
		"the books do not balance": {
			pool:   poolOf(9, pinned, victim),
			change: func(r *Report) { r.ConservationErrorSeconds = 0.25 },
			want:   []string{"The books do not balance: held seconds are off by 0.25 and waited seconds by 0."},
		},
		"calls failed": {
			pool:   poolOf(9, pinned, victim),
			change: func(r *Report) { r.FailedVisits, r.FirstFailure = 2, "cart_update: invalid connection" },
			want:   []string{"2 calls of the workload failed, the first with: cart_update: invalid connection"},
		},
	} {
		if c.change == nil {
			c.change = func(*Report) {}
		}
		got := verdictOn(c.pool, c.change)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in:\n%s", name, want, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q in:\n%s", name, c.not, got)
		}
	}
}
