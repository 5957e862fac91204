package proxy

import (
	"strconv"
)

// capture reads off the connection what its last session left and has not asked for, before another session uses it. It
// is one round trip, and none at all after most statements.
func (b *backendConn) capture() error {
	owner, owes := b.owner, b.owes
	b.owner, b.owes, b.intact = nil, 0, false
	if owner == nil || owes == 0 || !owner.wanted() {
		return nil
	}
	var commands [][]byte
	if owes&leftDiagnostics.set() != 0 {
		commands = append(commands, queryCommand("SHOW WARNINGS LIMIT 65535"))
	}
	numbers := owes & (leftInsertID.set() | leftFoundRows.set())
	if numbers != 0 {
		commands = append(commands, queryCommand("SELECT LAST_INSERT_ID(),FOUND_ROWS() LIMIT 1"))
	}
	names := b.settings.unresolved()
	if owes&leftVariables.set() != 0 {
		commands = append(commands, queryCommand(selectUserVars(names)))
	}
	answers, err := b.ask(internalTimeout, commands...)
	if err != nil {
		b.failed(owner)
		return err
	}
	var conditions []condition
	if owes&leftDiagnostics.set() != 0 {
		conditions = answers[0].conditions()
		answers = answers[1:]
	}
	if numbers != 0 {
		b.insertID, _ = strconv.ParseUint(answers[0].text(0), 10, 64)
		b.insertIDKnown = true
	}
	owner.took(b, func(l leftover) {
		switch l {
		case leftInsertID:
			owner.insertID = b.insertID
		case leftFoundRows:
			owner.foundRows, _ = strconv.ParseUint(answers[0].text(1), 10, 64)
		case leftDiagnostics:
			owner.diagnostics = conditions
		case leftVariables:
			b.settings = b.settings.resolve(names, &answers[len(answers)-1])
			owner.variables = b.settings
		}
	})
	return nil
}

// failed is for a connection that can't be asked any more, since it broke or the rest of a reply is on it: the owner
// makes do with what was reported last. User variables are lost.
func (b *backendConn) failed(owner *residue) {
	owner.took(b, func(l leftover) { owner.lost = owner.lost || l == leftVariables })
}

// abandonTrace gives up what is on a connection that can't be asked any more.
func (b *backendConn) abandonTrace() {
	if b.owner != nil {
		b.failed(b.owner)
	}
	b.trace = trace{}
}

// captureOwn reads what the session itself left off its own lease, before the proxy's own statements overwrite it there.
func (s *Session) captureOwn(b *backendConn) error {
	if err := b.capture(); err != nil {
		return err
	}
	return s.adoptVariables(b)
}

// adoptVariables takes over the values of user variables that were read off the connection that had them.
func (s *Session) adoptVariables(b *backendConn) error {
	if s.residue.owed&leftVariables.set() == 0 || b.has(s.residue, leftVariables) {
		return nil
	}
	s.residue.await(leftVariables)
	if s.residue.lost {
		return errVariablesLost
	}
	s.state.settings = s.residue.variables
	return nil
}

// replayInsertID puts the session's LAST_INSERT_ID() onto a connection on which a statement is about to read or change it.
func (s *Session) replayInsertID(b *backendConn) error {
	if b.has(s.residue, leftInsertID) {
		return nil
	}
	s.residue.await(leftInsertID)
	value := s.residue.insertID
	if b.insertIDKnown && b.insertID == value {
		return nil
	}
	b.intact = false
	if err := b.exec(internalTimeout, queryCommand("SET last_insert_id="+strconv.FormatUint(value, 10))); err != nil {
		return err
	}
	b.insertID, b.insertIDKnown = value, true
	return nil
}
