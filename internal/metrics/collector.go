package metrics

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

// Source is what a scrape reads; *proxy.Server is one.
type Source interface {
	Snapshot() proxy.Snapshot
}

// Options is what the metrics say beside the snapshot.
type Options struct {
	Version, Revision string           // of build_info; empty is shown as "unknown"
	CallersLimit      int              // attribution.max_callers
	Now               func() time.Time // nil means time.Now
}

// Collector implements prometheus.Collector over snapshots.
type Collector struct {
	src     Source
	opts    Options
	created births
}

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector reads src once per scrape. It may be scraped by several at once.
func NewCollector(src Source, o Options) *Collector {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Collector{src: src, opts: o, created: births{at: map[seriesKey]time.Time{}}}
}

// Describe sends every family, so that a registry can check for clashes.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range families {
		ch <- f.desc
	}
}

// Collect sends one snapshot. The lock makes concurrent scrapes take theirs in turn: the births of new series
// are told from the order of scrapes.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	c.created.mu.Lock()
	defer c.created.mu.Unlock()
	now := c.opts.Now()
	s := c.src.Snapshot()
	e := emitter{ch: ch, created: s.Started}
	c.process(e, &s)
	for i := range s.Pools {
		c.pool(e, &s.Pools[i])
		c.callers(e, s.Pools[i].Name, s.Pools[i].Ledger.Callers, s.Started)
	}
	c.created.scrapedLocked(now)
}

func (c *Collector) process(e emitter, s *proxy.Snapshot) {
	e.gauge(clientConnections, float64(s.ClientConnections))
	e.gauge(clientConnectionsLimit, float64(s.ClientConnectionsLimit))
	e.count(clientConnects, s.Connects.OK, "ok")
	e.count(clientConnects, s.Connects.Auth, "auth")
	e.count(clientConnects, s.Connects.TLS, "tls")
	e.count(clientConnects, s.Connects.Limit, "limit")
	e.count(clientConnects, s.Connects.Protocol, "protocol")
	e.count(clientBytes, s.BytesIn, "rx")
	e.count(clientBytes, s.BytesOut, "tx")
	e.count(sessionPanics, s.Panics)
	e.gauge(buildInfo, 1, known(c.opts.Version), known(c.opts.Revision), runtime.Version())
}

func (c *Collector) pool(e emitter, p *proxy.PoolSnapshot) {
	name := label(p.Name)
	e.seconds(inUseSeconds, p.Stat.InUseTime, name)
	e.gauge(conservationError, p.ConservationError.Seconds(), name)
	e.gauge(oldestHold, p.Ledger.OldestHold.Seconds(), name)
	e.gauge(connections, float64(p.Stat.Idle), name, "idle")
	e.gauge(connections, float64(p.Stat.InUse), name, "in_use")
	e.gauge(connections, float64(p.Stat.Dialing), name, "dialing")
	e.gauge(connections, float64(p.Stat.Closing), name, "closing")
	e.gauge(connectionsLimit, float64(p.Stat.Size), name)
	e.seconds(fullSeconds, p.Stat.FullTime, name)
	e.count(connects, p.Stat.Dials-p.Stat.DialErrors-uint64(p.Stat.Dialing), name, "ok")
	e.count(connects, p.Stat.DialErrors, name, "error")
	for i, n := range p.Stat.Closes {
		e.count(closes, n, name, pool.CloseReason(i).String())
	}
	up := 0.0
	if p.Up {
		up = 1
	}
	e.gauge(backendUp, up, name)
	e.count(backendBytes, p.BytesReceived, name, "rx")
	e.count(backendBytes, p.BytesSent, name, "tx")
	e.gauge(callersTracked, float64(len(p.Ledger.Callers)), name)
	e.gauge(callersLimit, float64(c.opts.CallersLimit), name)
	e.count(callerOverflow, p.Ledger.Folded, name)
}

func (c *Collector) callers(e emitter, poolName string, callers []attribution.Caller, started time.Time) {
	pool := label(poolName)
	for i := range callers {
		a := &callers[i]
		name := label(a.Name)
		e.created = c.created.ofLocked(seriesKey{poolName, a.Name, ""}, started)
		for i, held := range a.Held {
			state := attribution.Phase(i).String()
			e.seconds(holdSeconds, held, pool, name, state)
			e.gauge(callerConnections, float64(a.InUse[i]), pool, name, state)
		}
		e.count(holds, a.Holds, pool, name)
		e.histogram(holdDuration, a.HoldTimes, pool, name)
		e.histogram(waitDuration, a.WaitTimes, pool, name)
		e.seconds(waitSeconds, a.Waited, pool, name)
		e.gauge(waiting, float64(a.Waiting), pool, name)
		e.count(waitTimeouts, a.WaitTimeouts, pool, name)
		e.count(waitsAbandoned, a.Abandoned, pool, name)
		e.count(queries, a.Statements, pool, name)
		for i, n := range a.Errors {
			if class := attribution.ErrorClass(i).String(); n > 0 {
				e.created = c.created.ofLocked(seriesKey{poolName, a.Name, "error " + class}, started)
				e.count(errorsTotal, n, pool, name, class)
			}
		}
		for i, n := range a.Pins {
			if reason := attribution.PinReason(i).String(); n > 0 {
				e.created = c.created.ofLocked(seriesKey{poolName, a.Name, "pin " + reason}, started)
				e.count(pins, n, pool, name, reason)
			}
		}
	}
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return label(s)
}
