package attribution

import "time"

// Standing is what a session does at one moment, for lists of sessions.
type Standing struct {
	Caller           string // who is charged now; between leases, who was charged last
	Waiting, Holding bool
	Phase            Phase         // while holding
	For              time.Duration // age of the wait or hold
}

// Standing tells what the session does at now. It charges nothing.
func (m *Meter) Standing(now time.Duration) Standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Standing{Caller: m.payer().name, Waiting: m.state == waiting, Holding: m.state == holding}
	if m.state != idle {
		s.Phase, s.For = m.phase, max(now-m.start, 0)
	}
	return s
}

// IdleFor is how long ago the last wait or hold ended, or the ledger's clock began; zero during one.
func (m *Meter) IdleFor(now time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != idle {
		return 0
	}
	return max(now-m.since, 0)
}
