package proxy

import (
	"testing"
	"time"

	"github.com/conntag/conntag/attribution"
)

// BenchmarkSweep is one look at ten thousand idle sessions.
func BenchmarkSweep(b *testing.B) {
	s := &Server{started: time.Now(), ledger: attribution.NewLedger(attribution.DefaultConfig())}
	s.sessions.byID = map[uint32]*Session{}
	for range 10_000 {
		session := &Session{srv: s}
		session.meter.Init(s.ledger, nil)
		session.view.waitTimeout.Store(int64(8 * time.Hour))
		s.sessions.add(session)
	}
	w := sweep{srv: s, killing: make(chan struct{}, 1)}
	b.ReportAllocs()
	for b.Loop() {
		w.once()
	}
}
