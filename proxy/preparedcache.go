package proxy

import (
	"container/list"
	"encoding/binary"

	"github.com/conntag/conntag/proxy/wire"
)

// maxPreparedPerBackend bounds the statements that one backend connection keeps. The server counts them all together
// against max_prepared_stmt_count (16382 by default): of that, a pool takes three quarters at most.
const maxPreparedPerBackend = 200

func preparedPerBackend(serverLimit, poolSize int) int {
	return min(maxPreparedPerBackend, max(1, serverLimit/4*3/poolSize))
}

// backendStmt is a statement as one backend connection knows it.
type backendStmt struct {
	id    uint32
	key   string
	types string // parameter types last sent with an execute; the server keeps them for the next
	place *list.Element
}

// preparedCache is the prepared statements of one backend connection by their key, least recently used last.
type preparedCache struct {
	limit  int
	byKey  map[string]*backendStmt
	recent list.List
}

func (c *preparedCache) get(key string) *backendStmt {
	st := c.byKey[key]
	if st != nil {
		c.recent.MoveToFront(st.place)
	}
	return st
}

// put adds a statement and returns the one that has to go for it: an older twin, or the least recently used.
func (c *preparedCache) put(key string, id uint32) (st, evicted *backendStmt) {
	evicted = c.byKey[key]
	if evicted == nil && len(c.byKey) >= c.limit {
		evicted = c.recent.Back().Value.(*backendStmt)
	}
	if evicted != nil {
		c.remove(evicted)
	}
	if c.byKey == nil {
		c.byKey = map[string]*backendStmt{}
	}
	st = &backendStmt{id: id, key: key}
	st.place = c.recent.PushFront(st)
	c.byKey[key] = st
	return st, evicted
}

func (c *preparedCache) remove(st *backendStmt) {
	c.recent.Remove(st.place)
	delete(c.byKey, st.key)
}

func (c *preparedCache) clear() {
	c.byKey = nil
	c.recent.Init()
}

// keepStmt notes a statement that was just prepared on the connection and closes the one that it replaces. A close
// has no reply; a connection that can't take it fails at its next command.
func (b *backendConn) keepStmt(key string, id uint32) *backendStmt {
	st, evicted := b.stmts.put(key, id)
	if evicted != nil {
		_, _ = b.Write(closeStmt(evicted.id))
	}
	return st
}

func closeStmt(id uint32) []byte {
	return binary.LittleEndian.AppendUint32([]byte{5, 0, 0, 0, byte(wire.ComStmtClose)}, id)
}

// prepareStmt prepares text on a connection that does not know it yet.
func (b *backendConn) prepareStmt(key, text string) (*backendStmt, error) {
	if _, err := b.Write(textCommand(wire.ComStmtPrepare, text)); err != nil {
		return nil, err
	}
	in := replyReader{b: b, buf: make([]byte, 0, 1024)}
	r := b.reply(wire.ShapePrepare, 1)
	if _, err := in.read(&r); err != nil {
		return nil, err
	}
	if in.failure != nil {
		return nil, in.failure
	}
	return b.keepStmt(key, in.stmtID), nil
}
