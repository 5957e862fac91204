package attribution

import (
	"slices"
	"sync/atomic"
	"time"
)

// Upper bounds, inclusive as Prometheus's le is. The lowest are microseconds because a healthy pool lives there, and
// 50 ms is among the waits because the usual objective ("a connection within 50 ms") is read off that bucket.
var (
	holdBounds = []time.Duration{
		100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
		time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
		10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
		100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	}
	waitBounds = []time.Duration{
		10 * time.Microsecond, 25 * time.Microsecond, 50 * time.Microsecond,
		100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
		time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
		10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
		100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
		time.Minute, 5 * time.Minute, 10 * time.Minute,
	}
)

const (
	holdBuckets = 21 + 1 // len(holdBounds) and the one above the last bound
	waitBuckets = 23 + 1
)

// Histogram is a copy of observed durations. Counts are per bucket (not cumulative): Counts[i] holds what is at most
// Bounds[i] and above the bound before, the last element what is above them all. Bounds is shared: do not modify it.
type Histogram struct {
	Bounds []time.Duration
	Counts []uint64 // len(Bounds)+1
	Sum    time.Duration
	Count  uint64
}

// Quantile estimates the duration that the share q (0..1) of the observations does not exceed, by a straight line
// inside its bucket as Prometheus's histogram_quantile does. What lies above the last bound is given as that bound;
// without observations the answer is 0.
func (h Histogram) Quantile(q float64) time.Duration {
	if h.Count == 0 || len(h.Bounds) == 0 {
		return 0
	}
	rank := min(max(q, 0), 1) * float64(h.Count)
	var below float64
	var low time.Duration
	for i, high := range h.Bounds {
		n := float64(h.Counts[i])
		if n > 0 && below+n >= rank {
			return low + time.Duration(float64(high-low)*max(rank-below, 0)/n)
		}
		below += n
		low = high
	}
	return low
}

// Merge adds the observations of o. The zero Histogram takes o's bounds; other bounds than its own are a mistake in the
// program and panic.
func (h *Histogram) Merge(o Histogram) {
	if o.Counts == nil {
		return
	}
	if h.Counts == nil {
		h.Bounds, h.Counts = o.Bounds, make([]uint64, len(o.Counts))
	}
	if !slices.Equal(h.Bounds, o.Bounds) {
		panic("attribution: merge of histograms with different bounds")
	}
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.Sum += o.Sum
	h.Count += o.Count
}

// bucketOf gives the index of the bucket that takes d: the first bound not below it.
func bucketOf(bounds []time.Duration, d time.Duration) int {
	low, high := 0, len(bounds)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if bounds[middle] < d {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// holdTimes and waitTimes are the live sides of a Histogram. Two types, so that their sizes are fixed and an account is
// one block of memory.
type holdTimes struct {
	counts [holdBuckets]atomic.Uint64
	sum    atomic.Int64
}

func (h *holdTimes) observe(d time.Duration) {
	h.counts[bucketOf(holdBounds, d)].Add(1)
	h.sum.Add(int64(d))
}

type waitTimes struct {
	counts [waitBuckets]atomic.Uint64
	sum    atomic.Int64
}

func (w *waitTimes) observe(d time.Duration) {
	if d == 0 { // an acquire that did not queue, the usual case
		w.counts[0].Add(1)
		return
	}
	w.counts[bucketOf(waitBounds, d)].Add(1)
	w.sum.Add(int64(d))
}

// copyHistogram copies live counts into counts, which has the same length and becomes the Histogram's own.
func copyHistogram(bounds []time.Duration, live []atomic.Uint64, sum *atomic.Int64, counts []uint64) Histogram {
	h := Histogram{Bounds: bounds, Counts: counts, Sum: time.Duration(sum.Load())}
	for i := range live {
		counts[i] = live[i].Load()
		h.Count += counts[i]
	}
	return h
}
