package main

import (
	"cmp"
	"slices"
)

// spread is the median over the rounds and how far they lie apart. The zero spread is unknown.
type spread struct{ median, min, max float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return spread{median: (values[(n-1)/2] + values[n/2]) / 2, min: values[0], max: values[n-1]}
}

// cell is all rounds of one peer at one number of threads.
type cell struct {
	threads   int
	peer      string
	perSecond spread
	ofDirect  spread // throughput, each round against direct's in the same round
	p95, p99  spread
	cpu       spread
	ofGocopy  spread // CPU per query, each round against gocopy's in the same round
	switches  spread
	dbCPU     spread
	rssKiB    spread
	errors    uint64
}

type sampleKey struct {
	threads, round int
	peer           string
}

// summarize makes cells out of samples, in the order of their first appearance by threads and peer.
func summarize(samples []sample) []cell {
	by := map[sampleKey]sample{}
	var cells []cell
	for _, s := range samples {
		by[sampleKey{s.Threads, s.Round, s.Peer}] = s
		known := slices.ContainsFunc(cells, func(c cell) bool { return c.threads == s.Threads && c.peer == s.Peer })
		if !known {
			cells = append(cells, cell{threads: s.Threads, peer: s.Peer})
		}
	}
	slices.SortStableFunc(cells, func(a, b cell) int { return cmp.Compare(a.threads, b.threads) })
	for i := range cells {
		cells[i].fill(samples, by)
	}
	return cells
}

func (c *cell) fill(samples []sample, by map[sampleKey]sample) {
	var own []sample
	for _, s := range samples {
		if s.Threads == c.threads && s.Peer == c.peer {
			own = append(own, s)
			c.errors += s.ClientErrors
		}
	}
	over := func(value func(sample) float64) spread {
		var values []float64
		for _, s := range own {
			if v := value(s); v > 0 {
				values = append(values, v)
			}
		}
		return spreadOf(values)
	}
	against := func(peer string, value func(sample) float64) spread {
		return over(func(s sample) float64 {
			if base := value(by[sampleKey{s.Threads, s.Round, peer}]); base > 0 {
				return value(s) / base
			}
			return 0
		})
	}
	perSecond := func(s sample) float64 { return s.PerSecond }
	cpu := func(s sample) float64 { return s.CPU }
	c.perSecond, c.ofDirect = over(perSecond), against(nameDirect, perSecond)
	c.cpu, c.ofGocopy = over(cpu), against(nameGocopy, cpu)
	c.p95 = over(func(s sample) float64 { return s.P95 })
	c.p99 = over(func(s sample) float64 { return s.P99 })
	c.switches = over(func(s sample) float64 { return s.Switches })
	c.dbCPU = over(func(s sample) float64 { return s.DatabaseCPU })
	c.rssKiB = over(func(s sample) float64 { return float64(s.RSSKiB) })
}
