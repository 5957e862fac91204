package proxy

import (
	"errors"
	"slices"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// dispatch does one command. What it returns ends the session; everything else the client has been told.
func (s *Session) dispatch(cmd command) error {
	switch cmd.code() {
	case wire.ComQuery:
		return s.query(cmd)
	case wire.ComStmtPrepare:
		return s.stmtPrepare(cmd)
	case wire.ComStmtExecute:
		return s.stmtExecute(cmd)
	case wire.ComStmtFetch:
		return s.stmtFetch(cmd)
	case wire.ComStmtReset:
		return s.stmtReset(cmd)
	case wire.ComStmtClose:
		return s.stmtClose(cmd)
	case wire.ComStmtSendLongData:
		return s.stmtSendLongData(cmd)
	case wire.ComPing:
		if !s.lease.Valid() { // held, the backend must answer: its health is what the client asks for
			s.residue.counted(0)
			return s.sendOK(cmd.nextSeq)
		}
		return s.pass(cmd)
	case wire.ComInitDB:
		return s.pass(cmd, effect{kind: effectOwnState})
	case wire.ComResetConnection:
		return s.resetConnection(cmd)
	case wire.ComChangeUser:
		return s.changeUser(cmd)
	case wire.ComSetOption:
		return s.setOption(cmd)
	case wire.ComProcessKill:
		return s.processKill(cmd)
	case wire.ComProcessInfo:
		return s.processInfo(cmd)
	case wire.ComFieldList, wire.ComStatistics, wire.ComCreateDB, wire.ComDropDB, wire.ComRefresh, wire.ComDebug:
		return s.pass(cmd)
	}
	return s.sendError(cmd.nextSeq, errUnknownCommand)
}

// query is COM_QUERY: the path of nearly every statement.
func (s *Session) query(cmd command) error {
	text, attrs := 1, wire.Attributes{}
	if s.login.caps.Has(wire.QueryAttributes) {
		var err error
		if text, attrs, err = wire.TakeQueryAttributes(cmd.payload); err != nil {
			return s.sendError(cmd.nextSeq, errMalformedPacket)
		}
	}
	sql := cmd.payload[text:]
	st := sqlscan.Scan(sql, s.state.mode)
	caller := s.callerOf(sql, &st)
	if caller == nil {
		caller = s.srv.attributed(&attrs)
	}
	s.begin(caller)
	if text > 1 {
		cmd = withoutAttributes(cmd, text)
		sql = cmd.payload[1:]
	}
	if st.Flags&sqlscan.ConnectionID != 0 && st.First != sqlscan.Kill {
		cmd = s.withOwnID(cmd)
		sql = cmd.payload[1:]
		st = sqlscan.Scan(sql, s.state.mode) // its offsets have moved
	}
	noteMultiTable(&st, sql, s.state.mode)
	s.job = job{code: wire.ComQuery, framed: cmd.framed, payload: cmd.payload, nextSeq: cmd.nextSeq, shape: wire.ShapeResults, first: st.First, flags: st.Flags}
	if st.First == sqlscan.Set && s.isSetAlready(sql, &st) {
		s.residue.counted(0)
		return s.sendOK(cmd.nextSeq)
	}
	if mayTouchState(&st, s.state.pins != 0) && (s.state.multi || st.First != sqlscan.Create || !createsRoutine(sql, s.state.mode)) {
		s.job.effects = readEffects(sql, &st, s.state.mode)
		if slices.ContainsFunc(s.job.effects, runsText) {
			s.job.effects = s.state.expand(s.job.effects, &s.job.flags)
		}
	}
	switch {
	case st.First == sqlscan.Kill && st.Flags&sqlscan.MultiStatement == 0:
		if done, err := s.kill(sql); done {
			return err
		}
	case st.First == sqlscan.Show:
		s.job.processList = isProcessList(sql, s.state.mode)
	case slices.ContainsFunc(s.job.effects, func(e effect) bool { return e.kind == effectKill }):
		return s.refuse(errKillAlone)
	}
	return s.exchange()
}

// pass sends a command through as it is.
func (s *Session) pass(cmd command, effects ...effect) error {
	s.begin(nil)
	s.job = job{code: cmd.code(), framed: cmd.framed, payload: cmd.payload, nextSeq: cmd.nextSeq, shape: cmd.code().Shape(), effects: effects}
	return s.exchange()
}

// callerOf is the account of the caller that the statement's tag names; nil when there is none.
func (s *Session) callerOf(sql []byte, st *sqlscan.Statement) *attribution.Account {
	comments := st.Comments()
	if len(comments) == 0 {
		return nil
	}
	return s.srv.tagged(sql, comments)
}

// begin counts a statement and tells the meter whose it is; nil inherits.
func (s *Session) begin(a *attribution.Account) {
	s.view.statements.Add(1)
	s.meter.Statement(a, s.srv.now())
}

// refuse answers the job at hand with a server's error and counts it.
func (s *Session) refuse(e *wire.ServerError) error {
	s.meter.Error(attribution.ClassOf(e.Code))
	s.failedHere(e)
	if s.job.shape == wire.ShapeNone {
		return nil
	}
	return s.sendError(s.job.nextSeq, e)
}

func asServerError(err error) *wire.ServerError {
	var e *wire.ServerError
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// resetConnection is COM_RESET_CONNECTION: the session is as after its login, but keeps its current schema. Without
// a lease nothing of it is on any backend connection, and the server need not hear of it.
func (s *Session) resetConnection(cmd command) error {
	s.begin(nil)
	if s.lease.Valid() {
		s.returnLease()
	}
	role := s.state.role // the server leaves it as it is
	s.clear()
	s.state.role = role
	return s.sendOK(cmd.nextSeq)
}

// clear puts the session's own state back to what the login made it.
func (s *Session) clear() {
	s.state = state{schema: s.state.schema, settings: s.login.settings, status: wire.StatusAutocommit,
		multi: s.login.caps.Has(wire.MultiStatements)}
	s.state.mode = s.srv.modeOf(s.state.settings)
	if v, _ := s.state.settings.get("autocommit"); v == "OFF" {
		s.state.status = 0
	}
	if s.state.mode&sqlscan.NoBackslashEscapes != 0 {
		s.state.status |= wire.StatusNoBackslashEscapes
	}
	s.prepared = preparedStatements{last: s.prepared.last}
	fresh := newResidue()
	if s.residue.owed&leftFoundRows.set() == 0 { // a reset leaves it alone
		fresh.foundRows = s.residue.foundRows
	}
	s.residue.end()
	s.residue = fresh
	s.notePins()
	s.setWaitTimeout()
}

// setOption is COM_SET_OPTION: it allows or forbids several statements in one text. It is session state like any
// other, and the next backend connection hears of it when it matters.
func (s *Session) setOption(cmd command) error {
	if len(cmd.payload) < 3 || cmd.payload[1] > 1 || cmd.payload[2] != 0 {
		return s.sendError(cmd.nextSeq, errUnknownCommand)
	}
	s.begin(nil)
	s.state.multi = cmd.payload[1] == 0
	s.residue.counted(-1)
	s.rest()
	return s.client.send(cmd.nextSeq, s.appendEnd(nil))
}
