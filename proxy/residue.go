package proxy

import (
	"sync"
	"time"
)

// leftover is one thing that a statement leaves on its connection for the session's next statements to read, and that no
// reply tells: what LAST_INSERT_ID() gives is not the OK packet's id (an explicit id is reported there, too, and
// LAST_INSERT_ID(expr) is not).
type leftover uint8

const (
	leftInsertID    leftover = iota // LAST_INSERT_ID()
	leftFoundRows                   // FOUND_ROWS(), where it is not the number of rows sent
	leftDiagnostics                 // SHOW WARNINGS and its like
	leftVariables                   // values of user variables
	numLeftovers
)

// leftovers is a set of them.
type leftovers uint8

func (l leftover) set() leftovers { return 1 << l }

// residue is what a session's last statements left. A leftover stays on the backend connection that has it until somebody
// else wants that connection: only then is it read off. A session that keeps getting its own connection back never pays.
type residue struct {
	rowCount int64     // ROW_COUNT(): every reply tells it
	aside    bool      // it is of a command that no connection has seen
	owed     leftovers // the session's own view of at: what is not set here is known, and nobody else writes it

	mu          sync.Mutex
	captured    sync.Cond // signalled when something in at becomes nil
	at          [numLeftovers]*backendConn
	insertID    uint64 // while at has a connection: the OK packet's id, the best guess if that connection dies
	foundRows   uint64
	diagnostics []condition
	variables   *settings // the session's settings with the values of user variables
	lost        bool      // user variables died with their connection
	gone        bool      // the session ended, or reset itself: nobody will ask
}

// condition is one line of SHOW WARNINGS.
type condition struct {
	level, message string
	code           uint16
}

func newResidue() *residue {
	r := &residue{foundRows: 1} // as a server has it
	r.captured.L = &r.mu
	return r
}

// counted notes ROW_COUNT() after a command that the proxy answered itself.
func (r *residue) counted(n int64) { r.rowCount, r.aside = n, true }

// trace is the same from a backend connection's side.
type trace struct {
	owner *residue // whose last statement ran here; nil: nobody's who would ask
	owes  leftovers
	// intact is set while what the owner's last statement left is as it left it: the proxy's own statements change ROW_COUNT().
	intact bool
	// warned is set when a statement may have left conditions here, of whichever session.
	warned bool
	// insertID is what LAST_INSERT_ID() gives here, if known.
	insertID      uint64
	insertIDKnown bool
}

// ran notes that r's session ran a command on the connection; anew is set when ROW_COUNT() is of that command.
func (t *trace) ran(r *residue, anew bool) {
	t.intact = anew || t.intact && t.owner == r
	if t.owner != r {
		t.owner, t.owes = r, 0
	}
}

// has reports whether r's leftover is here and only here; r's own session asks.
func (t *trace) has(r *residue, l leftover) bool {
	return t.owner == r && t.owes&l.set() != 0 && r.owed&l.set() != 0
}

// stays notes that a leftover is on b, and only there.
func (r *residue) stays(b *backendConn, l leftover) {
	if b.has(r, l) {
		return
	}
	b.ran(r, false)
	r.mu.Lock()
	r.at[l] = b
	r.mu.Unlock()
	r.owed |= l.set()
	b.trace.owes |= l.set()
}

// insertIDStays notes that a statement on b may have changed LAST_INSERT_ID(); guess is its OK packet's id. The session's
// value was on b before the statement, so what b has now is the session's, whether the statement changed it or not.
func (r *residue) insertIDStays(b *backendConn, guess uint64) {
	r.stays(b, leftInsertID)
	if guess != 0 {
		r.mu.Lock()
		r.insertID = guess
		r.mu.Unlock()
	}
	b.trace.insertIDKnown = false
}

// known notes that the session knows the value itself from now on; the caller sets it afterwards. b may be nil.
func (r *residue) known(b *backendConn, l leftover) {
	if r.owed&l.set() != 0 {
		r.mu.Lock()
		r.at[l] = nil
		r.mu.Unlock()
		r.owed &^= l.set()
	}
	if b != nil && b.owner == r {
		b.trace.owes &^= l.set()
	}
}

// await returns when the leftover's value is known: whoever took the connection with it reads it off first thing.
// It is not to be called while the value is on the session's own lease.
func (r *residue) await(l leftover) {
	if r.owed&l.set() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[l] != nil {
		deadline := time.AfterFunc(internalTimeout, func() { r.fail(l) })
		defer deadline.Stop()
	}
	for r.at[l] != nil {
		r.captured.Wait()
	}
	r.owed &^= l.set()
}

// fail gives a leftover up.
func (r *residue) fail(l leftover) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[l] != nil {
		r.at[l] = nil
		r.lost = r.lost || l == leftVariables
		r.captured.Broadcast()
	}
}

// took hands over what was read off b: take is called, under the lock, for each leftover that the session still has there.
func (r *residue) took(b *backendConn, take func(leftover)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range numLeftovers {
		if r.at[l] == b {
			take(l)
			r.at[l] = nil
		}
	}
	r.captured.Broadcast()
}

func (r *residue) end() {
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
}

func (r *residue) wanted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.gone
}
