package proxy

import (
	"slices"
	"strings"
	"sync"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
)

// effectKind is one thing that a statement does to the session beside its result, as far as the server's trackers
// do not report it.
type effectKind byte

const (
	effectPin             effectKind = iota // the lease is pinned for reason
	effectCreateTemp                        // temporary table name appears
	effectDropTable                         // table name is gone; it may have been temporary
	effectRenameTable                       // table name is called to now; it may be temporary
	effectChangeTable                       // table name is altered or truncated, which closes handlers on it
	effectPrepare                           // text prepared statement name appears, with text
	effectDeallocate                        // text prepared statement name is gone
	effectExecute                           // text prepared statement name runs
	effectExecuteVariable                   // the text in user variable name runs
	effectGetLock                           // user lock name may be held; empty: a name not known
	effectReleaseLock                       // user lock name may be held no longer; empty: nothing is certain
	effectReleaseAll                        // no user lock is held
	effectLock                              // the server-wide or table locks in locks are held
	effectUnlock                            // the server-wide or table locks in locks are not held
	effectHandlerOpen                       // handler to is open on table name
	effectHandlerUse                        // handler to is read, or closed if end is set
	effectXABegin                           // the XA transaction name has begun
	effectXAEnd                             // the XA transaction name is committed or rolled back
	effectUserVar                           // user variable name may have a new value
	effectSavepoint                         // pins outside a transaction with autocommit off
	effectEndTrx                            // no savepoint outlives it
	effectNextTrx                           // SET TRANSACTION without SESSION: for the next transaction only
	effectCall                              // procedure name ran; its body tells what it may have left
	effectResults                           // results may come in another collation: that of the connection, or the character set's own
	effectRole                              // the current role is another
	effectOwnState                          // a session-state change is expected, so the trackers' word is no surprise
	effectRead                              // SET may read tables, so that with autocommit off it may begin a transaction
	effectKill                              // KILL inside a longer text
	effectAsk                               // session variable name may change without the trackers saying so: the server must be asked
	effectLate                              // the trackers' last word comes with the next OK only
)

// effect is one effect; whether is set when it may have happened although the statement failed.
type effect struct {
	kind    effectKind
	reason  attribution.PinReason
	whether bool
	end     bool
	alone   bool // the only table that its DROP names
	locks   tableLocks
	name    string // of a table or procedure as schema.name, or .name for the current schema
	to      string
	text    *preparedText
}

// ends reports whether the effect ends something that pins: in doubt it has not happened.
func (e *effect) ends() bool {
	switch e.kind {
	case effectDropTable, effectRenameTable, effectChangeTable, effectDeallocate, effectReleaseLock, effectReleaseAll, effectUnlock,
		effectHandlerUse, effectXAEnd, effectEndTrx:
		return true
	}
	return false
}

// looks says which first words need the slow look, and whether only when the session holds something already.
var looks = map[sqlscan.Keyword]look{
	sqlscan.Set: lookAlways, sqlscan.Use: lookAlways, sqlscan.Lock: lookAlways, sqlscan.Prepare: lookAlways, sqlscan.Execute: lookAlways,
	sqlscan.Call: lookAlways, sqlscan.XA: lookAlways, sqlscan.Savepoint: lookAlways, sqlscan.Handler: lookAlways, sqlscan.Flush: lookAlways,
	sqlscan.Load:   lookAlways,
	sqlscan.Get:    lookAlways,
	sqlscan.Kill:   lookAlways,
	sqlscan.Backup: lookAlways,
	sqlscan.Begin:  lookPinned, sqlscan.Start: lookPinned, sqlscan.Commit: lookPinned, sqlscan.Rollback: lookPinned,
	sqlscan.Unlock: lookPinned, sqlscan.Drop: lookPinned, sqlscan.Deallocate: lookPinned, sqlscan.Create: lookPinned,
	sqlscan.Alter: lookPinned, sqlscan.Rename: lookPinned, sqlscan.Truncate: lookPinned,
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
	if st.Flags&suspicious != 0 || st.Flags&sqlscan.Temporary != 0 && (st.First == sqlscan.Create || st.First == sqlscan.Drop || pinned) {
		return true
	}
	l := lookTable[st.First]
	return l == lookAlways || l == lookPinned && pinned
}

// headLen is how many tokens of a statement are kept to read its head. What begins with a word in wholeWords is kept whole,
// within reason: in a longer DROP or RENAME pins end later, never sooner, and a longer SET pins.
const (
	headLen  = 24
	wholeLen = 1 << 14
)

var wholeWords = [...]string{"set", "drop", "rename", "alter"}

// effectReader walks a text, statement by statement.
type effectReader struct {
	head    []sqlscan.Token
	cut     bool // it is a SET that was too long for that
	whole   bool // the statement's head is all of it
	flags   sqlscan.Flags
	mode    sqlscan.Mode
	from    bool // the statement reads a table, so a function in it may run many times, or never
	begun   int  // how many effects the statements before have
	effects []effect
}

// heads are what effectReader.head begins in.
var heads = sync.Pool{New: func() any { return new([headLen]sqlscan.Token) }}

// readEffects returns what the text does to session state, in order. A text that can't be read whole pins.
func readEffects(sql []byte, st *sqlscan.Statement, mode sqlscan.Mode) []effect {
	head := heads.Get().(*[headLen]sqlscan.Token)
	defer heads.Put(head)
	r := effectReader{flags: st.Flags, mode: mode, head: head[:0]}
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
		r.keep(t)
		switch {
		case t.Kind == sqlscan.TokenWord, t.Kind == sqlscan.TokenQuotedIdent:
			r.call(t, lex)
		case t.Kind == sqlscan.TokenUserVar && assigns && len(t.Text) > 0:
			r.add(effect{kind: effectUserVar, name: userVarName(t.Ident()), whether: true})
		}
	}
	if st.Flags&sqlscan.Unterminated != 0 || st.Flags&sqlscan.MultiStatement != 0 && st.Flags&sqlscan.Trackers != 0 {
		r.pin(attribution.Unknown) // in the second case the trackers are the client's while its other statements run
	}
	if st.Flags&sqlscan.MultiStatement != 0 { // a later part may fail after an earlier one has done its work
		for i := range r.effects {
			r.effects[i].whether = r.effects[i].whether || !r.effects[i].ends()
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

// keep adds a token to the head.
func (r *effectReader) keep(t sqlscan.Token) {
	if len(r.head) == 0 {
		r.whole = slices.ContainsFunc(wholeWords[:], t.Is)
	}
	switch {
	case len(r.head) < headLen, r.whole && len(r.head) < wholeLen:
		r.head = append(r.head, t)
	case r.head[0].Is("set"):
		r.cut = true
	}
}

func (r *effectReader) add(e effect) { r.effects = append(r.effects, e) }

func (r *effectReader) pin(reason attribution.PinReason) {
	r.add(effect{kind: effectPin, reason: reason, whether: true})
}

// statement reads the head of one statement and starts the next.
func (r *effectReader) statement() {
	r.read(r.head)
	if r.cut {
		r.pin(attribution.Unknown)
	}
	for i := r.begun; i < len(r.effects) && r.from; i++ {
		if e := &r.effects[i]; e.kind == effectGetLock || e.kind == effectReleaseLock {
			e.name = ""
		}
	}
	r.head, r.from, r.cut, r.begun = r.head[:0], false, false, len(r.effects)
}

// read reads the head of a statement, h.
func (r *effectReader) read(h []sqlscan.Token) {
	if len(h) == 0 {
		return
	}
	word := func(i int, w string) bool { return i < len(h) && h[i].Is(w) }
	switch {
	case word(0, "set"):
		r.set(h[1:])
	case word(0, "use"):
		r.add(effect{kind: effectOwnState})
	case word(0, "create"):
		r.create(h[1:])
	case word(0, "drop"):
		r.drop(h[1:])
	case word(0, "rename"):
		r.rename(h[1:])
	case word(0, "alter"):
		r.alter(h[1:])
	case word(0, "truncate"):
		r.truncate(h[1:])
	case word(0, "lock"), word(0, "unlock"), word(0, "flush"), word(0, "backup"):
		r.tableLocks(h)
	case word(0, "begin"), word(0, "start") && word(1, "transaction"):
		r.add(effect{kind: effectUnlock, locks: locksTables})
	case word(0, "prepare"):
		r.prepare(h[1:])
	case word(0, "deallocate") && len(h) > 2:
		r.deallocate(h[2])
	case word(0, "execute"):
		r.execute(h[1:])
	case word(0, "call") && len(h) > 1:
		name, _ := tableName(h[1:])
		r.add(effect{kind: effectCall, name: name, whether: true})
		r.add(effect{kind: effectLate, whether: true})
	case word(0, "xa"):
		r.xa(h[1:])
	case word(0, "kill"):
		r.add(effect{kind: effectKill})
	case word(0, "savepoint"):
		r.add(effect{kind: effectSavepoint})
	case word(0, "handler"):
		r.handler(h[1:])
	case word(0, "commit"), word(0, "rollback") && !hasWord(h, "to"):
		r.add(effect{kind: effectEndTrx})
	}
}

// xa reads XA {START | BEGIN | COMMIT | ROLLBACK} xid …; between START and COMMIT or ROLLBACK the transaction is bound
// to its connection, prepared or not.
func (r *effectReader) xa(h []sqlscan.Token) {
	if len(h) < 2 {
		return
	}
	var xid strings.Builder
	for _, t := range h[1:] {
		if t.Kind == sqlscan.TokenWord {
			break
		}
		xid.Write(t.Text)
	}
	switch {
	case h[0].Is("start"), h[0].Is("begin"):
		r.add(effect{kind: effectXABegin, name: xid.String()})
	case h[0].Is("commit"), h[0].Is("rollback"):
		r.add(effect{kind: effectXAEnd, name: xid.String()})
	}
}

func hasWord(h []sqlscan.Token, w string) bool {
	return slices.ContainsFunc(h, func(t sqlscan.Token) bool { return t.Is(w) })
}

func isPunct(t sqlscan.Token, c byte) bool { return t.Kind == sqlscan.TokenPunct && t.Text[0] == c }
