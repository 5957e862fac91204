package proxy

import (
	"strconv"
	"unicode/utf8"

	"github.com/conntag/conntag/internal/sqlscan"
)

// answer appends sql to dst with the reads of known values answered: ROW_COUNT() becomes IF(1,5,ROW_COUNT()), which has
// the type of the original on any server and is no column's number in ORDER BY. A select item without a name gets its
// original text as its name, so that the client sees the columns it would have seen. Nothing is taken away from the text, so
// comments stay where they are.
//
// value gives what to answer in the text's statement number nth, from 0 on; a read that it declines stays. Reads stay, too,
// in what the server keeps for later (views, routines, column defaults) and in compound statements, where earlier statements
// decide. When nothing was answered, changed is false and out is dst.
func answer(dst, sql []byte, mode sqlscan.Mode, value func(k known, nth int) (n int64, ok bool)) (out []byte, changed bool) {
	r := rewriter{sql: sql, mode: mode, out: dst, value: value}
	r.statement()
	r.lex = sqlscan.NewLexer(sql, mode)
	for r.next() {
	}
	if r.copied == 0 || r.lex.Unterminated() { // a text that breaks off is refused as it came
		return dst, false
	}
	return append(r.out, sql[r.copied:]...), true
}

// rewriter walks a text. Its insertions come in the order of their places.
type rewriter struct {
	sql    []byte
	mode   sqlscan.Mode
	lex    sqlscan.Lexer
	out    []byte
	copied uint32 // how much of sql is in out
	value  func(k known, nth int) (int64, bool)
	nth    int
	head   head
	before sqlscan.Token
	levels []level // of parentheses, the innermost last
}

// level is what stands between two parentheses, or in none.
type level struct {
	list    bool // a select list is being read
	query   bool // one was begun
	inItem  bool // stands in a select item: what a query in it calls its columns is not seen
	common  bool // stands behind AS, as a common table expression does
	item    selectItem
	changed bool
}

// statement starts the next statement.
func (r *rewriter) statement() {
	r.head, r.before = head{}, sqlscan.Token{}
	r.levels = append(r.levels[:0], level{})
}

// next takes one token; false at the end, or where the text can't be followed.
func (r *rewriter) next() bool {
	from := r.lex
	t := r.lex.Next()
	if t.Kind == sqlscan.TokenEnd || isPunct(t, ';') {
		if len(r.levels) == 1 { // else the text is broken, and its items have no ends
			r.endItem(&r.levels[0])
		}
		r.nth++
		r.statement()
		return t.Kind != sqlscan.TokenEnd
	}
	r.head.add(t, r.before, len(r.levels))
	if r.head.state == headForeign {
		return false
	}
	top := &r.levels[len(r.levels)-1]
	switch {
	case isPunct(t, '('), isPunct(t, '{'):
		r.item(top, t, from)
		r.levels = append(r.levels, level{common: r.before.Is("as"), inItem: top.list || top.inItem && !top.query})
	case isPunct(t, ')'), isPunct(t, '}'):
		r.close(t)
		if len(r.levels) == 0 {
			return false
		}
	case top.list && isPunct(t, ','):
		r.endItem(top)
		top.item = afterComma(t, r.lex)
	case r.opensList(t):
		r.endItem(top)
		top.list, top.query = true, true
	case top.list && r.endsList(t):
		r.endItem(top)
		top.list = false
	case top.list && top.item.n == 0 && isOneOf(t, options):
	default:
		r.item(top, t, from)
		t = r.read(top, t)
	}
	r.before = t
	return true
}

// opensList reports whether a select list begins behind t. Both words are reserved: without a dot in front they are no names.
func (r *rewriter) opensList(t sqlscan.Token) bool {
	return (t.Is("select") || t.Is("returning")) && !isPunct(r.before, '.')
}

// endsList reports whether t begins what comes behind a select list; NEXT VALUE FOR is an operand.
func (r *rewriter) endsList(t sqlscan.Token) bool {
	return isOneOf(t, clauses) && !isPunct(r.before, '.') && !(t.Is("for") && r.before.Is("value"))
}

func (r *rewriter) item(l *level, t sqlscan.Token, from sqlscan.Lexer) {
	if l.list {
		l.item.add(t, from)
	}
}

// close ends the innermost level with t, which is part of the level around it.
func (r *rewriter) close(t sqlscan.Token) {
	inner := &r.levels[len(r.levels)-1]
	r.endItem(inner)
	r.levels = r.levels[:len(r.levels)-1]
	if len(r.levels) == 0 {
		return
	}
	outer := &r.levels[len(r.levels)-1]
	r.note(outer, inner.changed)
	r.item(outer, t, r.lex)
}

func (r *rewriter) note(l *level, changed bool) {
	l.changed = l.changed || changed
	l.item.changed = l.item.changed || changed && l.list
}

// endItem gives a select item that was changed its name back, as a string: what a name in the server's own character set
// can't hold becomes "?" in both, and would be an error in an identifier. A common table expression gives unnamed
// columns with long texts names of its own.
func (r *rewriter) endItem(l *level) {
	if l.list && !l.inItem && l.item.changed && !l.item.named() {
		if name := l.item.name(r.sql); !l.common || utf8.RuneCount(name) <= longestColumn {
			r.insert(l.item.last.End, " AS ")
			r.out = appendString(r.out, name, r.mode)
		}
	}
	l.item = selectItem{}
}

// read answers the read that begins with t, if one does, and returns the last token that it took.
func (r *rewriter) read(l *level, t sqlscan.Token) sqlscan.Token {
	if !r.head.reads() || isPunct(r.before, '.') {
		return t
	}
	k, end := calledAt(t, r.lex)
	if k == knownNothing && !r.head.assigns(r.before, len(r.levels)) {
		k, end = readAt(t, r.lex)
	}
	if k == knownNothing {
		return t
	}
	n, ok := r.value(k, r.nth)
	if !ok {
		return t
	}
	r.insert(t.Start, "IF(1,")
	if k.unsigned() {
		r.out = append(strconv.AppendInt(append(r.out, "CAST("...), n, 10), " AS UNSIGNED),"...)
	} else {
		r.out = append(strconv.AppendInt(r.out, n, 10), ',')
	}
	for t.End < end {
		from := r.lex
		t = r.lex.Next()
		r.item(l, t, from)
	}
	r.insert(end, ")")
	r.note(l, true)
	return t
}

// insert copies the text up to at and appends s.
func (r *rewriter) insert(at uint32, s string) {
	r.out = append(append(r.out, r.sql[r.copied:at]...), s...)
	r.copied = at
}
