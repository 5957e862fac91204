package proxy

import (
	"strconv"
	"strings"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// hearOut fetches what the trackers did not say in the reply itself: details behind an EOF's bare flag come with a later OK,
// and so does it that SET STATEMENT's variables are back.
func (s *Session) hearOut(b *backendConn, r *reply) error {
	if r.explained {
		return nil
	}
	late := r.late
	for i := range s.job.effects {
		late = late || s.job.effects[i].kind == effectLate
	}
	if !late || s.job.flags&sqlscan.Trackers != 0 {
		return nil
	}
	_, err := s.fetchLate(b, r)
	return err
}

// fetchLate fetches it, and returns what there was.
func (s *Session) fetchLate(b *backendConn, r *reply) (state []byte, err error) {
	if state, err = b.pendingState(); err != nil {
		return nil, err
	}
	r.explained = true
	s.track(b, state, &r.unexplained)
	// What the flag stood for may have been "state changed", which does not come late.
	r.unexplained = r.unexplained || r.late && !tellsOfTransactions(state)
	return state, nil
}

// tellsOfTransactions reports whether there are entries about transactions: they explain an EOF's flag.
func tellsOfTransactions(state []byte) bool {
	for t := wire.NewTracks(state); ; {
		e, ok := t.Next()
		if !ok {
			return false
		}
		if e.Kind == wire.TrackTransaction || e.Kind == wire.TrackTransactionFlag {
			return true
		}
	}
}

// question is asked of the server after a command, and the answer taken over; the answer to a nil take is of no interest.
type question struct {
	sql  string
	take func(textResult)
}

// inquiry is what is asked after one command, in one round trip.
type inquiry struct {
	s    *Session
	b    *backendConn
	list []question
}

func (q *inquiry) ask(sql string, take func(textResult)) {
	q.list = append(q.list, question{sql, take})
}

// inquire asks the server what neither its trackers nor the statement's text say, while the session still has the
// connection.
func (s *Session) inquire(b *backendConn, r *reply, out outcome) error {
	q := inquiry{s: s, b: b}
	asked := map[string]bool{}
	for _, e := range s.job.effects {
		switch {
		case e.kind == effectAsk && e.name == "timestamp":
			r.clock = true
		case e.kind == effectAsk && !asked[e.name]:
			asked[e.name] = true
			q.variable(e.name)
		case e.kind == effectPrepare && e.text.variable != "" && out.code == 0:
			q.text(e)
		case e.kind == effectResults:
			q.results(e.name == "names")
		case e.kind == effectRole && out.code == 0:
			q.ask(currentRole, func(a textResult) {
				s.state.role = roleName(a.text(0))
				b.role.now = s.state.role
			})
		}
	}
	if r.clock {
		q.clock()
	}
	q.insertID(r, out)
	q.locks()
	q.tables()
	q.trackers()
	if err := q.put(); err != nil {
		return err
	}
	return s.readRoutines(b, r, out)
}

// put asks all questions in one write.
func (q *inquiry) put() error {
	if len(q.list) == 0 {
		return nil
	}
	commands := make([][]byte, len(q.list))
	for i := range q.list {
		commands[i] = queryCommand(q.list[i].sql)
	}
	if err := q.s.beforeQuestions(q.b); err != nil {
		return err
	}
	results, err := q.b.ask(internalTimeout, commands...)
	if results == nil {
		return err
	}
	for i, a := range results {
		if q.list[i].take != nil {
			q.list[i].take(a)
		}
	}
	q.b.settings = q.s.state.settings
	return nil
}

// beforeQuestions reads off the connection what a question to the server would overwrite there.
func (s *Session) beforeQuestions(b *backendConn) error {
	if b.has(s.residue, leftFoundRows) {
		if err := s.captureOwn(b); err != nil {
			return err
		}
	}
	b.intact = false
	return nil
}

// variable asks for a session variable. A name that the server does not know was refused to the client, too.
func (q *inquiry) variable(name string) {
	q.ask("SELECT @@session."+quoteName(name)+" LIMIT 1", func(a textResult) {
		if a.failed == nil {
			q.s.setVariable(name, a.text(0))
		}
	})
}

// results asks in which collation results come. SET NAMES gives them that of the connection; other ways to choose their character
// set give them the character set's own.
func (q *inquiry) results(names bool) {
	sql := "SELECT @@collation_connection LIMIT 1"
	if !names {
		sql = "SELECT default_collate_name FROM information_schema.character_sets WHERE character_set_name=@@character_set_results LIMIT 1"
	}
	q.ask(sql, func(a textResult) {
		if a.text(0) != "" {
			q.s.state.settings = q.s.state.settings.with(resultsCollation, a.text(0))
		}
	})
}

// clock asks whether the session's clock stands still, twice: its time is that of the statement that asks. The trackers don't
// say, since after SET timestamp = DEFAULT they report what it was before.
func (q *inquiry) clock() {
	var first string
	q.ask("SELECT @@timestamp LIMIT 1", func(a textResult) { first = a.text(0) })
	q.ask("SELECT @@timestamp LIMIT 1", func(a textResult) {
		if a.text(0) == first {
			q.s.state.holdVariable("timestamp", first)
		} else {
			q.s.state.releaseVariable("timestamp")
		}
	})
}

// text asks for the text that was prepared from a user variable.
func (q *inquiry) text(e effect) {
	if q.s.job.flags&sqlscan.MultiStatement != 0 { // the variable may have been set again since
		return
	}
	q.ask("SELECT @"+quoteName(e.text.variable)+" LIMIT 1", func(a textResult) {
		if a.failed == nil && a.text(0) != "" {
			q.s.state.held.texts[e.name] = readText([]byte(a.text(0)), q.s.state.mode)
		}
	})
}

// insertID asks whether insert_id is used up when a row was given an id that may be it.
func (q *inquiry) insertID(r *reply, out outcome) {
	value, pinned := q.s.state.held.variables["insert_id"]
	if !pinned || out.code != 0 {
		return
	}
	switch q.s.job.first {
	case sqlscan.Insert, sqlscan.Replace:
		if strconv.FormatUint(r.OK.InsertID, 10) != value {
			return
		}
	case sqlscan.Load, sqlscan.Call, sqlscan.Execute, sqlscan.Update, sqlscan.Delete:
	default:
		return
	}
	q.variable("insert_id")
}

// locks asks which user locks are held: GET_LOCK may have timed out, RELEASE_LOCK may have released one of two.
func (q *inquiry) locks() {
	st := &q.s.state
	if !st.held.locksDoubt {
		return
	}
	st.held.locksDoubt = false
	_, disguised := st.held.variables["pseudo_thread_id"]
	for _, name := range st.askedLocks() {
		q.ask("SELECT IS_USED_LOCK('"+name+"') LIMIT 1", func(a textResult) {
			owner := a.text(0)
			st.lockIs(name, q.b.isConnectionID(owner) || disguised && owner != "")
		})
	}
}

// tables asks which temporary tables are still there.
func (q *inquiry) tables() {
	st := &q.s.state
	if !st.held.tablesDoubt {
		return
	}
	st.held.tablesDoubt = false
	for name := range st.held.tables {
		schema, table, _ := strings.Cut(name, ".")
		q.ask("SHOW CREATE TABLE "+quoteName(schema)+"."+quoteName(table), func(a textResult) {
			if e := asServerError(a.failed); e != nil && e.Code == codeNoSuchTable {
				st.dropTable(effect{name: name})
			}
		})
	}
}

const codeNoSuchTable = 1146

// trackers reads what the client has made of the session trackers, and turns the proxy's own on again.
func (q *inquiry) trackers() {
	st := &q.s.state
	switch {
	case q.s.job.flags&sqlscan.Trackers != 0:
		q.ask("SELECT "+trackersQuery("session")+" LIMIT 1", func(a textResult) { q.s.takeTrackers(q.b, a.text(0)) })
		q.ask(trackers, nil)
		if st.pins&(1<<attribution.NextTransaction) != 0 {
			q.ask(tellNext, func(textResult) { q.b.tellsNext = true })
		}
	case q.b.tellsNext && st.pins&(1<<attribution.NextTransaction) == 0:
		q.ask(q.s.tellLess(), nil)
		q.b.tellsNext, st.held.nextTold = false, false
	}
}

// setVariable notes a session variable's new value, as the server reported it.
func (s *Session) setVariable(name, value string) {
	back := false // the variable is back at what a new connection has
	switch name {
	case "timestamp":
		s.reply.clock = true
		return
	case "identity", "last_insert_id":
		s.residue.insertIDStays(s.lease.Conn(), 0)
		return
	case "insert_id":
		back = value == "0"
	case "pseudo_thread_id":
		back = s.lease.Conn().isConnectionID(value)
	case "pseudo_slave_mode", "skip_replication":
		back = value == "0" || value == "OFF"
	case "session_track_schema", "session_track_state_change", "session_track_system_variables", "session_track_transaction_info":
		if s.job.flags&sqlscan.Trackers != 0 || name == "session_track_schema" && value == "ON" {
			return // read and put right when the command has ended, or as it must be
		}
	}
	if back {
		s.state.releaseVariable(name)
	} else {
		s.state.setVariable(name, value)
	}
}

// quoteName puts a name into quotes that every sql_mode takes.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
