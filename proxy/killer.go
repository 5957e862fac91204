package proxy

import "strconv"

// killer kills statements over a connection of its own, which it keeps from one to the next: clients that die do so in
// crowds. The zero value with srv set is ready.
type killer struct {
	srv *Server
	own *backendConn // nil before the first
	as  kind
}

// interrupt kills what the session runs at the backend now. The session can't give its connection back meanwhile, so
// that the blow never falls on the next one's statement.
func (k *killer) interrupt(target *Session) error {
	target.killed.Lock()
	defer target.killed.Unlock()
	b := target.view.backend.Load()
	if b == nil || !target.view.backend.CompareAndSwap(b, busyKilling) {
		return nil
	}
	defer target.view.backend.Store(b)
	return k.kill(b.id, target.login.kind)
}

// kill is for the server's own connection ids; as is a login that may kill them.
func (k *killer) kill(id uint32, as kind) error {
	if k.own != nil && k.as != as {
		k.close()
	}
	if k.own == nil {
		own, err := k.srv.dial(k.srv.ctx, as)
		if err != nil {
			return err
		}
		k.own, k.as = own, as
	}
	err := k.own.exec(internalTimeout, queryCommand("KILL QUERY "+strconv.FormatUint(uint64(id), 10)))
	if err != nil && asServerError(err) == nil {
		k.close()
	}
	return err
}

func (k *killer) close() {
	if k.own != nil {
		k.own.close()
		k.own = nil
	}
}
