package pool

// Lease is a session's temporary right to one connection. It is a small value to be copied freely; the zero Lease is
// no lease. It ends once, with Release or Discard; whatever is done with it afterwards panics.
type Lease[K comparable, C any] struct {
	record *record[K, C]
	use    uint64
}

// Ref names a connection as it was at the end of one lease. It is comparable, keeps nothing open, and outlives the
// lease: give it to the next acquire to get the same connection back when it is still idle. The zero Ref names none.
type Ref struct {
	record any
	use    uint64
}

// Valid reports whether l is a lease that has not ended.
func (l Lease[K, C]) Valid() bool { return l.record != nil && l.record.uses.Load() == l.use }

// Conn returns the leased connection.
func (l Lease[K, C]) Conn() C { return l.live().conn }

// Kind returns the kind of the leased connection.
func (l Lease[K, C]) Kind() K { return l.live().shelf.kind }

// SetKind says that the leaseholder has made the connection one of kind k (another user, say). It counts from the
// moment of release.
func (l Lease[K, C]) SetKind(k K) {
	r := l.live()
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	old := r.shelf
	r.shelf = p.shelfLocked(k)
	r.shelf.records++
	old.records--
	p.dropShelfLocked(old)
}

// Ref returns the handle to prefer this connection by, in a later acquire.
func (l Lease[K, C]) Ref() Ref { return Ref{record: l.live(), use: l.use} }

// Untouched reports whether l is the same connection as ref, and no other lease has had it in between: what ref's
// lease left behind in the backend session is still there.
func (l Lease[K, C]) Untouched(ref Ref) bool {
	return ref.record == any(l.live()) && (ref.use == l.use || ref.use+2 == l.use)
}

// Release returns the connection for reuse: to the first waiter it can serve, under the same lock, else to the idle
// ones. A connection past its lifetime is closed.
func (l Lease[K, C]) Release() {
	p := l.returnLocked()
	p.placeLocked(l.record)
	p.mu.Unlock()
}

// Discard returns the connection to be closed; the slot goes to a dial for the first waiter that needs one. It does
// not wait for the close.
func (l Lease[K, C]) Discard() {
	p := l.returnLocked()
	p.retireLocked(l.record, CloseDiscarded)
	p.mu.Unlock()
}

func (l Lease[K, C]) live() *record[K, C] {
	if !l.Valid() {
		panic("pool: use of a lease that has ended")
	}
	return l.record
}

// returnLocked ends the hold and returns the pool, locked. The record is still in the leased state: the caller moves it
// on before it unlocks.
func (l Lease[K, C]) returnLocked() *Pool[K, C] {
	r := l.live()
	p := r.pool
	p.mu.Lock()
	if !l.Valid() {
		p.mu.Unlock()
		panic("pool: lease ended twice at the same time")
	}
	p.settleLocked()
	r.uses.Add(1)
	h := r.holder
	r.holder = nil
	h.Returned(p.stat.Now)
	return p
}
