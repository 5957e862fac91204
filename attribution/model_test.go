package attribution

import "time"

// model is the written rule in its plainest form: everything a session does is an item with an owner, or none until
// a tag, a cut or the end of the lease gives it one. It is slow, and shares nothing with Meter.
type model struct {
	items    []*item
	sessions []*modelSession

	// The pool's own integral, kept as a pool would: connections times time, at every event of the pool.
	last     time.Duration
	integral time.Duration
	leased   int
	queueing time.Duration // the same for the sessions that wait
	queued   int

	acquires, returns, turns uint64
}

type item struct {
	session *modelSession
	what    string // "held executing", "waited", "statement", ...
	owner   string // "" while nobody's
	amount  time.Duration
	lease   int // 0: outside any lease
}

type modelSession struct {
	fallback string
	tag      string // of the lease, or of the statement that wants one
	paid     string // who paid for what just ended, until the next statement
	waiting  bool
	holding  bool
	gaveUp   bool // and may yet be called a time-out
	phase    Phase
	upTo     time.Duration
	began    time.Duration
	lease    int
}

// poolEvent moves the pool's integral on; pool events and cuts come in the order of time.
func (m *model) poolEvent(now time.Duration) {
	m.integral += time.Duration(m.leased) * (now - m.last)
	m.queueing += time.Duration(m.queued) * (now - m.last)
	m.last = now
}

func (m *model) add(s *modelSession, what string, amount time.Duration) {
	owner := s.tag
	if owner == "" {
		owner = s.paid
	}
	m.items = append(m.items, &item{session: s, what: what, owner: owner, amount: amount, lease: s.lease})
}

// pass adds what the session held or waited since its last event.
func (m *model) pass(s *modelSession, now time.Duration) {
	if now <= s.upTo || !(s.waiting || s.holding) {
		return
	}
	what := "waited"
	if s.holding {
		what = "held " + s.phase.String()
	}
	m.add(s, what, now-s.upTo)
	s.upTo = now
}

// give makes owner the owner of everything of the session that has none.
func (m *model) give(s *modelSession, owner string) {
	for _, it := range m.items {
		if it.session == s && it.owner == "" {
			it.owner = owner
		}
	}
}

func (m *model) statement(s *modelSession, tag string, now time.Duration) {
	m.forgetPaid(s)
	if !s.waiting && !s.holding {
		m.give(s, s.fallback)
		s.tag = ""
	}
	if tag != "" && tag != s.tag {
		m.pass(s, now)
		m.turn(s, tag)
		m.give(s, tag)
		s.tag = tag
	}
	m.add(s, "statement", 1)
}

// turn counts the stretch that ends when an open hold goes over to tag, if one does.
func (m *model) turn(s *modelSession, tag string) {
	switch {
	case !s.holding:
	case s.tag != "" && s.tag != tag:
		m.turns++
		m.add(s, "turn", 0) // parts two stretches of one caller when that in the middle took no time
	case s.tag == "" && tag != s.fallback && m.cutBefore(s):
		m.turns++
	}
}

// cutBefore tells whether a cut has charged a part of the open untagged hold to the fallback.
func (m *model) cutBefore(s *modelSession) bool {
	for _, it := range m.items {
		if it.session == s && it.lease == s.lease && it.owner != "" && it.isHeld() {
			return true
		}
	}
	return false
}

func (it *item) isHeld() bool { return len(it.what) > 5 && it.what[:5] == "held " }

func (m *model) wait(s *modelSession, now time.Duration) {
	m.poolEvent(now)
	m.queued++
	s.waiting, s.upTo, s.began = true, now, now
	m.forgetPaid(s)
}

func (m *model) grant(s *modelSession, now time.Duration, lease int) {
	m.poolEvent(now)
	m.pass(s, now)
	m.forgetPaid(s)
	m.endOfAcquire(s, now)
	s.waiting, s.holding, s.phase, s.upTo, s.began, s.lease = false, true, Preparing, now, now, lease
	m.leased++
}

func (m *model) endOfAcquire(s *modelSession, now time.Duration) {
	m.acquires++
	length := time.Duration(0)
	if s.waiting {
		length = now - s.began
		m.queued--
		m.add(s, "wait", 1)
	}
	m.add(s, "acquire", 1)
	m.add(s, "acquire length", length)
}

func (m *model) giveUp(s *modelSession, now time.Duration) {
	m.poolEvent(now)
	m.pass(s, now)
	m.endOfAcquire(s, now)
	m.end(s)
	s.gaveUp = true
}

func (m *model) timedOut(s *modelSession) {
	if s.gaveUp {
		m.add(s, "timeout", 1)
	}
	s.gaveUp = false
}

// forgetPaid: the session turns to something else, so a wait that gave up will not be called a time-out any more.
func (m *model) forgetPaid(s *modelSession) {
	if s.gaveUp {
		m.items = append(m.items, &item{session: s, what: "abandoned", owner: s.paid, amount: 1})
	}
	s.gaveUp, s.paid = false, ""
}

func (m *model) giveBack(s *modelSession, now time.Duration) {
	m.poolEvent(now)
	m.leased--
	m.pass(s, now)
	m.add(s, "hold", 1)
	m.returns++
	m.end(s)
}

func (m *model) end(s *modelSession) {
	payer := s.tag
	if payer == "" {
		payer = s.fallback
	}
	m.give(s, payer)
	s.waiting, s.holding, s.tag, s.paid, s.lease = false, false, "", payer, 0
}

// cut charges what is open, and gives what has no owner to the fallback.
func (m *model) cut(at time.Duration) {
	for _, s := range m.sessions {
		if s.waiting || s.holding {
			m.pass(s, at)
			m.give(s, s.fallback)
		}
	}
}

// sums adds the items up by owner and what.
func (m *model) sums() map[string]map[string]time.Duration {
	sums := map[string]map[string]time.Duration{}
	for _, it := range m.items {
		if sums[it.owner] == nil {
			sums[it.owner] = map[string]time.Duration{}
		}
		sums[it.owner][it.what] += it.amount
	}
	return sums
}

// open gives, by caller, the held seconds of stretches that still go on: the items at the end of an open lease that have
// the same owner.
func (m *model) open() map[string]time.Duration {
	open := map[string]time.Duration{}
	for _, s := range m.sessions {
		if !s.holding {
			continue
		}
		payer := s.tag
		if payer == "" {
			payer = s.fallback
		}
		for i := len(m.items) - 1; i >= 0; i-- {
			it := m.items[i]
			if it.session != s || it.lease != s.lease {
				continue
			}
			if it.what == "turn" || it.isHeld() && it.owner != payer {
				break
			}
			if it.isHeld() {
				open[payer] += it.amount
			}
		}
	}
	return open
}
