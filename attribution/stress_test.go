package attribution

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// deskPool is the least a pool can be: a lock, a clock read under it, and an integral.
type deskPool struct {
	mu       sync.Mutex
	began    time.Time
	last     time.Duration
	integral time.Duration
	active   map[*Meter]bool // true: holds
	leased   int
}

func (p *deskPool) now() time.Duration { return time.Since(p.began) }

// at does one event under the lock.
func (p *deskPool) at(f func(now time.Duration)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.integral += time.Duration(p.leased) * (now - p.last)
	p.last = now
	f(now)
}

func (p *deskPool) wait(m *Meter) {
	p.at(func(now time.Duration) { m.Waiting(now); p.active[m] = false })
}

func (p *deskPool) giveUp(m *Meter) {
	p.at(func(now time.Duration) { m.GaveUp(now); delete(p.active, m) })
}

func (p *deskPool) grant(m *Meter) {
	p.at(func(now time.Duration) { m.Granted(now); p.active[m] = true; p.leased++ })
}

func (p *deskPool) giveBack(m *Meter) {
	p.at(func(now time.Duration) { m.Returned(now); delete(p.active, m); p.leased-- })
}

// cut gives the snapshot and its imbalance.
func (p *deskPool) cut(l *Ledger) (s Snapshot, imbalance time.Duration) {
	p.at(func(now time.Duration) {
		meters := make([]*Meter, 0, len(p.active))
		for m := range p.active {
			meters = append(meters, m)
		}
		s = l.Cut(now, meters)
		imbalance = s.Imbalance(now, p.integral, p.leased)
	})
	return s, imbalance
}

// session runs statements of random callers through a meter of its own; it returns how many.
func (p *deskPool) session(l *Ledger, seed uint64, leases int) (statements uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	var m Meter
	m.Init(l, l.Account(fmt.Appendf(nil, "user:%d", seed%2)))
	begin := func() {
		statements++
		var a *Account
		if n := random.IntN(60); n < 40 {
			a = l.Account(fmt.Appendf(nil, "caller%d", n))
		}
		m.Statement(a, p.now())
	}
	for range leases {
		begin()
		if random.IntN(2) == 0 {
			p.wait(&m)
			if random.IntN(4) == 0 {
				p.giveUp(&m)
				m.TimedOut()
				continue
			}
		}
		p.grant(&m)
		for range random.IntN(4) {
			m.Enter(Executing, p.now())
			m.AddBytes(1, 2)
			m.Enter(IdleInTransaction, p.now())
			m.Error(Deadlock)
			begin()
		}
		p.giveBack(&m)
	}
	m.Close()
	return statements
}

func TestLedgerBalancesUnderConcurrentSessionsAndCuts(t *testing.T) {
	const sessions, cutters, leases = 8, 2, 400
	l := NewLedger(Config{MaxCallers: 12})
	p := &deskPool{began: time.Now(), active: map[*Meter]bool{}}
	var statements [sessions]uint64
	var running, cutting sync.WaitGroup
	for i := range sessions {
		running.Go(func() { statements[i] = p.session(l, uint64(i), leases) })
	}
	over := make(chan struct{})
	for range cutters {
		cutting.Go(func() {
			before := map[string]time.Duration{}
			for open := true; open; {
				select {
				case <-over:
					open = false
				default:
				}
				s, imbalance := p.cut(l)
				if imbalance != 0 {
					t.Errorf("imbalance of %v at %v", imbalance, s.At)
				}
				for i := range s.Callers {
					c := &s.Callers[i]
					held := c.TotalHeld()
					if held < before[c.Name] {
						t.Errorf("%s went back from %v to %v", c.Name, before[c.Name], held)
					}
					before[c.Name] = held
				}
			}
		})
	}
	running.Wait()
	close(over)
	cutting.Wait()

	s, imbalance := p.cut(l)
	if imbalance != 0 || s.Held != p.integral {
		t.Errorf("held %v, the pool's integral is %v", s.Held, p.integral)
	}
	var want, got, acquires uint64
	var observed, waits time.Duration
	for _, n := range statements {
		want += n
	}
	for _, c := range s.Callers {
		got += c.Statements
		acquires += c.WaitTimes.Count
		observed += c.HoldTimes.Sum
		waits += c.WaitTimes.Sum
	}
	wantCount(t, "statements", got, want)
	wantCount(t, "acquires", acquires, sessions*leases)
	wantCount(t, "accounts", len(s.Callers), 13)
	if observed != s.Held || waits != s.Waited {
		t.Errorf("observed holds %v and waits %v, want %v and %v", observed, waits, s.Held, s.Waited)
	}
	if s.Folded == 0 {
		t.Error("nothing was folded: the cap was not reached")
	}
}
