package proxy

import "sync"

// backendIDs are the server's connection ids of the backend connections that are open.
type backendIDs struct {
	mu   sync.Mutex
	open map[uint32]struct{}
}

func (i *backendIDs) add(id uint32) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.open == nil {
		i.open = map[uint32]struct{}{}
	}
	i.open[id] = struct{}{}
}

func (i *backendIDs) remove(id uint32) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.open, id)
}

func (i *backendIDs) has(id uint32) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, ok := i.open[id]
	return ok
}
