package sqlscan

import "bytes"

// TokenKind is the kind of a Token.
type TokenKind uint8

// The kinds. Text holds no quotes and no @; Quote tells which quote stood around it, zero for none.
const (
	TokenEnd         TokenKind = iota // the text's end; every later Next gives it again
	TokenWord                         // a keyword or an identifier without quotes; also \N
	TokenQuotedIdent                  // `name`, and "name" with AnsiQuotes
	TokenString                       // 'text', and "text" without AnsiQuotes; escapes are still in it
	TokenNumber                       // 12, 1.5e3, .5, 0x1F, 0b01
	TokenUserVar                      // @name, @'name', @`name`
	TokenSysVar                       // @@name, @@session.name as far as no blank stands in it; inner quotes are kept
	TokenPunct                        // any other byte, one at a time
)

// Token is one token of a text; Text points into that text. Start and End are the byte offsets of all of it, with quotes and @.
type Token struct {
	Kind       TokenKind
	Quote      byte
	Start, End uint32
	Text       []byte
}

// Is reports whether t is the word, which is given in lower case; quoted identifiers are no words.
func (t Token) Is(word string) bool { return t.Kind == TokenWord && equalFold(t.Text, word) }

// Ident gives the name that t stands for: quotes are gone and doubled quotes undone. Case stays.
func (t Token) Ident() string {
	if t.Quote == 0 || bytes.IndexByte(t.Text, t.Quote) < 0 {
		return string(t.Text)
	}
	q := string(t.Quote)
	return string(bytes.ReplaceAll(t.Text, []byte(q+q), []byte(q)))
}

func (t Token) isPunct(c byte) bool { return t.Kind == TokenPunct && t.Text[0] == c }

// Lexer walks a text token by token. Comments are skipped, executable comments entered. Copying a Lexer is how to look ahead.
type Lexer struct {
	sql          []byte
	pos          int
	mode         Mode
	executable   bool
	unterminated bool
}

// NewLexer starts at the begin of sql.
func NewLexer(sql []byte, mode Mode) Lexer { return Lexer{sql: sql, mode: mode} }

// Unterminated reports whether a quote or a comment before the current position was not closed.
func (l *Lexer) Unterminated() bool { return l.unterminated }

// Next returns the next token. A string or quoted name without its closing quote reaches to the text's end.
func (l *Lexer) Next() Token {
	l.skip()
	i := l.pos
	if i == len(l.sql) {
		if l.executable {
			l.unterminated = true
		}
		return Token{Kind: TokenEnd, Start: uint32(i), End: uint32(i)}
	}
	switch class[l.sql[i]] {
	case letter:
		end := word(l.sql, i)
		return l.take(TokenWord, end, i, end)
	case digit:
		return l.number(i)
	case dot:
		if i+1 < len(l.sql) && class[l.sql[i+1]] == digit {
			return l.number(i)
		}
	case quote, backtick:
		return l.quoted(i)
	case at:
		return l.variable(i)
	case backslash:
		if i+1 < len(l.sql) && l.sql[i+1] == 'N' {
			return l.take(TokenWord, i+2, i, i+2)
		}
	}
	return l.take(TokenPunct, i+1, i, i+1)
}

// take makes the token from the current position to end and steps behind it.
func (l *Lexer) take(kind TokenKind, end, text, textEnd int) Token {
	t := Token{Kind: kind, Start: uint32(l.pos), End: uint32(end), Text: l.sql[text:textEnd:textEnd]}
	l.pos = end
	return t
}

func (l *Lexer) number(i int) Token {
	end, isWord := number(l.sql, i)
	if isWord {
		return l.take(TokenWord, end, i, end)
	}
	return l.take(TokenNumber, end, i, end)
}

func (l *Lexer) quoted(i int) Token {
	q := l.sql[i]
	end, closed := quoted(l.sql, i, l.mode.escapes(q))
	kind := TokenString
	if l.mode.identifies(q) {
		kind = TokenQuotedIdent
	}
	l.unterminated = l.unterminated || !closed
	t := l.take(kind, end, i+1, inner(end, closed))
	t.Quote = q
	return t
}

func (l *Lexer) variable(i int) Token {
	if i+1 < len(l.sql) && l.sql[i+1] == '@' {
		end, _, _, closed := sysVar(l.sql, i+2, l.mode)
		l.unterminated = l.unterminated || !closed
		return l.take(TokenSysVar, end, i+2, end)
	}
	end, name, nameEnd, closed := userVar(l.sql, i+1, l.mode)
	l.unterminated = l.unterminated || !closed
	t := l.take(TokenUserVar, end, name, nameEnd)
	if name == i+2 {
		t.Quote = l.sql[i+1]
	}
	return t
}

// skip steps over blanks and comments.
func (l *Lexer) skip() {
	for l.pos < len(l.sql) {
		i := l.pos
		switch class[l.sql[i]] {
		case space:
			l.pos++
		case hash:
			l.pos = lineComment(l.sql, i)
		case dash:
			if !isLineComment(l.sql, i) {
				return
			}
			l.pos = lineComment(l.sql, i)
		case slash:
			if i+1 == len(l.sql) || l.sql[i+1] != '*' {
				return
			}
			l.comment(i)
		case star:
			if !l.executable || i+1 == len(l.sql) || l.sql[i+1] != '/' {
				return
			}
			l.executable = false
			l.pos += 2
		default:
			return
		}
	}
}

func (l *Lexer) comment(i int) {
	if code, ok := executable(l.sql, i); ok {
		l.executable = true
		l.pos = code
		return
	}
	end, closed := blockComment(l.sql, i)
	l.unterminated = l.unterminated || !closed
	l.pos = end
}
