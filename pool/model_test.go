package pool_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/conntag/conntag/pool"
)

// model is the pool's rules written down naively: slices, no counters, coverage recomputed at every look. Dials end
// when the test says so, everything else at once, so that the rules leave one outcome only.
type model struct {
	size    int
	idle    []modelConn // most recently used last
	held    map[int]modelConn
	dials   []string // kinds in flight
	queue   []modelWaiter
	ended   map[int]string // session -> how its wait ended without a lease
	dialed  int
	waits   int
	acquire int
}

type modelConn struct {
	id   int
	kind string
	dead bool
	idle time.Duration // since
}

type modelWaiter struct {
	id    int
	kind  string
	since time.Duration
}

// uncovered returns the place in line of the first waiter that no dial in flight is for, or -1.
func (m *model) uncovered() int {
	left := map[string]int{}
	for _, kind := range m.dials {
		left[kind]++
	}
	for i, w := range m.queue {
		if left[w.kind] == 0 {
			return i
		}
		left[w.kind]--
	}
	return -1
}

func (m *model) serve() {
	for i := m.uncovered(); i >= 0; i = m.uncovered() {
		if len(m.idle)+len(m.held)+len(m.dials) >= m.size {
			if len(m.idle) == 0 {
				return
			}
			m.idle = m.idle[1:]
		}
		m.dials = append(m.dials, m.queue[i].kind)
	}
}

func (m *model) grant(id int, c modelConn) {
	m.held[id] = c
	m.acquire++
}

// tryAcquire takes an idle conn: the preferred one, else the most recently used. Dead ones are dropped on the way.
func (m *model) tryAcquire(id int, kind string, prefer int) bool {
	for {
		i := slices.IndexFunc(m.idle, func(c modelConn) bool { return c.id == prefer && c.kind == kind })
		for j := len(m.idle) - 1; i < 0 && j >= 0; j-- {
			if m.idle[j].kind == kind {
				i = j
			}
		}
		if i < 0 {
			return false
		}
		c := m.idle[i]
		m.idle = slices.Delete(m.idle, i, i+1)
		if !c.dead {
			m.grant(id, c)
			return true
		}
		m.serve()
	}
}

func (m *model) acquireOrWait(id int, kind string, prefer int, now time.Duration) {
	if !m.tryAcquire(id, kind, prefer) {
		m.waits++
		m.queue = append(m.queue, modelWaiter{id, kind, now})
		m.serve()
	}
}

// place gives a conn that nobody holds to the first waiter it can serve.
func (m *model) place(c modelConn, now time.Duration) {
	bare := m.uncovered()
	for i, w := range m.queue {
		if w.kind == c.kind {
			m.queue = slices.Delete(m.queue, i, i+1)
			m.grant(w.id, c)
			m.serve()
			return
		}
		if i == bare {
			m.serve() // the conn is closed: its slot is what w needs
			return
		}
	}
	c.idle = now
	m.idle = append(m.idle, c)
}

func (m *model) finishDial(kind string, ok bool, now time.Duration) {
	i := slices.Index(m.dials, kind)
	m.dials = slices.Delete(m.dials, i, i+1)
	first := slices.IndexFunc(m.queue, func(w modelWaiter) bool { return w.kind == kind })
	if !ok {
		if first >= 0 {
			m.ended[m.queue[first].id] = "dial backend of pool main: connection refused"
			m.queue = slices.Delete(m.queue, first, first+1)
		}
		m.serve()
		return
	}
	m.dialed++
	c := modelConn{id: m.dialed, kind: kind}
	if first >= 0 {
		m.grant(m.queue[first].id, c)
		m.queue = slices.Delete(m.queue, first, first+1)
		return
	}
	m.place(c, now)
}

func (m *model) leave(id int, how string) {
	m.queue = slices.DeleteFunc(m.queue, func(w modelWaiter) bool { return w.id == id })
	m.ended[id] = how
}

func (m *model) advance(now time.Duration) {
	for _, w := range slices.Clone(m.queue) {
		if now-w.since >= modelWait {
			m.leave(w.id, pool.ErrWaitTimeout.Error())
		}
	}
	m.idle = slices.DeleteFunc(m.idle, func(c modelConn) bool { return now-c.idle >= modelIdle })
}

const (
	modelWait = 10 * time.Second
	modelIdle = 15 * time.Second
)

// action is one random step; which session or conn it means is decided when it runs.
type action struct {
	verb string
	a, b int
	kind string
}

func (a action) String() string { return fmt.Sprintf("%s(%d,%d,%s)", a.verb, a.a, a.b, a.kind) }

var verbs = []string{
	"acquire", "acquire", "acquire", "try", "release", "release", "discard", "setkind", "leave", "dialed", "dialed", "refused", "kill", "sleep",
}

func drawAction(t *rapid.T) action {
	return action{
		verb: rapid.SampledFrom(verbs).Draw(t, "verb"),
		a:    rapid.IntRange(0, 1<<16).Draw(t, "a"),
		b:    rapid.IntRange(0, 1<<16).Draw(t, "b"),
		kind: rapid.SampledFrom([]string{"app", "batch", "report"}).Draw(t, "kind"),
	}
}

// play runs actions on a pool and on the model, side by side.
type play struct {
	t        *testing.T
	rig      *rig
	model    *model
	start    time.Time
	attempts map[int]*attempt
	cancels  map[int]context.CancelFunc
	refs     []modelRef
}

type modelRef struct {
	ref  pool.Ref
	conn int
}

func TestPoolDoesWhatTheModelDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "size")
		actions := rapid.SliceOfN(rapid.Custom(drawAction), 1, 60).Draw(rt, "actions")
		// Everything is drawn before the bubble starts: rapid ends a failing run by panicking in its own goroutine.
		var problem error
		synctest.Test(t, func(t *testing.T) { problem = runModel(t, n, actions) })
		if problem != nil {
			rt.Fatal(problem)
		}
	})
}

func runModel(t *testing.T, size int, actions []action) error {
	b := &backend{t: t, gated: true}
	cfg := pool.Config{Size: size, WaitTimeout: modelWait, IdleTimeout: modelIdle}
	p := pool.New("main", cfg, pool.Hooks[string, *conn]{Dial: b.dial, Close: b.close, Alive: b.alive})
	x := &play{
		t: t, start: time.Now(),
		rig:      &rig{t: t, pool: p, backend: b},
		model:    &model{size: size, held: map[int]modelConn{}, ended: map[int]string{}},
		attempts: map[int]*attempt{},
		cancels:  map[int]context.CancelFunc{},
	}
	defer func() { // also after a mismatch, so that no goroutine is left in the bubble
		for _, a := range x.attempts {
			if a.lease.Valid() {
				a.lease.Release()
			}
		}
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
		for _, cancel := range x.cancels {
			cancel()
		}
	}()
	for i, a := range actions {
		x.do(a)
		synctest.Wait()
		if err := x.compare(); err != nil {
			return fmt.Errorf("after action %d, %v: %w", i, a, err)
		}
	}
	return x.finish()
}

func (x *play) now() time.Duration { return time.Since(x.start) }

// pick returns the nth of the sessions that hold, oldest first, or -1.
func (x *play) pick(n int) int {
	var ids []int
	for id := range x.model.held {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return -1
	}
	slices.Sort(ids)
	return ids[n%len(ids)]
}

func (x *play) do(a action) {
	switch a.verb {
	case "acquire", "try":
		x.doAcquire(a)
	case "release", "discard", "setkind":
		if id := x.pick(a.a); id >= 0 {
			x.doHeld(id, a)
		}
	case "leave":
		if len(x.model.queue) > 0 {
			id := x.model.queue[a.a%len(x.model.queue)].id
			if a.b%2 == 0 {
				x.cancels[id]()
				x.model.leave(id, context.Canceled.Error())
			} else {
				x.rig.pool.Abandon(x.attempts[id].session, errGone)
				x.model.leave(id, errGone.Error())
			}
		}
	case "dialed", "refused":
		if len(x.model.dials) > 0 {
			kind := x.model.dials[a.a%len(x.model.dials)]
			err := map[bool]error{true: errRefused}[a.verb == "refused"]
			x.rig.backend.finish(kind, err)
			x.model.finishDial(kind, err == nil, x.now())
		}
	case "kill":
		if len(x.model.idle) > 0 {
			c := &x.model.idle[a.a%len(x.model.idle)]
			c.dead = true
			x.rig.backend.dialed[c.id-1].dead.Store(true)
		}
	case "sleep":
		time.Sleep(time.Duration(a.a%6000) * time.Millisecond)
		synctest.Wait()
		x.model.advance(x.now())
	}
}

func (x *play) doAcquire(a action) {
	id := len(x.attempts)
	ref := modelRef{}
	if len(x.refs) > 0 && a.b%2 == 0 {
		ref = x.refs[a.a%len(x.refs)]
	}
	at := &attempt{session: x.rig.session(fmt.Sprint("session ", id)), done: make(chan struct{})}
	x.attempts[id] = at
	if a.verb == "try" {
		at.lease, _ = x.rig.pool.TryAcquire(a.kind, at.session, ref.ref)
		close(at.done)
		if !x.model.tryAcquire(id, a.kind, ref.conn) {
			x.model.ended[id] = "refused"
		}
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.cancels[id] = cancel
	go func() {
		defer close(at.done)
		at.lease, at.err = x.rig.pool.Acquire(ctx, a.kind, at.session, ref.ref)
	}()
	x.model.acquireOrWait(id, a.kind, ref.conn, x.now())
}

func (x *play) doHeld(id int, a action) {
	at, c := x.attempts[id], x.model.held[id]
	if a.verb == "setkind" {
		at.lease.SetKind(a.kind)
		c.kind = a.kind
		x.model.held[id] = c
		return
	}
	x.refs = append(x.refs, modelRef{at.lease.Ref(), c.id})
	delete(x.model.held, id)
	if a.verb == "release" {
		at.lease.Release()
		x.model.place(c, x.now())
	} else {
		at.lease.Discard()
		x.model.serve()
	}
	x.model.ended[id] = "returned"
}

// compare checks who holds what, who waits, what is dialed and what is idle, and then the pool's own books.
func (x *play) compare() error {
	for id, at := range x.attempts {
		if got, want := x.state(at), x.expected(id); got != want {
			return fmt.Errorf("session %d: %s, want %s", id, got, want)
		}
	}
	dials := slices.Sorted(slices.Values(x.model.dials))
	if got := x.rig.backend.inFlight(); !slices.Equal(got, dials) {
		return fmt.Errorf("dials in flight %v, want %v", got, dials)
	}
	s := x.rig.pool.Stat()
	got := fmt.Sprintln("idle", s.Idle, "in use", s.InUse, "dialing", s.Dialing, "closing", s.Closing, "waiting", s.Waiting, "acquires", s.Acquires, "waits", s.Waits)
	want := fmt.Sprintln("idle", len(x.model.idle), "in use", len(x.model.held), "dialing", len(dials), "closing", 0, "waiting", len(x.model.queue), "acquires", x.model.acquire, "waits", x.model.waits)
	if got != want {
		return fmt.Errorf("got %swant %s", got, want)
	}
	if open, maxOpen, _ := x.rig.backend.counts(); open != s.Idle+s.InUse || maxOpen > x.model.size {
		return fmt.Errorf("%d conns open, at most %d at once, of %d", open, maxOpen, x.model.size)
	}
	if err := x.balance(s); err != nil {
		return err
	}
	return x.rig.pool.Audit()
}

func (x *play) state(at *attempt) string {
	switch at.at() {
	case "waiting":
		return "waiting"
	case "holding":
		return at.state()
	}
	select {
	case <-at.done:
	default:
		return "between events"
	}
	switch {
	case at.err != nil:
		return at.err.Error()
	case at.holds == 0:
		return "refused"
	}
	return "returned"
}

func (x *play) expected(id int) string {
	if c, ok := x.model.held[id]; ok {
		return fmt.Sprintf("holding conn %d", c.id)
	}
	if how, ok := x.model.ended[id]; ok {
		return how
	}
	return "waiting"
}

// balance checks the sums over all sessions against the pool's integrals, to the nanosecond.
func (x *play) balance(s pool.Stat) error {
	var held, waited time.Duration
	ended, granted := uint64(0), uint64(0)
	for _, at := range x.attempts {
		h, w := at.settled(s.Now)
		held, waited = held+h, waited+w
		granted += uint64(at.waits * at.holds)
		ended += uint64(at.gaveUps)
	}
	if held != s.InUseTime || waited != s.WaitTime {
		return fmt.Errorf("sessions held %v and waited %v, pool says %v and %v", held, waited, s.InUseTime, s.WaitTime)
	}
	if got := s.WaitTimeouts + s.Abandoned + s.WaitErrors; got != ended || s.Waits != uint64(s.Waiting)+got+granted {
		return fmt.Errorf("%d waits: %d go on, %d ended without a lease (sessions say %d), %d with one", s.Waits, s.Waiting, got, ended, granted)
	}
	return nil
}

// finish closes the pool and checks that every session's story has one end.
func (x *play) finish() error {
	done := make(chan error, 1)
	go func() { done <- x.rig.pool.Close(context.Background()) }()
	synctest.Wait()
	for id, at := range x.attempts {
		if at.lease.Valid() {
			at.lease.Release()
		}
		if at.waits > 1 || at.holds > 1 || at.holds+at.gaveUps > 1 || at.gaveUps > at.waits {
			return fmt.Errorf("session %d: %d waits, %d holds, %d give-ups", id, at.waits, at.holds, at.gaveUps)
		}
		if at.at() != "" {
			return fmt.Errorf("session %d is still %s", id, at.at())
		}
	}
	if err := <-done; err != nil {
		return err
	}
	if open, _, _ := x.rig.backend.counts(); open != 0 {
		return fmt.Errorf("%d conns open after close", open)
	}
	return x.balance(x.rig.pool.Stat())
}
