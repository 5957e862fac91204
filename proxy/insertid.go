package proxy

import (
	"strconv"
	"sync"
)

// insertID is a session's LAST_INSERT_ID(). The OK packet's id is not it (an explicit id is reported there, too, and
// LAST_INSERT_ID(expr) is not), so the value stays on the backend connection that computed it until somebody else
// wants that connection: only then is it asked for. A session that keeps getting its own connection back never pays.
type insertID struct {
	mu       sync.Mutex
	captured sync.Cond    // signalled when at becomes nil
	value    uint64       // right when at is nil; else the OK packet's id, the best guess if the connection dies
	at       *backendConn // the connection that has the value
	gone     bool         // the session ended: nobody will ask
}

// lastID is the same from a backend connection's side: what LAST_INSERT_ID() gives there.
type lastID struct {
	owner *insertID // the session whose value it is, and who will ask for it; nil: nobody
	value uint64    // when there is no owner
	known bool      // whether value is right
}

func (i *insertID) init() { i.captured.L = &i.mu }

// lives notes that a statement on b may have changed the value; guess is its OK packet's id. The session's value was
// on b before the statement, so what b has now is the session's, whether the statement changed it or not.
func (i *insertID) lives(b *backendConn, guess uint64) {
	if b.lastID.owner == i && guess == 0 {
		return
	}
	i.mu.Lock()
	i.at = b
	if guess != 0 {
		i.value = guess
	}
	i.mu.Unlock()
	b.lastID = lastID{owner: i}
}

// set is a value that is known.
func (i *insertID) set(value uint64) {
	i.mu.Lock()
	i.value, i.at = value, nil
	i.captured.Broadcast()
	i.mu.Unlock()
}

// get waits until whoever took the connection with the value on it has read it off. That is the first thing a
// taker does, and it ends by a deadline.
func (i *insertID) get() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.at != nil {
		i.captured.Wait()
	}
	return i.value
}

func (i *insertID) end() {
	i.mu.Lock()
	i.gone = true
	i.mu.Unlock()
}

// took hands over what was read off b; ok is false when b could not say.
func (i *insertID) took(b *backendConn, value uint64, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.at != b {
		return
	}
	if ok {
		i.value = value
	}
	i.at = nil
	i.captured.Broadcast()
}

func (i *insertID) wanted() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.gone
}

// captureInsertID reads the previous session's LAST_INSERT_ID off the connection before it is used for another.
func (b *backendConn) captureInsertID() error {
	owner := b.lastID.owner
	b.lastID = lastID{}
	if !owner.wanted() {
		return nil
	}
	text, err := b.query(internalTimeout, queryCommand("SELECT LAST_INSERT_ID()"))
	value, parseErr := strconv.ParseUint(text, 10, 64)
	known := err == nil && parseErr == nil
	owner.took(b, value, known)
	b.lastID = lastID{value: value, known: known}
	return err
}

// abandonInsertID is for a connection that can't be asked any more, since it broke or the rest of a reply is on it:
// the owner makes do with the id that was reported last.
func (b *backendConn) abandonInsertID() {
	if owner := b.lastID.owner; owner != nil {
		owner.took(b, 0, false)
	}
	b.lastID = lastID{}
}

// replayInsertID puts the session's value onto a connection on which a statement is about to read or change it.
func (s *Session) replayInsertID(b *backendConn) error {
	if b.lastID.owner == &s.insertID {
		return nil
	}
	value := s.insertID.get()
	if b.lastID.known && b.lastID.value == value {
		return nil
	}
	if err := b.exec(internalTimeout, queryCommand("SET last_insert_id="+strconv.FormatUint(value, 10))); err != nil {
		return err
	}
	b.lastID = lastID{value: value, known: true}
	return nil
}
