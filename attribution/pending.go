package attribution

import "time"

// pending is what a meter saw before it knew a tag: the part that goes to the first tag of the lease, or to the fallback
// when a cut or the end of the lease comes first.
type pending struct {
	any     bool // anything below is set
	counted bool // errors, pins or bytes are set: rare, and a lot to look through

	held   [NumPhases]time.Duration
	waited time.Duration

	acquires uint32 // 0 or 1: a wait, or an acquire without one, that ended and is not yet observed
	queued   uint32 // 0 or 1: it stood in the queue
	wait     time.Duration

	statements uint64
	errors     [NumErrorClasses]uint32
	pins       [NumPinReasons]uint32
	fromClient uint64
	toClient   uint64
}

func (p *pending) count() *pending {
	p.any, p.counted = true, true
	return p
}

// settle charges the open segment up to now, or adds it to what is pending.
func (m *Meter) settle(now time.Duration) {
	d := now - m.since
	if d <= 0 || m.state == idle {
		return
	}
	m.since = now
	a := m.caller
	if a == nil {
		m.pending.any = true
	}
	switch {
	case m.state == waiting && a == nil:
		m.pending.waited += d
	case m.state == waiting:
		a.waited.Add(int64(d))
	case a == nil:
		m.pending.held[m.phase] += d
	default:
		a.held[m.phase].Add(int64(d))
		m.stretch += d
	}
}

// flush charges what is pending to a.
func (m *Meter) flush(a *Account) {
	p := &m.pending
	if !p.any {
		return
	}
	for phase, d := range p.held {
		if d > 0 {
			a.held[phase].Add(int64(d))
			m.stretch += d
		}
	}
	if p.waited > 0 {
		a.waited.Add(int64(p.waited))
	}
	if p.acquires > 0 {
		a.waitTimes.observe(p.wait)
		a.waits.Add(uint64(p.queued))
	}
	if p.statements > 0 {
		a.statements.Add(p.statements)
	}
	if p.counted {
		p.flushCounts(a)
	}
	*p = pending{}
}

func (p *pending) flushCounts(a *Account) {
	for class, n := range p.errors {
		if n > 0 {
			a.errors[class].Add(uint64(n))
		}
	}
	for reason, n := range p.pins {
		if n > 0 {
			a.pins[reason].Add(uint64(n))
		}
	}
	a.AddBytes(p.fromClient, p.toClient)
}

// acquired observes how an acquire ended: after a wait in the queue, or without one.
func (m *Meter) acquired(queued uint32, wait time.Duration) {
	if m.caller == nil {
		p := &m.pending
		p.any, p.acquires, p.queued, p.wait = true, 1, queued, wait
		return
	}
	m.caller.waitTimes.observe(wait)
	if queued > 0 {
		m.caller.waits.Add(1)
	}
}

// endWait observes the whole wait, also when a cut has charged a part of its seconds to the fallback: it was one wait.
func (m *Meter) endWait(now time.Duration) {
	m.settle(now)
	m.acquired(1, m.since-m.start)
}

// payer is who is charged at this moment.
func (m *Meter) payer() *Account {
	if a := m.known(); a != nil {
		return a
	}
	return m.fallback
}

// known is who is charged for certain, nil while a tag may still come and claim it.
func (m *Meter) known() *Account {
	if m.caller != nil {
		return m.caller
	}
	return m.last
}
