package demo

import (
	"math"
	"testing"
	"time"

	"github.com/conntag/conntag/attribution"
)

// account is a caller that has held and waited for so many seconds.
func account(name string, held, waited float64) attribution.Caller {
	c := attribution.Caller{Name: name}
	c.Held[attribution.Executing] = seconds(held)
	c.WaitTimes.Sum = seconds(waited)
	return c
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func TestBlameSharesWaitsOutOverWhoHeldMeanwhile(t *testing.T) {
	var b blame
	b.look(attribution.Snapshot{Callers: []attribution.Caller{account("greedy", 30, 0), account("quick", 10, 4)}})
	b.look(attribution.Snapshot{Callers: []attribution.Caller{account("greedy", 40, 1), account("late", 10, 6), account("quick", 10, 4)}})
	for _, c := range []struct {
		waiter, holder string
		want           float64
	}{
		{"quick", "greedy", 3},
		{"quick", "quick", 1},
		{"greedy", "greedy", 0.5},
		{"late", "greedy", 3},
		{"late", "late", 3},
		{"late", "quick", 0},
	} {
		if got := b.seconds[c.waiter][c.holder]; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s waited %g s for %s, want %g", c.waiter, got, c.holder, c.want)
		}
	}
}

func TestBlameOfNobodyWhenNothingWasHeld(t *testing.T) {
	var b blame
	b.look(attribution.Snapshot{Callers: []attribution.Caller{account("early", 0, 2)}})
	if len(b.seconds) != 0 {
		t.Errorf("blame %v, want none", b.seconds)
	}
}
