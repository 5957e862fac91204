package attribution

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// InvalidName is the name of every caller whose tag is not valid UTF-8.
const InvalidName = "__invalid__"

// maxName is the longest name in bytes.
const maxName = 64

// CleanName makes a caller's name of a tag's value, the same for the same bytes always:
//
//   - a value that is not valid UTF-8 becomes InvalidName as a whole;
//   - control and format characters (newline, NUL, tab, text direction) are removed, then blanks at both ends;
//   - the name is cut to 64 bytes, never inside a character;
//   - names that begin with "__" are ours: more than one leading "_" becomes one, "__other__" is charged to "_other__";
//   - an empty result means untagged.
//
// The result is raw itself when there is nothing to do, else it stands in dst; 64 bytes of capacity there keep it from
// allocating. dst may be the memory of raw, from its first byte on.
func CleanName(raw, dst []byte) []byte {
	if isClean(raw) {
		return raw
	}
	if !utf8.Valid(raw) {
		return append(dst[:0], InvalidName...)
	}
	dst = dst[:0]
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		if len(dst)+size > maxName {
			break
		}
		leading := len(dst) == 0 && unicode.IsSpace(r)
		if !leading && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			dst = append(dst, raw[i:i+size]...)
		}
		i += size
	}
	dst = bytes.TrimRightFunc(dst, unicode.IsSpace)
	for isReserved(dst) {
		dst = dst[1:]
	}
	return dst
}

// isClean recognises what nearly every tag is: short, printable ASCII.
func isClean(raw []byte) bool {
	if len(raw) == 0 || len(raw) > maxName || raw[0] == ' ' || raw[len(raw)-1] == ' ' || isReserved(raw) {
		return false
	}
	for _, c := range raw {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func isReserved(name []byte) bool { return len(name) > 1 && name[0] == '_' && name[1] == '_' }
