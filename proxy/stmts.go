package proxy

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// preparedStmt is a binary prepared statement as its client knows it. The id is ours: on each backend connection the
// same text has an id of that connection's own.
type preparedStmt struct {
	id      uint32
	text    string
	read    reading
	key     string // of the text, read so
	assigns bool   // user variables, which exist on a connection from when it is prepared there
	params  int
	types   string   // parameter types last bound by the client
	long    []uint16 // parameters whose values were sent ahead of the next execute
	account *attribution.Account
	first   sqlscan.Keyword
	flags   sqlscan.Flags
	effects []effect
}

// preparedStatements are a session's statements by its own ids.
type preparedStatements struct {
	byID    map[uint32]*preparedStmt
	last    uint32
	latest  uint32        // prepared last; 0 when that failed
	pending *preparedStmt // being prepared: the job at hand is its COM_STMT_PREPARE
}

func (p *preparedStatements) add(st *preparedStmt) {
	if p.byID == nil {
		p.byID = map[uint32]*preparedStmt{}
	}
	p.last++
	st.id = p.last
	p.byID[st.id] = st
	p.latest = st.id
}

// latestStmt is how MariaDB's clients name the statement that they prepared last, whose id they may not know yet.
const latestStmt = 0xffffffff

// stmtHeader is the command byte and the statement's id, which every COM_STMT_* but PREPARE begins with.
const stmtHeader = 5

// lookup finds the statement that a command names.
func (s *Session) lookup(cmd command, where string) (*preparedStmt, *wire.ServerError) {
	st, e := s.find(cmd, where)
	if e != nil {
		s.failedHere(e)
	}
	return st, e
}

func (s *Session) find(cmd command, where string) (*preparedStmt, *wire.ServerError) {
	if len(cmd.payload) < stmtHeader {
		return nil, errMalformedPacket
	}
	id := binary.LittleEndian.Uint32(cmd.payload[1:])
	named := id
	if id == latestStmt {
		named = s.prepared.latest
	}
	if st := s.prepared.byID[named]; st != nil {
		return st, nil
	}
	return nil, &wire.ServerError{Code: mysql.ER_UNKNOWN_STMT_HANDLER, State: "HY000",
		Message: fmt.Sprintf("Unknown prepared statement handler (%d) given to %s", id, where)}
}

func (s *Session) stmtPrepare(cmd command) error {
	sql := cmd.payload[1:]
	st := sqlscan.Scan(sql, s.state.mode)
	account := s.callerOf(sql, &st)
	if st.Flags&sqlscan.ConnectionID != 0 {
		cmd = s.withOwnID(cmd)
		sql = cmd.payload[1:]
		st = sqlscan.Scan(sql, s.state.mode) // its offsets have moved
	}
	noteMultiTable(&st, sql, s.state.mode)
	stmt := &preparedStmt{text: string(sql), read: s.state.reading(), account: account, first: st.First, flags: st.Flags}
	stmt.assigns = st.Flags&sqlscan.UserVar != 0 && assignsUserVars(&st)
	stmt.key = stmt.read.key(withoutOuterComments(sql, &st))
	if mayTouchState(&st, true) {
		stmt.effects = readEffects(sql, &st, s.state.mode)
	}
	s.begin(stmt.account)
	s.prepared.pending, s.prepared.latest = stmt, 0
	s.job = job{code: wire.ComStmtPrepare, framed: cmd.framed, payload: cmd.payload, nextSeq: cmd.nextSeq, shape: wire.ShapePrepare, first: st.First, flags: st.Flags & manyStatements}
	err := s.exchange()
	s.prepared.pending = nil
	return err
}

// onPrepared gives the client an id of ours in place of the backend's.
func (s *Session) onPrepared(b *backendConn, packet []byte, r *wire.Reply) {
	stmt := s.prepared.pending
	stmt.params = int(r.Params)
	s.prepared.add(stmt)
	b.soiled = b.soiled || stmt.assigns
	b.keepStmt(stmt.key, binary.LittleEndian.Uint32(packet[1:]))
	binary.LittleEndian.PutUint32(packet[1:], stmt.id)
}

func (s *Session) stmtExecute(cmd command) error {
	stmt, e := s.lookup(cmd, "mysqld_stmt_execute")
	if e != nil {
		return s.sendError(cmd.nextSeq, e)
	}
	caller := stmt.account
	if s.login.caps.Has(wire.QueryAttributes) {
		var err error
		if cmd, caller, err = s.classicExecute(cmd, stmt); err != nil {
			return s.sendError(cmd.nextSeq, errMalformedPacket)
		}
	}
	s.begin(caller)
	s.job = job{code: wire.ComStmtExecute, framed: cmd.framed, payload: cmd.payload, nextSeq: cmd.nextSeq, shape: wire.ShapeResults, stmt: stmt,
		first: stmt.first, flags: stmt.flags, effects: stmt.effects}
	if stmt.first == sqlscan.Kill {
		if done, err := s.killPrepared(stmt); done {
			return err
		}
	}
	known, ok, err := s.backendStmt(stmt)
	if !ok {
		return err
	}
	switch {
	case stmt.types != "" || !omitsTypes(cmd, stmt):
		s.job.framed = bindTypes(cmd, stmt, known)
	case !allNull(cmd, stmt): // NULL needs no type
		err := s.refuse(errNoTypes)
		s.rest()
		return err
	case known.types != "": // another session's, by which the server would go
		b := s.lease.Conn()
		b.stmts.remove(known)
		if _, err := b.Write(closeStmt(known.id)); err != nil {
			return s.lost(err, false)
		}
		if known, ok, err = s.backendStmt(stmt); !ok {
			return err
		}
	}
	binary.LittleEndian.PutUint32(s.job.framed[wire.HeaderLen+1:], known.id)
	return s.exchange()
}

// backendStmt makes sure that the session has a lease whose connection knows the statement. When it can't, ok is
// false and the client has its answer.
func (s *Session) backendStmt(stmt *preparedStmt) (known *backendStmt, ok bool, err error) {
	b, err := s.acquire()
	if err != nil {
		return nil, false, s.failAcquire(err)
	}
	text, key := stmt.text, stmt.key
	if s.job.readsLast() {
		if answered, err := s.suit(b); err != nil {
			return nil, false, s.lost(err, false)
		} else if answered {
			return nil, false, nil
		}
		if s.job.rewritten != nil {
			text = string(s.job.rewritten)
			key = stmt.read.key(text)
		}
	}
	if known = b.stmts.get(key); known != nil {
		return known, true, nil
	}
	known, err = s.prepareOn(b, stmt.read, key, text)
	b.soiled = b.soiled || stmt.assigns
	if err == nil {
		return known, true, nil
	}
	if server := asServerError(err); server != nil {
		err = s.refuse(server)
		s.rest()
		return nil, false, err
	}
	return nil, false, s.lost(err, false)
}

// omitsTypes reports whether the execute leaves the parameters' types to an earlier one.
func omitsTypes(cmd command, stmt *preparedStmt) bool {
	flag := stmtHeader + 5 + (stmt.params+7)/8
	return stmt.params > 0 && len(cmd.payload) > flag && cmd.payload[flag] == 0
}

// allNull reports whether every parameter of an execute is NULL.
func allNull(cmd command, stmt *preparedStmt) bool {
	for i := range stmt.params {
		if cmd.payload[stmtHeader+5+i/8]>>(i%8)&1 == 0 {
			return false
		}
	}
	return true
}

// bindTypes returns the execute as this backend connection needs it: a client binds parameter types once and leaves
// them out afterwards, but this connection may not have seen them, or may have seen another session's.
// Layout: dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html.
func bindTypes(cmd command, stmt *preparedStmt, known *backendStmt) []byte {
	flag := stmtHeader + 5 + (stmt.params+7)/8
	if stmt.params == 0 || len(cmd.payload) <= flag {
		return cmd.framed
	}
	rest := cmd.payload[flag+1:]
	switch {
	case cmd.payload[flag] != 0 && len(rest) >= 2*stmt.params:
		if types := rest[:2*stmt.params]; stmt.types != string(types) {
			stmt.types = string(types)
		}
	case cmd.payload[flag] == 0 && known.types != stmt.types:
		payload := make([]byte, 0, len(cmd.payload)+len(stmt.types))
		payload = append(append(payload, cmd.payload[:flag]...), 1)
		payload = append(append(payload, stmt.types...), rest...)
		known.types = stmt.types
		framed, _ := wire.AppendPacket(make([]byte, 0, len(payload)+64), 0, payload)
		return framed
	}
	known.types = stmt.types
	return cmd.framed
}

// settleStmt keeps the pins of cursors and long data after an execute or a fetch.
func (s *Session) settleStmt(stmt *preparedStmt, out outcome) {
	s.state.usedLongData(stmt.id)
	stmt.long = stmt.long[:0]
	open := out.code == 0 && out.status&wire.StatusCursorExists != 0 && out.status&wire.StatusLastRowSent == 0
	if open {
		s.state.openCursor(stmt.id)
	} else {
		s.state.closeCursor(stmt.id)
	}
}

// stmtOnLease answers for commands that only make sense where the statement ran last: it says which statement of
// the lease's connection is meant, if there is one.
func (s *Session) stmtOnLease(stmt *preparedStmt) *backendStmt {
	if !s.lease.Valid() {
		return nil
	}
	return s.lease.Conn().stmts.get(stmt.key)
}

func (s *Session) stmtFetch(cmd command) error {
	stmt, e := s.lookup(cmd, "mysqld_stmt_fetch")
	if e != nil {
		return s.sendError(cmd.nextSeq, e)
	}
	known := s.stmtOnLease(stmt)
	if _, open := s.state.held.cursors[stmt.id]; !open || known == nil {
		e := &wire.ServerError{Code: mysql.ER_STMT_HAS_NO_OPEN_CURSOR, State: "HY000", Message: fmt.Sprintf("The statement (%d) has no open cursor", stmt.id)}
		s.failedHere(e)
		return s.sendError(cmd.nextSeq, e)
	}
	s.begin(stmt.account)
	s.job = job{code: wire.ComStmtFetch, framed: cmd.framed, nextSeq: cmd.nextSeq, shape: wire.ShapeRows, stmt: stmt}
	binary.LittleEndian.PutUint32(cmd.framed[wire.HeaderLen+1:], known.id)
	return s.exchange()
}

func (s *Session) stmtReset(cmd command) error {
	stmt, e := s.lookup(cmd, "mysqld_stmt_reset")
	if e != nil {
		return s.sendError(cmd.nextSeq, e)
	}
	known := s.stmtOnLease(stmt)
	if known == nil {
		return s.sendOK(cmd.nextSeq)
	}
	s.begin(nil)
	s.job = job{code: wire.ComStmtReset, framed: cmd.framed, nextSeq: cmd.nextSeq, shape: wire.ShapeOK, stmt: stmt}
	binary.LittleEndian.PutUint32(cmd.framed[wire.HeaderLen+1:], known.id)
	return s.exchange()
}

// stmtClose has no reply. The backend keeps its statement for others with the same text, unless this session left a
// cursor or half-sent data in it.
func (s *Session) stmtClose(cmd command) error {
	stmt, e := s.find(cmd, "mysqld_stmt_close")
	if e != nil {
		return nil
	}
	delete(s.prepared.byID, stmt.id)
	_, cursor := s.state.held.cursors[stmt.id]
	_, data := s.state.held.longData[stmt.id]
	if !cursor && !data {
		return nil
	}
	if known := s.stmtOnLease(stmt); known != nil {
		b := s.lease.Conn()
		b.stmts.remove(known)
		if _, err := b.Write(closeStmt(known.id)); err != nil {
			return s.lost(err, true)
		}
	}
	s.state.closeCursor(stmt.id)
	s.state.usedLongData(stmt.id)
	s.notePins()
	s.rest()
	return nil
}

// stmtSendLongData has no reply either; errors show at the execute, as they do on a server.
func (s *Session) stmtSendLongData(cmd command) error {
	stmt, e := s.find(cmd, "mysqld_stmt_send_long_data")
	if e != nil {
		return nil
	}
	s.begin(stmt.account)
	s.job = job{shape: wire.ShapeNone}
	known, ok, err := s.backendStmt(stmt)
	if !ok {
		return err
	}
	binary.LittleEndian.PutUint32(cmd.framed[wire.HeaderLen+1:], known.id)
	s.state.sentLongData(stmt.id)
	if p := cmd.payload[stmtHeader:]; len(p) >= 2 {
		if param := binary.LittleEndian.Uint16(p); !slices.Contains(stmt.long, param) {
			stmt.long = append(stmt.long, param)
		}
	}
	s.notePins()
	if _, err := s.lease.Conn().Write(cmd.framed); err != nil {
		return s.lost(err, false)
	}
	s.rest()
	return nil
}
