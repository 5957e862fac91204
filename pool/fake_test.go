package pool_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conntag/conntag/pool"
)

type (
	testPool  = pool.Pool[string, *conn]
	testLease = pool.Lease[string, *conn]
)

// conn is a backend connection that notices when two sessions have it, or somebody uses it after its close.
type conn struct {
	id     int
	kind   string
	dead   atomic.Bool
	closed atomic.Bool
	owner  atomic.Pointer[session]
}

// backend dials, closes and probes conns, and counts them as a server would.
type backend struct {
	t *testing.T

	mu      sync.Mutex
	next    int
	open    int
	maxOpen int
	dialed  []*conn
	dials   []*dialCall // in flight, when gated
	probes  []*conn

	gated  bool                    // dials wait for finish
	refuse func(kind string) error // nil: every dial succeeds
	probe  func(c *conn)           // called before a probe answers
	shut   func(c *conn)           // called before a close takes effect
}

type dialCall struct {
	kind   string
	result chan error
}

func (b *backend) dial(ctx context.Context, kind string) (*conn, error) {
	if b.gated {
		call := &dialCall{kind: kind, result: make(chan error, 1)}
		b.mu.Lock()
		b.dials = append(b.dials, call)
		b.mu.Unlock()
		select {
		case err := <-call.result:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if b.refuse != nil {
		if err := b.refuse(kind); err != nil {
			return nil, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	b.open++
	b.maxOpen = max(b.maxOpen, b.open)
	c := &conn{id: b.next, kind: kind}
	b.dialed = append(b.dialed, c)
	return c, nil
}

// finish lets the longest running dial of a kind end with err.
func (b *backend) finish(kind string, err error) {
	b.t.Helper()
	b.mu.Lock()
	i := slices.IndexFunc(b.dials, func(d *dialCall) bool { return d.kind == kind })
	if i < 0 {
		b.mu.Unlock()
		b.t.Fatalf("no dial of kind %q in flight", kind)
	}
	call := b.dials[i]
	b.dials = slices.Delete(b.dials, i, i+1)
	b.mu.Unlock()
	call.result <- err
}

// inFlight returns the kinds of the dials in flight, sorted.
func (b *backend) inFlight() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var kinds []string
	for _, d := range b.dials {
		kinds = append(kinds, d.kind)
	}
	slices.Sort(kinds)
	return kinds
}

func (b *backend) close(c *conn) {
	if b.shut != nil {
		b.shut(c)
	}
	if owner := c.owner.Load(); owner != nil {
		b.t.Errorf("conn %d is closed while %s has it", c.id, owner.name)
	}
	if c.closed.Swap(true) {
		b.t.Errorf("conn %d is closed twice", c.id)
	}
	b.mu.Lock()
	b.open--
	b.mu.Unlock()
}

func (b *backend) alive(c *conn) bool {
	b.mu.Lock()
	b.probes = append(b.probes, c)
	b.mu.Unlock()
	if b.probe != nil {
		b.probe(c)
	}
	if c.closed.Load() || c.owner.Load() != nil {
		b.t.Errorf("conn %d is probed while closed (%v) or owned", c.id, c.closed.Load())
	}
	return !c.dead.Load()
}

func (b *backend) counts() (open, maxOpen, dialed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open, b.maxOpen, len(b.dialed)
}

// session is a Holder that checks the order of its events and adds up its own times.
type session struct {
	t    *testing.T
	name string

	mu      sync.Mutex
	phase   string // "", "waiting", "holding"
	since   time.Duration
	held    time.Duration
	waited  time.Duration
	holds   int
	waits   int
	gaveUps int
}

func (s *session) event(now time.Duration, to string, from ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(from, s.phase) {
		s.t.Errorf("%s: went from %q to %q", s.name, s.phase, to)
	}
	if now < s.since {
		s.t.Errorf("%s: %q at %v, after an event at %v", s.name, to, now, s.since)
	}
	switch s.phase {
	case "waiting":
		s.waited += now - s.since
	case "holding":
		s.held += now - s.since
	}
	s.phase, s.since = to, now
}

func (s *session) Waiting(now time.Duration)  { s.event(now, "waiting", ""); s.waits++ }
func (s *session) Granted(now time.Duration)  { s.event(now, "holding", "", "waiting"); s.holds++ }
func (s *session) GaveUp(now time.Duration)   { s.event(now, "", "waiting"); s.gaveUps++ }
func (s *session) Returned(now time.Duration) { s.event(now, "", "holding") }

func (s *session) at() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase
}

// settled returns the times up to now, the running one included.
func (s *session) settled(now time.Duration) (held, waited time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, waited = s.held, s.waited
	switch s.phase {
	case "waiting":
		waited += now - s.since
	case "holding":
		held += now - s.since
	}
	return held, waited
}

// rig is a pool on a fake backend, inside a synctest bubble.
type rig struct {
	t       *testing.T
	pool    *testPool
	backend *backend
}

// bubble runs test with a rig on the fake clock. Afterwards it audits the pool, closes it, and checks that every conn
// that is not still leased was closed.
func bubble(t *testing.T, cfg func(*pool.Config), test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := pool.Config{Size: 2, WaitTimeout: 10 * time.Second, LivenessAfter: time.Hour}
		if cfg != nil {
			cfg(&c)
		}
		b := &backend{t: t}
		r := &rig{t: t, backend: b}
		r.pool = pool.New("main", c, pool.Hooks[string, *conn]{Dial: b.dial, Close: b.close, Alive: b.alive})
		test(t, r)
		synctest.Wait()
		if err := r.pool.Audit(); err != nil {
			t.Errorf("audit: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_ = r.pool.Close(ended) // the test may have left leases out
		synctest.Wait()
		if err := r.pool.Audit(); err != nil {
			t.Errorf("audit after close: %v", err)
		}
		if open, _, _ := b.counts(); open != r.pool.Stat().InUse {
			t.Errorf("%d conns are open after close, %d of them leased", open, r.pool.Stat().InUse)
		}
	})
}

func size(n int) func(*pool.Config) { return func(c *pool.Config) { c.Size = n } }

func (r *rig) session(name string) *session { return &session{t: r.t, name: name} }

// attempt is one Acquire in a goroutine of its own.
type attempt struct {
	*session
	done  chan struct{}
	lease testLease
	err   error
}

// begin starts an Acquire and returns when it has its lease, has failed, or waits.
func (r *rig) begin(ctx context.Context, name, kind string) *attempt {
	a := &attempt{session: r.session(name), done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.lease, a.err = r.pool.Acquire(ctx, kind, a.session, pool.Ref{})
	}()
	synctest.Wait()
	return a
}

// state says where an attempt is: "waiting", "holding conn N", or its error.
func (a *attempt) state() string {
	select {
	case <-a.done:
	default:
		return "waiting"
	}
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("holding conn %d", a.lease.Conn().id)
}

func (a *attempt) want(state string) {
	a.t.Helper()
	synctest.Wait()
	if got := a.state(); got != state {
		a.t.Fatalf("%s is %s, want %s", a.name, got, state)
	}
}

// lease acquires a connection that must be had, now or after a dial.
func (r *rig) lease(kind string) testLease {
	r.t.Helper()
	a := r.begin(r.t.Context(), "somebody", kind)
	if a.err != nil || !a.lease.Valid() {
		r.t.Fatalf("acquire %q: %s", kind, a.state())
	}
	return a.lease
}

func (r *rig) release(leases ...testLease) {
	for _, l := range leases {
		l.Release()
	}
	synctest.Wait()
}

func (r *rig) wantOpen(want int) {
	r.t.Helper()
	synctest.Wait()
	if open, _, _ := r.backend.counts(); open != want {
		r.t.Fatalf("%d conns open, want %d", open, want)
	}
}

func (r *rig) wantCloses(reason pool.CloseReason, want uint64) {
	r.t.Helper()
	if got := r.pool.Stat().Closes[reason]; got != want {
		r.t.Fatalf("%d closes for %v, want %d", got, reason, want)
	}
}

func wantPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
