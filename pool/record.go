package pool

import (
	"math"
	"sync/atomic"
	"time"
)

// state of a record. Every state but gone occupies one of the pool's Size slots.
type state uint8

const (
	gone     state = iota // not yet dialed, or closed, or its slot passed on to a dial
	dialing               // Hooks.Dial runs, or will as soon as the slot's former connection is closed
	idle                  // in Pool.idle and on its shelf
	checking              // taken out by an acquire that runs Hooks.Alive
	leased                // in Pool.leased
	closing               // Hooks.Close runs and nobody was promised the slot yet; in Pool.closing
	numStates
)

const never = time.Duration(math.MaxInt64)

// record is one backend connection from the start of its dial to the end of its close. Pool.mu guards it, but conn
// and shelf belong to the leaseholder while it is leased.
type record[K comparable, C any] struct {
	pool  *Pool[K, C]
	shelf *shelf[K, C]
	conn  C
	state state

	// uses is odd while leased and grows by one at each end of a lease, so that a lease that is over never matches
	// again. It is atomic for the sake of misuse only: a stale lease must find out without a data race.
	uses   atomic.Uint64
	holder Holder

	heir *record[K, C] // the dial that has its slot after the close

	expires   time.Duration // when it becomes too old to be reused
	idleSince time.Duration

	place node[*record[K, C]] // in the pool's list for its state
	spot  node[*record[K, C]] // in shelf.idle
}

func newRecord[K comparable, C any](p *Pool[K, C], s *shelf[K, C]) *record[K, C] {
	r := &record[K, C]{pool: p, shelf: s, expires: never}
	r.place.item, r.spot.item = r, r
	return r
}

// shelf is what the pool has of one kind. It exists as long as it has a record or a waiter.
type shelf[K comparable, C any] struct {
	kind    K
	idle    list[*record[K, C]] // most recently used first
	records int
	dialing int
	waiting int
	covered int // waiters with a dial on the way for them: min(dialing, waiting), and always the first of the kind
}

func (p *Pool[K, C]) shelfLocked(k K) *shelf[K, C] {
	s := p.shelves[k]
	if s == nil {
		s = &shelf[K, C]{kind: k}
		p.shelves[k] = s
	}
	return s
}

func (p *Pool[K, C]) dropShelfLocked(s *shelf[K, C]) {
	if s.records == 0 && s.waiting == 0 {
		delete(p.shelves, s.kind)
	}
}

// moveLocked is the one place where a record changes its state: it keeps every list and count in step.
func (p *Pool[K, C]) moveLocked(r *record[K, C], to state) {
	s := r.shelf
	switch r.state {
	case gone:
		s.records++
	case dialing:
		s.dialing--
	case idle:
		p.idle.remove(&r.place)
		s.idle.remove(&r.spot)
	case leased:
		p.leased.remove(&r.place)
	case closing:
		p.closing.remove(&r.place)
	}
	p.count[r.state]--
	p.count[to]++
	r.state = to
	switch to {
	case gone:
		s.records--
		p.dropShelfLocked(s)
	case dialing:
		s.dialing++
	case idle:
		p.idle.pushFront(&r.place)
		s.idle.pushFront(&r.spot)
	case leased:
		p.leased.pushFront(&r.place)
	case closing:
		p.closing.pushFront(&r.place)
	}
}

// openLocked is the number of occupied slots.
func (p *Pool[K, C]) openLocked() int {
	return p.count[dialing] + p.count[idle] + p.count[checking] + p.count[leased] + p.count[closing]
}
