package proxy

import (
	"slices"

	"github.com/conntag/conntag/internal/sqlscan"
)

// foresee prepares the connection for a statement whose effects can't be told afterwards without it. Few statements are.
func (s *Session) foresee(b *backendConn) error {
	j := &s.job
	for i := range j.effects {
		switch e := &j.effects[i]; {
		case e.kind == effectExecuteVariable:
			if err := s.readVariableText(b, i); err != nil {
				return err
			}
		case e.kind == effectNextTrx && !b.tellsNext:
			b.intact = false
			if err := b.exec(internalTimeout, queryCommand(tellNext)); err != nil {
				return err
			}
			b.tellsNext = true
		case e.kind == effectRole && b.role.login == "":
			if err := s.beforeQuestions(b); err != nil {
				return err
			}
			name, err := b.currentRole()
			if err != nil {
				return err
			}
			b.role.login = name
		}
	}
	if j.flags&sqlscan.Trackers != 0 {
		b.intact = false
		return b.exec(internalTimeout, queryCommand(s.chosenTrackers().set()))
	}
	return nil
}

// tellNext makes the server report with what the next transaction will begin: no answer and no status says when a one-shot
// SET TRANSACTION is used up. Statements without tables don't use it up, and neither do those that fail.
const tellNext = "SET SESSION session_track_transaction_info=CHARACTERISTICS"

// readVariableText puts the effects of the text in a user variable in the place of the EXECUTE IMMEDIATE that will run it.
func (s *Session) readVariableText(b *backendConn, at int) error {
	j := &s.job
	text := unknownText
	if err := s.beforeQuestions(b); err != nil {
		return err
	}
	value, err := b.query(internalTimeout, queryCommand("SELECT @"+quoteName(j.effects[at].name)+" LIMIT 1"))
	if asServerError(err) == nil && err != nil {
		return err
	}
	if j.flags&sqlscan.MultiStatement == 0 && value != "" { // else the variable may be set before it is run
		text = readText([]byte(value), s.state.mode)
	}
	e := effect{kind: effectExecute, text: text, whether: j.effects[at].whether}
	j.effects = slices.Replace(slices.Clone(j.effects), at, at+1, executed(e, &j.flags)...)
	if slices.ContainsFunc(j.effects, func(e effect) bool { return e.kind == effectKill }) {
		return errKillAlone
	}
	return nil
}
