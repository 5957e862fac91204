package sqlscan

// byteClass says what a byte means outside quotes and comments.
type byteClass uint8

// Letters and digits come first: class[c] <= digit is "may continue a word", the test of the innermost loop.
const (
	letter byteClass = iota // a-z A-Z _ $ and every byte of a multi-byte character
	digit
	space
	punct // everything that has no class of its own
	quote // ' and "
	backtick
	dash
	slash
	star
	hash
	at
	dot
	colon
	semicolon
	paren // the opening one
	backslash
)

var class = newClass()

func newClass() (t [256]byteClass) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '$', c >= 0x80:
			t[c] = letter
		case '0' <= c && c <= '9':
			t[c] = digit
		case c == ' ', '\t' <= c && c <= '\r':
			t[c] = space
		default:
			t[c] = punct
		}
	}
	for c, k := range map[byte]byteClass{
		'\'': quote, '"': quote, '`': backtick, '-': dash, '/': slash, '*': star, '#': hash, '@': at,
		'.': dot, ':': colon, ';': semicolon, '(': paren, '\\': backslash,
	} {
		t[c] = k
	}
	return t
}

// equalFold reports whether word is lower, which must be in lower case; only ASCII letters fold.
func equalFold(word []byte, lower string) bool {
	if len(word) != len(lower) {
		return false
	}
	for i, c := range word {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
