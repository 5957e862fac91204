package proxy

import (
	"slices"
	"sync"
	"time"
)

// sessionTable is the sessions that are alive, and the id that the next one gets.
type sessionTable struct {
	mu     sync.Mutex
	byID   map[uint32]*Session
	last   uint32
	closed bool
	empty  chan struct{} // closed when the table is, and no session is left
}

// add gives a session its id; false when the table takes no more.
func (t *sessionTable) add(s *Session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	for t.last = max(t.last+1, firstSessionID); t.byID[t.last] != nil; t.last = max(t.last+1, firstSessionID) { // ids come round
	}
	s.id = t.last
	t.byID[s.id] = s
	return true
}

func (t *sessionTable) remove(s *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, s.id)
	if t.closed && len(t.byID) == 0 {
		close(t.empty)
	}
}

func (t *sessionTable) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byID)
}

func (t *sessionTable) get(id uint32) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// holder finds the session that has the backend connection with the server's id now.
func (t *sessionTable) holder(id uint32) *Session {
	for _, s := range t.all() {
		if b := s.backend(); b != nil && b.id == id {
			return s
		}
	}
	return nil
}

func (t *sessionTable) all() []*Session { return t.appendAll(nil) }

func (t *sessionTable) appendAll(list []*Session) []*Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	list = slices.Grow(list, len(t.byID))
	for _, s := range t.byID {
		list = append(list, s)
	}
	return list
}

// drain closes the table and wakes the sessions that wait for their client; the channel is closed when all are gone.
func (t *sessionTable) drain() <-chan struct{} {
	t.mu.Lock()
	first := !t.closed
	if first {
		t.closed, t.empty = true, make(chan struct{})
		if len(t.byID) == 0 {
			close(t.empty)
		}
	}
	t.mu.Unlock()
	for _, s := range t.all() {
		_ = s.client.SetReadDeadline(time.Unix(1, 0))
	}
	return t.empty
}

// cut closes what is left.
func (t *sessionTable) cut() {
	for _, s := range t.all() {
		_ = s.client.Close()
		if b := s.view.backend.Load(); b != nil && b != busyKilling {
			_ = b.Close()
		}
	}
}
