package proxy

import (
	"encoding/binary"
	"fmt"
	"net"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// errKilled is MariaDB's own ER_CONNECTION_KILLED.
var errKilled = &wire.ServerError{Code: 1927, State: "70100", Message: "Connection was killed"}

// killOrder is what a KILL names.
type killOrder struct {
	kind      killKind
	id        uint32
	queryOnly bool
}

type killKind byte

const (
	killConnection killKind = iota // by id
	killForServer                  // what only the server knows: a query id, a number that is no id, nothing at all
	killUser
	killComputed // an expression
)

// readKill reads KILL [HARD | SOFT] [CONNECTION | QUERY [ID]] id and KILL USER name; own is CONNECTION_ID().
func readKill(sql []byte, mode sqlscan.Mode, own uint32) (o killOrder) {
	lex := sqlscan.NewLexer(sql, mode)
	lex.Next() // KILL
	t := lex.Next()
	for ; t.Is("hard") || t.Is("soft") || t.Is("connection") || t.Is("query"); t = lex.Next() {
		o.queryOnly = o.queryOnly || t.Is("query")
	}
	switch k, _ := calledAt(t, lex); {
	case k == knownConnectionID:
		o.id = own
		lex.Next()
		lex.Next()
	case t.Is("user"):
		return killOrder{kind: killUser}
	case t.Kind == sqlscan.TokenEnd, t.Is("id"):
		return killOrder{kind: killForServer}
	case t.Kind == sqlscan.TokenNumber:
		id, err := strconv.ParseUint(string(t.Text), 10, 32)
		if err != nil {
			o.kind = killForServer
		}
		o.id = uint32(id)
	default:
		o.kind = killComputed
	}
	if end := lex.Next(); end.Kind != sqlscan.TokenEnd && !isPunct(end, ';') {
		o.kind = killComputed
	}
	return o
}

// kill answers KILL in the client's own terms, when it names a connection of ours. Else it is not done: the job at hand
// goes to the server, whose rights and errors apply.
func (s *Session) kill(sql []byte) (done bool, err error) {
	switch o := readKill(sql, s.state.mode, s.id); o.kind {
	case killConnection:
		return s.killID(o.id, o.queryOnly)
	case killUser:
		return true, s.refuse(&wire.ServerError{Code: mysql.ER_NOT_SUPPORTED_YET, State: "42000",
			Message: "conntag does not pass KILL USER on; name a connection id"})
	case killComputed:
		return true, s.refuse(&wire.ServerError{Code: mysql.ER_NOT_SUPPORTED_YET, State: "42000",
			Message: "conntag: KILL takes a connection id as a number, or CONNECTION_ID()"})
	case killForServer:
	}
	return false, nil
}

// killPrepared is the execution of a prepared KILL, whose id must stand in its text.
func (s *Session) killPrepared(stmt *preparedStmt) (done bool, err error) {
	if stmt.params > 0 {
		return true, s.refuse(errKillAlone)
	}
	return s.kill([]byte(stmt.text))
}

// processKill is COM_PROCESS_KILL, the same without words.
func (s *Session) processKill(cmd command) error {
	s.begin(nil)
	s.job = job{code: wire.ComProcessKill, framed: cmd.framed, payload: cmd.payload, nextSeq: cmd.nextSeq, shape: wire.ShapeOK}
	if len(cmd.payload) < 5 {
		return s.refuse(errUnknownCommand)
	}
	if done, err := s.killID(binary.LittleEndian.Uint32(cmd.payload[1:]), false); done {
		return err
	}
	return s.exchange()
}

// killID kills a session by its id, or by that of the backend connection that it has now. An idle backend connection is
// nobody's, so to clients there is none.
func (s *Session) killID(id uint32, queryOnly bool) (done bool, err error) {
	target := s.srv.sessions.get(id)
	if target == nil {
		target = s.srv.sessions.holder(id)
	}
	if target == nil && id < firstSessionID && !s.srv.backend.ids.has(id) {
		return false, nil
	}
	if target == nil || target.view.user.Load() == nil {
		return true, s.refuse(&wire.ServerError{Code: mysql.ER_NO_SUCH_THREAD, State: "HY000", Message: fmt.Sprintf("Unknown thread id: %d", id)})
	}
	if *target.view.user.Load() != s.login.user.cfg.Name {
		return true, s.refuse(&wire.ServerError{Code: mysql.ER_KILL_DENIED_ERROR, State: "HY000", Message: fmt.Sprintf("You are not owner of thread %d", id)})
	}
	if target == s {
		return true, s.killSelf(queryOnly)
	}
	if err := s.srv.interrupt(target); err != nil {
		return true, s.refuse(s.acquireError(err))
	}
	if !queryOnly {
		_ = target.client.Close()
	}
	return true, s.sendOK(s.job.nextSeq)
}

// killSelf ends the KILL itself, which is what the session runs now.
func (s *Session) killSelf(queryOnly bool) error {
	if queryOnly {
		return s.refuse(&wire.ServerError{Code: mysql.ER_QUERY_INTERRUPTED, State: "70100", Message: "Query execution was interrupted"})
	}
	if err := s.refuse(errKilled); err != nil {
		return err
	}
	return clientError(net.ErrClosed)
}

// interrupt kills what the session runs at the backend now.
func (s *Server) interrupt(target *Session) error {
	k := killer{srv: s}
	defer k.close()
	return k.interrupt(target)
}

// backend is the backend connection that the session has, also while its statement is being killed; nil: none.
func (s *Session) backend() *backendConn {
	s.killed.Lock()
	defer s.killed.Unlock()
	return s.view.backend.Load()
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
