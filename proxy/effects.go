package proxy

import (
	"bytes"
	"strings"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
)

// effectKind is one thing that a statement does to the session beside its result, as far as the server's trackers
// do not report it.
type effectKind byte

const (
	effectPin         effectKind = iota // the lease is pinned for reason
	effectUnpin                         // the pin for reason ends
	effectCreateTemp                    // temporary table name appears
	effectDropTable                     // table name is gone; it may have been temporary
	effectPrepare                       // text prepared statement name appears
	effectDeallocate                    // text prepared statement name is gone
	effectGetLock                       // user lock name may be held once more; empty: a name not known
	effectReleaseLock                   // user lock name is held once less; empty: nothing is certain
	effectReleaseAll                    // no user lock is held
	effectUserVar                       // user variable name may have a new value
	effectSavepoint                     // pins outside a transaction with autocommit off
	effectEndTrx                        // COMMIT or a whole ROLLBACK
	effectNextTrx                       // SET TRANSACTION without SESSION: for the next transaction only
	effectOwnState                      // a session-state change is expected, so the trackers' word is no surprise
	effectRead                          // SET may read tables, so that with autocommit off it may begin a transaction
	effectKill                          // KILL inside a longer text
	effectAsk                           // session variable name may change without the trackers saying so: the server must be asked
)

// effect is one effect; whether is set when it may have happened although the statement failed.
type effect struct {
	kind    effectKind
	reason  attribution.PinReason
	whether bool
	name    string // of a table as schema.name, or .name for the current schema
}

// looks says which first words need the slow look, and whether only when the session holds something already.
var looks = map[sqlscan.Keyword]look{
	sqlscan.Set: lookAlways, sqlscan.Use: lookAlways, sqlscan.Lock: lookAlways, sqlscan.Prepare: lookAlways, sqlscan.Execute: lookAlways,
	sqlscan.Call: lookAlways, sqlscan.XA: lookAlways, sqlscan.Savepoint: lookAlways, sqlscan.Handler: lookAlways, sqlscan.Flush: lookAlways,
	sqlscan.Load:  lookAlways,
	sqlscan.Get:   lookAlways,
	sqlscan.Kill:  lookAlways,
	sqlscan.Begin: lookPinned, sqlscan.Start: lookPinned, sqlscan.Commit: lookPinned, sqlscan.Rollback: lookPinned,
	sqlscan.Unlock: lookPinned, sqlscan.Drop: lookPinned, sqlscan.Deallocate: lookPinned,
}

type look byte

const (
	lookNever look = iota
	lookPinned
	lookAlways
)

// lookTable is looks by keyword: one load per statement.
var lookTable = func() (t [256]look) {
	for word, l := range looks {
		t[word] = l
	}
	return t
}()

// suspicious are the marks that need the slow look whatever the first word is.
const suspicious = sqlscan.AssignsUserVar | sqlscan.GetLock | sqlscan.ReleaseLock | sqlscan.MultiStatement | sqlscan.Unterminated

// mayTouchState reports whether readEffects has to look at a statement. Nearly none needs it.
func mayTouchState(st *sqlscan.Statement, pinned bool) bool {
	if st.Flags&suspicious != 0 || st.Flags&sqlscan.Temporary != 0 && (st.First == sqlscan.Create || pinned) {
		return true
	}
	l := lookTable[st.First]
	return l == lookAlways || l == lookPinned && pinned
}

// headLen is how many tokens of a statement are kept to read its head; longer lists end pins later, never sooner.
const headLen = 24

// effectReader walks a text, statement by statement.
type effectReader struct {
	head    [headLen]sqlscan.Token
	n       int
	from    bool // the statement reads a table, so a function in it may run many times, or never
	begun   int  // how many effects the statements before have
	effects []effect
}

// readEffects returns what the text does to session state, in order. A text that can't be read whole pins.
func readEffects(sql []byte, st *sqlscan.Statement, mode sqlscan.Mode) []effect {
	var r effectReader
	assigns := assignsUserVars(st)
	lex := sqlscan.NewLexer(sql, mode)
	for {
		t := lex.Next()
		if end := t.Kind == sqlscan.TokenEnd; end || t.Kind == sqlscan.TokenPunct && t.Text[0] == ';' {
			r.statement()
			if end {
				break
			}
			continue
		}
		r.from = r.from || t.Is("from")
		if r.n < headLen {
			r.head[r.n] = t
			r.n++
		}
		switch {
		case t.Kind == sqlscan.TokenWord:
			r.call(t, lex)
		case t.Kind == sqlscan.TokenUserVar && assigns && len(t.Text) > 0:
			r.add(effect{kind: effectUserVar, name: userVarName(t.Ident()), whether: true})
		}
	}
	if st.Flags&sqlscan.Unterminated != 0 {
		r.pin(attribution.Unknown)
	}
	if st.Flags&sqlscan.MultiStatement != 0 { // a later part may fail after an earlier one has done its work
		for i := range r.effects {
			r.effects[i].whether = true
		}
	}
	return r.effects
}

// assignsUserVars reports whether user variables that the text mentions may get new values. In a text of several statements
// all of them may.
func assignsUserVars(st *sqlscan.Statement) bool {
	switch st.First {
	case sqlscan.Set, sqlscan.Call, sqlscan.Load, sqlscan.Get, sqlscan.Execute:
		return true
	}
	return st.Flags&(sqlscan.AssignsUserVar|sqlscan.MultiStatement) != 0
}

func (r *effectReader) add(e effect) { r.effects = append(r.effects, e) }

func (r *effectReader) pin(reason attribution.PinReason) {
	r.add(effect{kind: effectPin, reason: reason, whether: true})
}

// call looks for the lock functions. Only a plain literal name, evaluated once, can be counted.
func (r *effectReader) call(t sqlscan.Token, lex sqlscan.Lexer) {
	get := t.Is("get_lock")
	release := t.Is("release_lock")
	all := t.Is("release_all_locks")
	if !get && !release && !all || !isPunct(lex.Next(), '(') {
		if t.Is("service_get_read_locks") || t.Is("service_get_write_locks") {
			r.add(effect{kind: effectGetLock, whether: true})
		}
		return
	}
	arg := lex.Next()
	after := lex.Next()
	name := ""
	if arg.Kind == sqlscan.TokenString && (isPunct(after, ',') || isPunct(after, ')')) {
		name = strings.ToLower(arg.Ident())
	}
	switch {
	case get:
		r.add(effect{kind: effectGetLock, name: name, whether: true})
	case release:
		r.add(effect{kind: effectReleaseLock, name: name})
	default:
		r.add(effect{kind: effectReleaseAll})
	}
}

// statement reads the head of one statement and starts the next.
func (r *effectReader) statement() {
	h := r.head[:r.n]
	word := func(i int, w string) bool { return i < len(h) && h[i].Is(w) }
	switch {
	case len(h) == 0:
	case word(0, "set"):
		r.set(h[1:])
	case word(0, "use"):
		r.add(effect{kind: effectOwnState})
	case word(0, "create"):
		r.create(h[1:])
	case word(0, "drop"):
		r.drop(h[1:])
	case word(0, "lock"), word(0, "flush") && r.hasWord("lock"), word(0, "flush") && r.hasWord("export"):
		r.add(effect{kind: effectPin, reason: attribution.TablesLocked})
	case word(0, "unlock"), word(0, "begin"), word(0, "start") && word(1, "transaction"):
		r.add(effect{kind: effectUnpin, reason: attribution.TablesLocked})
	case word(0, "prepare") && len(h) > 1:
		r.add(effect{kind: effectOwnState})
		r.add(effect{kind: effectPrepare, name: strings.ToLower(h[1].Ident())})
	case word(0, "deallocate") && len(h) > 2:
		r.add(effect{kind: effectOwnState})
		r.add(effect{kind: effectDeallocate, name: strings.ToLower(h[2].Ident())})
	case word(0, "execute"): // what the text does is not known here, and stays when it is deallocated
		r.pin(attribution.Unknown)
	case word(0, "call"):
		r.pin(attribution.Procedure)
	case word(0, "xa"):
		r.pin(attribution.Unknown)
	case word(0, "kill"):
		r.add(effect{kind: effectKill})
	case word(0, "savepoint"):
		r.add(effect{kind: effectSavepoint})
	case word(0, "handler"):
		r.pin(attribution.Handler)
	case word(0, "commit"), word(0, "rollback") && !r.hasWord("to"):
		r.add(effect{kind: effectEndTrx})
	}
	for i := r.begun; i < len(r.effects) && r.from; i++ {
		if e := &r.effects[i]; e.kind == effectGetLock || e.kind == effectReleaseLock {
			e.name = ""
		}
	}
	r.n, r.from, r.begun = 0, false, len(r.effects)
}

func (r *effectReader) hasWord(w string) bool {
	for _, t := range r.head[:r.n] {
		if t.Is(w) {
			return true
		}
	}
	return false
}

// set reads the assignments behind SET. Session variables are the trackers' business; here is what they don't see.
func (r *effectReader) set(h []sqlscan.Token) {
	r.add(effect{kind: effectOwnState, whether: true})
	scoped := false
	for i, t := range h {
		switch {
		case isPunct(t, '('): // a subquery or a function: it may read tables
			r.add(effect{kind: effectRead})
		case t.Is("session"), t.Is("global"), t.Is("local"):
			scoped = true
		case t.Is("transaction") && i <= 1 && !scoped:
			r.add(effect{kind: effectNextTrx})
		case i == 0 && (t.Is("role") || t.Is("resource") || t.Is("default")):
			r.pin(attribution.Unknown)
		case t.Is("names"), t.Is("charset"), t.Is("character"), t.Is("character_set_connection"), t.Is("collation_connection"):
			r.ask("collation_connection")
		case t.Kind == sqlscan.TokenSysVar && i+1 < len(h) && isAssignment(h[i+1:]) && !bytes.ContainsRune(t.Text, '.'):
			// MariaDB's trackers report "x = …" and "@@session.x = …", but not "@@x = …".
			r.ask(variable(t))
			if name := variable(t); name == "character_set_connection" {
				r.ask("collation_connection")
			}
		case hasVariablePrefix(t, "session_track_"), isVariable(t, "timestamp"), isVariable(t, "insert_id"), isVariable(t, "rand_seed1"),
			isVariable(t, "rand_seed2"), isVariable(t, "pseudo_thread_id"), isVariable(t, "pseudo_slave_mode"):
			r.pin(attribution.SessionVariable)
		}
	}
	if len(h) == headLen-1 { // more assignments than were kept
		r.pin(attribution.SessionVariable)
	}
}

// ask has the server asked for a session variable once the statement has ended, however it ended.
func (r *effectReader) ask(name string) {
	r.add(effect{kind: effectAsk, name: name, whether: true})
}

// isAssignment reports whether an assignment operator comes next, = or :=.
func isAssignment(h []sqlscan.Token) bool {
	return isPunct(h[0], '=') || len(h) > 1 && isPunct(h[0], ':') && isPunct(h[1], '=')
}

// variable is the name of a system variable token without its scope; empty for others.
func variable(t sqlscan.Token) string {
	switch t.Kind {
	case sqlscan.TokenWord:
		return strings.ToLower(string(t.Text))
	case sqlscan.TokenSysVar:
		name := strings.ToLower(string(t.Text))
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	return ""
}

func isVariable(t sqlscan.Token, name string) bool { return variable(t) == name }

func hasVariablePrefix(t sqlscan.Token, prefix string) bool {
	return strings.HasPrefix(variable(t), prefix)
}

// create reads CREATE [OR REPLACE] TEMPORARY {TABLE | SEQUENCE} [IF NOT EXISTS] name.
func (r *effectReader) create(h []sqlscan.Token) {
	temporary := false
	for i, t := range h {
		switch {
		case t.Is("temporary"):
			temporary = true
		case t.Is("or"), t.Is("replace"), t.Is("table"), t.Is("sequence"), t.Is("if"), t.Is("not"), t.Is("exists"):
		default:
			if temporary {
				name, _ := tableName(h[i:])
				r.add(effect{kind: effectOwnState})
				r.add(effect{kind: effectCreateTemp, name: name})
			}
			return
		}
	}
}

// drop reads DROP [TEMPORARY] {TABLE | SEQUENCE} [IF EXISTS] name, …, and DROP PREPARE name.
func (r *effectReader) drop(h []sqlscan.Token) {
	r.add(effect{kind: effectOwnState})
	if len(h) > 1 && h[0].Is("prepare") {
		r.add(effect{kind: effectDeallocate, name: strings.ToLower(h[1].Ident())})
		return
	}
	for len(h) > 0 && h[0].Kind == sqlscan.TokenWord && (h[0].Is("temporary") || h[0].Is("table") || h[0].Is("tables") ||
		h[0].Is("sequence") || h[0].Is("if") || h[0].Is("exists")) {
		h = h[1:]
	}
	for len(h) > 0 {
		name, n := tableName(h)
		r.add(effect{kind: effectDropTable, name: name})
		h = h[n:]
		if len(h) == 0 || !isPunct(h[0], ',') {
			return
		}
		h = h[1:]
	}
}

// tableName reads name or schema.name and returns it as schema.name, with an empty schema for the current one, and
// how many tokens it took.
func tableName(h []sqlscan.Token) (name string, n int) {
	if len(h) >= 3 && isPunct(h[1], '.') {
		return h[0].Ident() + "." + h[2].Ident(), 3
	}
	return "." + h[0].Ident(), 1
}

func isPunct(t sqlscan.Token, c byte) bool { return t.Kind == sqlscan.TokenPunct && t.Text[0] == c }
