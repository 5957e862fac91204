package attribution

import (
	"bytes"

	"github.com/conntag/conntag/internal/sqlscan"
)

// FindCaller returns the caller's name from the tags in a statement's comments: the value of the first of keys that any comment
// has, and of its first appearance when there are several. Keys are compared without regard to ASCII case. A tag without a
// value counts as absent. ok is false for an untagged statement.
//
// A comment is a list of pairs separated by "," or ";". A pair is key:value, key=value, key='value' or key="value"; it is split
// at its first ":" or "=", so that a value without quotes may hold more of them (Projects::BlobController#show). Blanks around
// keys and values do not count. Inside quotes percent escapes (%2F, and %%2F as some drivers send it) and \' are undone; without
// quotes a value is taken as it stands. comments are those of sqlscan.Statement: hints, executable comments and Vitess directives
// are not among them and never hold tags.
//
// The value points into sql, or, when something had to be undone, into scratch[:0] and what append makes of it. It is raw:
// CleanName makes a name of it.
func FindCaller(sql []byte, comments []sqlscan.Span, keys []string, scratch []byte) (value []byte, ok bool) {
	var found pair
	best := len(keys)
	for _, c := range comments {
		rest := commentBody(sql[c.Start:c.End])
		for len(rest) > 0 && best > 0 {
			var p pair
			p, rest = nextPair(rest)
			if len(p.value) == 0 {
				continue
			}
			if k := indexFold(keys[:best], p.key); k >= 0 {
				best, found = k, p
			}
		}
	}
	if best == len(keys) {
		return nil, false
	}
	if found.quoted {
		return unescape(found.value, scratch[:0]), true
	}
	return found.value, true
}

// commentBody strips a comment's markers. More stars, as in /** … **/, belong to them.
func commentBody(c []byte) []byte {
	switch c[0] {
	case '-':
		return c[len("--"):]
	case '#':
		return c[len("#"):]
	}
	return bytes.Trim(c[len("/*"):len(c)-len("*/")], "*")
}

// pair is one tag; quoted tells that value stood in quotes and may hold escapes.
type pair struct {
	key, value []byte
	quoted     bool
}

// nextPair reads up to the next separator, and returns what is behind it. A piece without ":" or "=" gives a pair without value.
func nextPair(s []byte) (p pair, rest []byte) {
	i := 0
	for i < len(s) && !isSeparator(s[i]) && s[i] != ':' && s[i] != '=' {
		i++
	}
	if i == len(s) || isSeparator(s[i]) {
		return pair{}, s[min(i+1, len(s)):]
	}
	p.key = trimBlanks(s[:i])
	s = trimBlanks(s[i+1:])
	n := quotedLen(s)
	end := n
	for end < len(s) && !isSeparator(s[end]) {
		end++
	}
	if n > 0 {
		p.value, p.quoted = trimBlanks(s[1:n-1]), true
	} else {
		p.value = trimBlanks(s[:end])
	}
	return p, s[min(end+1, len(s)):]
}

// trimBlanks is bytes.TrimSpace for ASCII only: bytes that are not valid UTF-8 pass.
func trimBlanks(s []byte) []byte {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isSeparator(c byte) bool { return c == ',' || c == ';' }

// quotedLen is the length of the quoted value that s begins with, quotes included; 0 when there is none or it is not closed.
func quotedLen(s []byte) int {
	if len(s) == 0 || s[0] != '\'' && s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case s[0]:
			return i + 1
		case '\\':
			i++
		}
	}
	return 0
}

// unescape undoes what sqlcommenter does to a value: \' and then percent encoding. Without either it returns raw itself.
func unescape(raw, dst []byte) []byte {
	if bytes.IndexByte(raw, '%') < 0 && bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '\\' && i+1 < len(raw) && (raw[i+1] == '\'' || raw[i+1] == '"' || raw[i+1] == '\\'):
			i++
			c = raw[i]
		case c == '%':
			digits := raw[i+1:]
			doubled := len(digits) > 0 && digits[0] == '%'
			if doubled {
				digits = digits[1:]
			}
			if b, ok := hexByte(digits); ok {
				c = b
				i = len(raw) - len(digits) + 1
			}
		}
		dst = append(dst, c)
	}
	return dst
}

func hexByte(s []byte) (b byte, ok bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, low := hexDigit(s[0]), hexDigit(s[1])
	return high<<4 | low, high < 16 && low < 16
}

func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

// indexFold finds key among keys without regard to ASCII case, or returns -1.
func indexFold(keys []string, key []byte) int {
	for i, k := range keys {
		if len(k) == len(key) && equalFold(k, key) {
			return i
		}
	}
	return -1
}

func equalFold(a string, b []byte) bool {
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
