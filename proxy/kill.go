package proxy

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// kill answers KILL in the client's own terms: the ids that clients know are ours, and the same number may be
// another session's connection at the backend.
func (s *Session) kill(sql []byte) error {
	lex := sqlscan.NewLexer(sql, s.state.mode)
	lex.Next() // KILL
	queryOnly := false
	t := lex.Next()
	for ; t.Kind == sqlscan.TokenWord; t = lex.Next() {
		switch {
		case t.Is("query"):
			queryOnly = true
		case t.Is("user"):
			return s.refuse(&wire.ServerError{Code: mysql.ER_NOT_SUPPORTED_YET, State: "42000",
				Message: "conntag does not pass KILL USER on; name a connection id"})
		}
	}
	id, err := strconv.ParseUint(string(t.Text), 10, 32)
	if t.Kind != sqlscan.TokenNumber || err != nil {
		return s.refuse(&wire.ServerError{Code: mysql.ER_PARSE_ERROR, State: "42000",
			Message: "conntag: KILL takes a connection id, as SHOW PROCESSLIST through conntag can't give it: use `conntag show sessions`"})
	}
	return s.killID(uint32(id), queryOnly)
}

// processKill is COM_PROCESS_KILL, the same without words.
func (s *Session) processKill(cmd command) error {
	s.begin(nil)
	s.job = job{nextSeq: cmd.nextSeq, shape: wire.ShapeOK}
	if len(cmd.payload) < 5 {
		return s.refuse(errUnknownCommand)
	}
	return s.killID(binary.LittleEndian.Uint32(cmd.payload[1:]), false)
}

func (s *Session) killID(id uint32, queryOnly bool) error {
	target := s.srv.sessions.get(id)
	if target == nil {
		return s.refuse(&wire.ServerError{Code: mysql.ER_NO_SUCH_THREAD, State: "HY000", Message: fmt.Sprintf("Unknown thread id: %d", id)})
	}
	if user := target.view.user.Load(); user == nil || *user != s.login.user.cfg.Name {
		return s.refuse(&wire.ServerError{Code: mysql.ER_KILL_DENIED_ERROR, State: "HY000", Message: fmt.Sprintf("You are not owner of thread %d", id)})
	}
	if target == s && queryOnly {
		return s.refuse(&wire.ServerError{Code: mysql.ER_QUERY_INTERRUPTED, State: "70100", Message: "Query execution was interrupted"})
	}
	if target != s {
		if err := s.srv.interrupt(target); err != nil {
			return s.refuse(s.acquireError(err))
		}
	}
	if !queryOnly {
		_ = target.client.Close()
	}
	return s.sendOK(s.job.nextSeq)
}

// interrupt kills what the session runs at the backend now.
func (s *Server) interrupt(target *Session) error {
	k := killer{srv: s}
	defer k.close()
	return k.interrupt(target)
}

// busyKilling stands in a session's view while somebody kills its statement.
var busyKilling = new(backendConn)

// leave takes the session's backend connection out of its view, after a kill under way has hit.
func (s *Session) leave(b *backendConn) {
	if s.view.backend.CompareAndSwap(b, nil) {
		return
	}
	s.killed.Lock()
	defer s.killed.Unlock()
	s.view.backend.Store(nil)
}
