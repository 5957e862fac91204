package metrics

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/conntag/conntag/attribution"
)

// emitter writes metrics down for one scrape.
type emitter struct {
	ch      chan<- prometheus.Metric
	created time.Time // of the counters and histograms that come next
}

func (e emitter) gauge(f family, v float64, labels ...string) {
	e.ch <- prometheus.MustNewConstMetric(f.desc, f.kind, v, labels...)
}

func (e emitter) count(f family, n uint64, labels ...string) {
	e.ch <- prometheus.MustNewConstMetricWithCreatedTimestamp(f.desc, f.kind, float64(n), e.created, labels...)
}

func (e emitter) seconds(f family, d time.Duration, labels ...string) {
	e.ch <- prometheus.MustNewConstMetricWithCreatedTimestamp(f.desc, f.kind, d.Seconds(), e.created, labels...)
}

// histogram turns counts per bucket into Prometheus's cumulative ones.
func (e emitter) histogram(f family, h attribution.Histogram, labels ...string) {
	buckets := make(map[float64]uint64, len(h.Bounds))
	var below uint64
	for i, bound := range h.Bounds {
		below += h.Counts[i]
		buckets[bound.Seconds()] = below
	}
	e.ch <- prometheus.MustNewConstHistogramWithCreatedTimestamp(
		f.desc, h.Count, h.Sum.Seconds(), buckets, e.created, labels...)
}

// label is s as a label value. client_golang panics on invalid UTF-8; callers are clean when they come from the
// ledger, but this is the last place before a crash. Quoting keeps two different broken names apart.
func label(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strconv.QuoteToASCII(s)
}
