package proxy

import "github.com/conntag/conntag/internal/sqlscan"

// head knows from a statement's first words where in it values are read when it runs.
type head struct {
	state headState
	set   bool // SET: what stands in front of an assignment is written, not read
}

type headState byte

const (
	headVerb    headState = iota // the first word comes next
	headNothing                  // nothing is read here
	headReads                    // everything is
	headTarget                   // INSERT, CALL: a name comes, and "INSERT INTO row_count()" reads nothing
	headNamed                    // that name
	headBegin                    // BEGIN: a transaction, unless NOT ATOMIC follows
	headCreate                   // CREATE, before the word that says what
	headTable                    // CREATE TABLE: what comes before SELECT is kept
	headSet                      // SET, before its second word
	headScoped                   // SET STATEMENT, whose statement begins behind FOR
	headForeign                  // the text can't be followed: a routine's body, a compound statement
)

var (
	readers = words("select with values update delete do show explain describe desc analyze execute handler load kill")
	silent  = words("use start commit rollback savepoint release prepare deallocate drop truncate lock unlock flush get " +
		"checksum check optimize repair rename")
	writers = words("insert replace call")
	targets = words("into ignore delayed low_priority high_priority")
)

// add takes the statement's next token; depth is that of its parentheses, 1 for none.
func (h *head) add(t, before sqlscan.Token, depth int) {
	switch h.state {
	case headVerb:
		h.verb(t)
	case headTarget:
		if !isOneOf(t, targets) {
			h.state = headNamed
		}
	case headNamed:
		h.state = headReads
	case headBegin:
		h.state = headNothing
		if t.Is("not") {
			h.state = headForeign
		}
	case headCreate:
		h.create(t)
	case headTable:
		if t.Is("select") && !isPunct(before, '.') {
			h.state = headReads
		}
	case headSet:
		h.state = headReads
		if t.Is("statement") {
			h.state, h.set = headScoped, false
		}
	case headScoped:
		if t.Is("for") && depth == 1 {
			h.state = headVerb
		}
	case headNothing, headReads, headForeign:
	}
}

func (h *head) verb(t sqlscan.Token) {
	switch {
	case isPunct(t, '('): // (SELECT …) UNION …
	case isOneOf(t, readers):
		h.state = headReads
	case isOneOf(t, writers):
		h.state = headTarget
	case isOneOf(t, silent):
		h.state = headNothing
	case t.Is("set"):
		h.state, h.set = headSet, true
	case t.Is("begin"):
		h.state = headBegin
	case t.Is("create"):
		h.state = headCreate
	default:
		h.state = headForeign
	}
}

func (h *head) create(t sqlscan.Token) {
	switch {
	case t.Is("or"), t.Is("replace"), t.Is("temporary"):
	case t.Is("table"):
		h.state = headTable
	default:
		h.state = headForeign
	}
}

// reads reports whether a value that the current token reads is read when the statement runs.
func (h *head) reads() bool { return h.state == headReads }

// assigns reports whether the system variable t is assigned to: SET @@a = …, @@b = ….
func (h *head) assigns(before sqlscan.Token, depth int) bool {
	return h.set && depth == 1 && (before.Is("set") || isPunct(before, ','))
}
