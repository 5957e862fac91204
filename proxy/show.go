package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/pool"
)

// Snapshot reads everything that metrics and the admin API show.
func (s *Server) Snapshot() Snapshot {
	return Snapshot{
		Pools:                  []PoolSnapshot{s.poolSnapshot()},
		ClientConnections:      s.sessions.count(),
		ClientConnectionsLimit: s.cfg.MaxClientConnections,
		Connects: ConnectCounts{OK: s.connects.ok.Load(), Auth: s.connects.auth.Load(), TLS: s.connects.tls.Load(),
			Limit: s.connects.limit.Load(), Protocol: s.connects.protocol.Load()},
		BytesIn:  s.clients.received.Load(),
		BytesOut: s.clients.sent.Load(),
		Panics:   s.panics.Load(),
		Started:  s.started,
	}
}

// poolSnapshot cuts pool and ledger at one instant: the ledger's cut runs under the pool's lock.
func (s *Server) poolSnapshot() PoolSnapshot {
	p := PoolSnapshot{
		Name: s.backend.cfg.Name, Address: s.backend.cfg.Address, Up: s.backend.up.Load(),
		BytesSent: s.backend.counts.sent.Load(), BytesReceived: s.backend.counts.received.Load(),
	}
	s.pool.Cut(func(stat pool.Stat, holders []pool.Holder) {
		meters := make([]*attribution.Meter, len(holders))
		for i, h := range holders {
			meters[i] = h.(*attribution.Meter)
		}
		p.Ledger = s.ledger.Cut(stat.Now, meters)
		// A session may have charged past the pool's look at the clock: the cut is at the later instant.
		p.Stat = stat.At(p.Ledger.At)
	})
	p.ConservationError = p.Ledger.Held - p.Stat.InUseTime
	return p
}

// Sessions lists the client connections by id.
func (s *Server) Sessions() []SessionInfo {
	now := s.now()
	var list []SessionInfo
	for _, session := range s.sessions.all() {
		list = append(list, session.info(now))
	}
	slices.SortFunc(list, func(a, b SessionInfo) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func (s *Session) info(now time.Duration) SessionInfo {
	v := &s.view
	i := SessionInfo{ID: s.id, Client: s.client.RemoteAddr().String(), Since: v.since, Statements: v.statements.Load(), Phase: "idle"}
	if user := v.user.Load(); user != nil {
		i.User = *user
	} else {
		i.Phase = "login"
	}
	if schema := v.schema.Load(); schema != nil {
		i.Schema = *schema
	}
	i.PinReasons = pinSet(v.pins.Load()).words()
	if b := v.backend.Load(); b != nil {
		i.BackendID = b.id
	}
	switch standing := s.meter.Standing(now); {
	case standing.Waiting:
		i.Caller, i.Phase, i.HeldFor = standing.Caller, "waiting", standing.For
	case standing.Holding:
		i.Caller, i.Phase, i.HeldFor = standing.Caller, standing.Phase.String(), standing.For
	}
	return i
}

// waitTimeoutMessage says who holds the pool, so that the error in an application's log names the culprit.
func (s *Server) waitTimeoutMessage() string {
	p := s.poolSnapshot()
	var b strings.Builder
	fmt.Fprintf(&b, "conntag: no connection of pool %q within %s; %d of %d in use, %d waiting", p.Name, s.waitTimeout, p.Stat.InUse, p.Stat.Size, p.Stat.Waiting)
	holders := slices.Clone(p.Ledger.Callers)
	slices.SortStableFunc(holders, func(a, b attribution.Caller) int { return cmp.Compare(inUse(&b), inUse(&a)) })
	sep := "; held by "
	for i := range holders[:min(3, len(holders))] {
		c := &holders[i]
		if inUse(c) == 0 {
			break
		}
		fmt.Fprintf(&b, "%s%s (%d, longest %s)", sep, c.Name, inUse(c), c.OldestHold.Round(time.Millisecond))
		sep = ", "
	}
	return b.String()
}

func inUse(c *attribution.Caller) (n int) {
	for _, k := range c.InUse {
		n += k
	}
	return n
}
