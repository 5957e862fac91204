package attribution

import (
	"slices"
	"testing"
	"time"
)

func TestBucketBoundsFillTheirArraysInOrder(t *testing.T) {
	wantCount(t, "hold buckets", holdBuckets, len(holdBounds)+1)
	wantCount(t, "wait buckets", waitBuckets, len(waitBounds)+1)
	for _, bounds := range [][]time.Duration{holdBounds, waitBounds} {
		if !slices.IsSorted(bounds) || len(slices.Compact(slices.Clone(bounds))) != len(bounds) {
			t.Errorf("not ascending: %v", bounds)
		}
		if bounds[len(bounds)-1] != 10*time.Minute {
			t.Errorf("ends at %v, want 10m", bounds[len(bounds)-1])
		}
	}
	if !slices.Contains(waitBounds, 50*ms) {
		t.Error("no wait bucket ends at 50ms, where the objective is read")
	}
}

func TestBucketTakesItsUpperBoundAndNotItsLower(t *testing.T) {
	for _, bounds := range [][]time.Duration{holdBounds, waitBounds} {
		for i, bound := range bounds {
			wantCount(t, bound.String(), bucketOf(bounds, bound), i)
			wantCount(t, bound.String()+" and 1ns", bucketOf(bounds, bound+1), i+1)
		}
		wantCount(t, "0", bucketOf(bounds, 0), 0)
	}
}

// histogramOf observes hold times.
func histogramOf(durations ...time.Duration) Histogram {
	var h holdTimes
	for _, d := range durations {
		h.observe(d)
	}
	return copyHistogram(holdBounds, h.counts[:], &h.sum, make([]uint64, holdBuckets))
}

func TestQuantileLiesOnALineInsideItsBucket(t *testing.T) {
	four := histogramOf(2*ms, 2*ms, 2*ms, 2*ms) // all in 1ms..2.5ms
	mixed := histogramOf(80*ms, 80*ms, 700*ms)
	for _, c := range []struct {
		h    Histogram
		q    float64
		want time.Duration
	}{
		{Histogram{}, 0.5, 0},
		{histogramOf(), 0.5, 0},
		{four, 0, 1 * ms},
		{four, 0.5, 1750 * time.Microsecond},
		{four, 1, 2500 * time.Microsecond},
		{four, 7, 2500 * time.Microsecond},
		{four, -1, 1 * ms},
		{mixed, 0.5, 50*ms + 50*ms*3/4},
		{mixed, 1, time.Second},
		{histogramOf(2*ms, time.Hour), 0.99, 10 * time.Minute},
	} {
		got := c.h.Quantile(c.q)
		if diff := got - c.want; diff < -time.Microsecond || diff > time.Microsecond {
			t.Errorf("quantile %v of %v: got %v, want %v", c.q, c.h.Counts, got, c.want)
		}
	}
}

func TestMergeAddsAndSharesNothing(t *testing.T) {
	a, b := histogramOf(2*ms, time.Hour), histogramOf(2*ms, 80*ms)
	var sum Histogram
	sum.Merge(Histogram{})
	sum.Merge(a)
	sum.Merge(b)
	want := histogramOf(2*ms, time.Hour, 2*ms, 80*ms)
	if !slices.Equal(sum.Counts, want.Counts) || sum.Sum != want.Sum || sum.Count != want.Count {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	if !slices.Equal(a.Counts, histogramOf(2*ms, time.Hour).Counts) {
		t.Error("merging changed what was merged")
	}
}

func TestMergeOfOtherBoundsPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	h := histogramOf(ms)
	h.Merge(Histogram{Bounds: waitBounds, Counts: make([]uint64, waitBuckets)})
}
