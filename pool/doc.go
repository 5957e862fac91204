// Package pool shares a bounded set of backend connections between sessions, in arrival order, and keeps the exact
// integral of how long they were leased.
//
// The pool knows no protocol. It is generic over a kind K (connections of one kind are interchangeable: same user,
// same capabilities) and over the connection C; dialing, closing and probing are functions in [Hooks].
//
//	p := pool.New("main", pool.DefaultConfig(), pool.Hooks[Kind, *Backend]{Dial: dial, Close: close, Alive: alive})
//	defer p.Close(ctx)
//
//	lease, ok := p.TryAcquire(kind, meter, lastRef)      // an idle connection, without waiting
//	if !ok {
//		lease, err = p.Acquire(ctx, kind, meter, lastRef) // first come, first served
//	}
//	lease.Conn().Write(command)
//	lastRef = lease.Ref()
//	lease.Release()                                       // or lease.Discard() when in doubt
//
// A lease is used by one goroutine at a time and ends exactly once; a second use panics. The meter is a [Holder]: it
// is told under the pool's lock when its wait and its hold begin and end, with the very clock reading that the pool's
// own integral used. So a ledger that is cut inside [Pool.Cut] equals [Stat.InUseTime] to the nanosecond.
//
// What the pool promises, and how, is in DESIGN.md.
package pool
