package sqlscan

import "bytes"

// Each function here is given the offset of a first byte and returns the offset after the last; closed is false where the text
// ended first, and end is then len(sql).

// shortString is where looking at each byte stops being cheaper than two vectorised searches.
const shortString = 64

// quoted skips a string or a quoted identifier that begins at i. A doubled quote does not end it; with escapes, neither does
// one after a backslash.
func quoted(sql []byte, i int, escapes bool) (end int, closed bool) {
	q := sql[i]
	i++
	for short := min(len(sql), i+shortString); i < short; {
		switch c := sql[i]; {
		case c == q:
			if i+1 == len(sql) || sql[i+1] != q {
				return i + 1, true
			}
			i += 2
		case c == '\\' && escapes:
			i += 2
		default:
			i++
		}
	}
	if i >= len(sql) {
		return len(sql), false
	}
	return quotedRest(sql, i, q, escapes)
}

// simpleQuoted skips what nearly every quote holds: a few bytes, none of them a quote or a backslash. It returns 0 when that
// is not so, for quoted to look again.
func simpleQuoted(sql []byte, i int) (end int) {
	q := sql[i]
	i++
	short := min(len(sql)-1, i+shortString)
	for i < short && sql[i] != q && sql[i] != '\\' {
		i++
	}
	if i >= short || sql[i] != q || sql[i+1] == q {
		return 0
	}
	return i + 1
}

// quotedRest is quoted from the middle of a long string on. Both searches only move forward, so that a text made of
// backslashes or doubled quotes costs no more than its length.
func quotedRest(sql []byte, i int, q byte, escapes bool) (end int, closed bool) {
	next := i - 1 // the nearest q at or after i, when next >= i
	for {
		if next < i {
			k := bytes.IndexByte(sql[i:], q)
			if k < 0 {
				return len(sql), false
			}
			next = i + k
		}
		if escapes {
			if k := bytes.IndexByte(sql[i:next], '\\'); k >= 0 {
				i += k + 2
				continue
			}
		}
		if next+1 == len(sql) || sql[next+1] != q {
			return next + 1, true
		}
		i = next + 2
	}
}

// escapes reports whether a backslash escapes inside quotes of kind q.
func (m Mode) escapes(q byte) bool {
	switch q {
	case '\'':
		return m&NoBackslashEscapes == 0
	case '"':
		return m&(NoBackslashEscapes|AnsiQuotes) == 0
	}
	return false
}

// identifies reports whether quotes of kind q hold an identifier, not a string.
func (m Mode) identifies(q byte) bool { return q == '`' || q == '"' && m&AnsiQuotes != 0 }

// word skips letters and digits.
func word(sql []byte, i int) int {
	for i < len(sql) && class[sql[i]] <= digit {
		i++
	}
	return i
}

func digits(sql []byte, i int) int {
	for i < len(sql) && class[sql[i]] == digit {
		i++
	}
	return i
}

// number skips what begins with a digit, or with a dot before a digit. Such a thing may be an identifier ("1st"), and a number
// may end where a word begins without a space ("1.5INTO", "1e0UNION"): both as in lex_one_token, MY_LEX_NUMBER_IDENT.
func number(sql []byte, i int) (end int, isWord bool) {
	start := i
	i = digits(sql, i)
	if i < len(sql) && class[sql[i]] == letter {
		if i == start+1 && sql[start] == '0' && (sql[i] == 'x' || sql[i] == 'b') {
			return based(sql, start)
		}
		if end := exponent(sql, i); end > i {
			return end, false
		}
		return word(sql, i), true
	}
	if i < len(sql) && sql[i] == '.' && (i+1 == len(sql) || sql[i+1] != '.') {
		i = digits(sql, i+1)
		i = exponent(sql, i)
	}
	return i, false
}

// based skips 0x… and 0b…, which are identifiers when a foreign letter is among the digits.
func based(sql []byte, start int) (end int, isWord bool) {
	end = word(sql, start)
	if end == start+2 {
		return end, true
	}
	for _, c := range sql[start+2 : end] {
		binary := c == '0' || c == '1'
		hex := class[c] == digit || 'a' <= c|0x20 && c|0x20 <= 'f'
		if sql[start+1] == 'b' && !binary || !hex {
			return end, true
		}
	}
	return end, false
}

// exponent skips e5, E+5, e-5; it returns i when there is none.
func exponent(sql []byte, i int) int {
	if i == len(sql) || sql[i]|0x20 != 'e' {
		return i
	}
	j := i + 1
	if j < len(sql) && (sql[j] == '+' || sql[j] == '-') {
		j++
	}
	if end := digits(sql, j); end > j {
		return end
	}
	return i
}

// isLineComment reports whether the dash at i begins "-- ": a second dash, then a space, a control character or the end.
func isLineComment(sql []byte, i int) bool {
	if i+1 == len(sql) || sql[i+1] != '-' {
		return false
	}
	return i+2 == len(sql) || sql[i+2] <= ' ' || sql[i+2] == 0x7f
}

// lineComment skips to the end of the line, which is not part of it. The server also ends it at a NUL byte.
func lineComment(sql []byte, i int) int {
	for i < len(sql) && sql[i] != '\n' && sql[i] != 0 {
		i++
	}
	return i
}

// blockComment skips /* … */. "/*/" opens a comment and does not close it.
func blockComment(sql []byte, i int) (end int, closed bool) {
	k := bytes.Index(sql[i+2:], []byte("*/"))
	if k < 0 {
		return len(sql), false
	}
	return i + 2 + k + 2, true
}

// executable reports whether the "/*" at i begins a comment that servers run, and returns where its code begins: after the
// marker and a version of five or six digits.
func executable(sql []byte, i int) (code int, ok bool) {
	switch rest := sql[i+2:]; {
	case len(rest) > 0 && rest[0] == '!':
		code = i + 3
	case len(rest) > 1 && rest[0] == 'M' && rest[1] == '!':
		code = i + 4
	default:
		return 0, false
	}
	if v := digits(sql[:min(len(sql), code+6)], code); v >= code+5 {
		code = v
	}
	return code, true
}

// directive reports whether the "/*" at i begins a comment that speaks to a machine: an optimizer hint or a Vitess directive.
func directive(sql []byte, i int) bool {
	rest := sql[i+2:]
	return len(rest) > 0 && rest[0] == '+' || len(rest) > 2 && rest[2] == '+' && rest[0]|0x20 == 'v' && rest[1]|0x20 == 't'
}

// userVar skips a user variable after its @: a quoted name, or letters, digits and dots; name is what stands between the
// quotes. The name may be empty, and so may a variable's name.
func userVar(sql []byte, i int, mode Mode) (end, name, nameEnd int, closed bool) {
	if i < len(sql) && (class[sql[i]] == quote || class[sql[i]] == backtick) {
		end, closed = quoted(sql, i, mode.escapes(sql[i]))
		return end, i + 1, inner(end, closed), closed
	}
	for end = i; end < len(sql) && (class[sql[end]] <= digit || sql[end] == '.'); {
		end++
	}
	return end, i, end, true
}

// sysVar skips a system variable after its @@, with its scope; name is the last part, without quotes.
func sysVar(sql []byte, i int, mode Mode) (end, name, nameEnd int, closed bool) {
	for {
		if i < len(sql) && (class[sql[i]] == quote || class[sql[i]] == backtick) {
			end, closed = quoted(sql, i, mode.escapes(sql[i]))
			name, nameEnd = i+1, inner(end, closed)
		} else {
			end, closed = word(sql, i), true
			name, nameEnd = i, end
		}
		if end == len(sql) || sql[end] != '.' || end == i {
			return end, name, nameEnd, closed
		}
		i = end + 1
	}
}

// inner is the end of what stands between quotes that end at end.
func inner(end int, closed bool) int {
	if closed {
		return end - 1
	}
	return end
}
