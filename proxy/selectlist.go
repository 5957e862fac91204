package proxy

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/conntag/conntag/internal/sqlscan"
)

// selectItem is one item of a select list as it is being read. Parentheses count as their closing one.
type selectItem struct {
	start        uint32        // where the text begins that the server names it by
	lex          sqlscan.Lexer // stands there, or before blanks and comments in front
	last, before sqlscan.Token // the last two tokens
	n            int           // how many there are
	afterDot     bool          // before is a name behind a dot, and so no keyword
	whole        bool          // before is a literal that a string behind it does not continue
	literal      bool          // the same of last
	as           bool          // AS was seen
	intervals    int           // INTERVAL without unit so far
	cases        int           // CASE without END so far
	closing      bool          // last is the unit of an INTERVAL or the END of a CASE, and so no name
	changed      bool          // something in it was answered, so that its text is no longer its name
}

// afterComma is an item that follows another. The server's lexer then lets the text begin at the comma.
func afterComma(comma sqlscan.Token, lex sqlscan.Lexer) selectItem {
	return selectItem{start: comma.End, lex: lex}
}

// add takes the item's next token; from is a lexer that stands before it.
func (i *selectItem) add(t sqlscan.Token, from sqlscan.Lexer) {
	if i.n == 0 && i.start == 0 {
		i.start, i.lex = t.Start, from
	}
	i.afterDot = isPunct(i.before, '.')
	i.whole, i.literal = i.literal, t.Kind == sqlscan.TokenString && i.last.Kind == sqlscan.TokenWord && !i.afterDot && isWhole(i.last, t)
	i.before, i.last = i.last, t
	i.n++
	i.closing = false
	switch {
	case t.Kind != sqlscan.TokenWord:
	case t.Is("as"):
		i.as = true
	case t.Is("case"):
		i.cases++
	case t.Is("end") && i.cases > 0:
		i.cases--
		i.closing = true
	case t.Is("interval"):
		i.intervals++
	case i.intervals > 0 && isOneOf(t, units):
		i.intervals--
		i.closing = true
	}
}

// named reports whether the item has a name of its own: with AS, or as a last name behind what ends an operand.
func (i *selectItem) named() bool {
	t, p := i.last, i.before
	if i.as || i.n < 2 || i.closing {
		return i.as
	}
	switch t.Kind {
	case sqlscan.TokenWord, sqlscan.TokenQuotedIdent:
	case sqlscan.TokenString:
		if p.Kind == sqlscan.TokenString {
			return i.whole
		}
		if i.literal || p.Kind == sqlscan.TokenWord && !i.afterDot && introduces(p, t) {
			return false
		}
	default:
		return false
	}
	switch p.Kind {
	case sqlscan.TokenPunct:
		return isPunct(p, ')') || isPunct(p, '}') || isPunct(p, '?')
	case sqlscan.TokenWord:
		return i.afterDot || !isOneOf(p, operators)
	}
	return true
}

// operators are the words behind which an operand, and so no name, comes.
var operators = words("and or xor not div mod like rlike regexp escape is in between collate binary over else then when case " +
	"interval for sounds against using prior as all distinct distinctrow high_priority straight_join sql_small_result " +
	"sql_big_result sql_buffer_result sql_cache sql_no_cache sql_calc_found_rows")

// units end an INTERVAL.
var units = words("microsecond second minute hour day week month quarter year second_microsecond minute_microsecond " +
	"minute_second hour_microsecond hour_second hour_minute day_microsecond day_second day_minute day_hour year_month " +
	"sql_tsi_second sql_tsi_minute sql_tsi_hour sql_tsi_day sql_tsi_week sql_tsi_month sql_tsi_quarter sql_tsi_year")

// options stand between SELECT and its first item.
var options = words("all distinct distinctrow high_priority straight_join sql_small_result sql_big_result sql_buffer_result " +
	"sql_cache sql_no_cache sql_calc_found_rows")

// clauses end a select list. WINDOW is not one of them, since it can be a name; a list in front of it has tables.
var clauses = words("from into where group having order limit union except intersect for lock procedure offset fetch on returning")

func words(list string) [][]byte { return bytes.Fields([]byte(list)) }

func isOneOf(t sqlscan.Token, list [][]byte) bool {
	return t.Kind == sqlscan.TokenWord && slices.ContainsFunc(list, func(w []byte) bool { return bytes.EqualFold(t.Text, w) })
}

// introduces reports whether the word p begins a text with the string t: _utf8'…', N'…'.
func introduces(p, t sqlscan.Token) bool { return p.Text[0] == '_' || p.Is("n") && p.End == t.Start }

// isWhole reports whether the word p makes a literal of the string t that is no text: x'…', DATE '…'.
func isWhole(p, t sqlscan.Token) bool {
	return p.Is("date") || p.Is("time") || p.Is("timestamp") || (p.Is("x") || p.Is("b")) && p.End == t.Start
}

// longestName is more than the server keeps of a name, 256 bytes; longestColumn is how many characters it allows a table.
const (
	longestName   = 300
	longestColumn = 64
)

// name is what the server names the item by: its text. Comments inside belong to it, and behind a comma those in front,
// too; the markers of executable ones don't.
func (i *selectItem) name(sql []byte) []byte {
	var name []byte
	lex := i.lex
	for end := i.start; end < i.last.End && len(name) < longestName; {
		t := lex.Next()
		name = sqlscan.AppendGap(name, sql[end:t.Start])
		if end == i.start {
			name = bytes.TrimLeft(name, " \t\n\v\f\r")
		}
		name = append(name, sql[t.Start:t.End]...)
		end = t.End
	}
	for len(name) > longestName && !utf8.RuneStart(name[longestName]) {
		name = name[:len(name)-1]
	}
	return name[:min(len(name), longestName)]
}

// appendString appends s as a string literal.
func appendString(dst, s []byte, mode sqlscan.Mode) []byte {
	dst = append(dst, '\'')
	for _, c := range s {
		if c == '\'' || c == '\\' && mode&sqlscan.NoBackslashEscapes == 0 {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '\'')
}
