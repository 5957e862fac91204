package sqlscan

// place is where in a statement the scan stands.
type place uint8

const (
	inside    place = iota // behind the second token
	afterVerb              // the next token is the second one
	atVerb                 // the next token is the first one
)

// scanner holds what is rarely touched; the position stays in a local variable of Scan, for speed.
type scanner struct {
	Statement
	place      place
	verb       Keyword // first word of the current statement
	started    bool    // Body is set
	semicolons bool    // a ";" went by
	executable bool    // inside /*! … */
}

// Scan reads a text in one pass. It allocates nothing and keeps nothing of sql. An empty text, and one of comments only, has
// First == KeywordNone.
func Scan(sql []byte, mode Mode) Statement {
	var s scanner
	s.place = atVerb
	for i := 0; i < len(sql); {
		c := sql[i]
		if c == ' ' {
			i++
			continue
		}
		switch class[c] {
		case space:
			i++

		case letter:
			end := i + 1
			for end < len(sql) && class[sql[end]] <= digit {
				end++
			}
			if s.place != inside {
				s.begin(i, keywordOf(sql[i:end]))
			}
			if markerLengths[c]>>uint(end-i)&1 != 0 {
				s.Flags |= marks(sql[i:end], false, s.verb, s.lexer(sql, end, mode))
			}
			i = end

		case digit:
			i = s.number(sql, i)

		case dot:
			if i+1 < len(sql) && class[sql[i+1]] == digit {
				i = s.number(sql, i)
			} else {
				s.other(i)
				i++
			}

		case quote, backtick:
			s.other(i)
			if end := simpleQuoted(sql, i); end > 0 && markerLengths[sql[i+1]]>>uint(end-i-2)&1 == 0 {
				i = end
			} else {
				i = s.quoted(sql, i, mode)
			}

		case at:
			s.other(i)
			i = s.variable(sql, i, mode)

		case slash:
			i = s.slash(sql, i)

		case star:
			if s.executable && i+1 < len(sql) && sql[i+1] == '/' {
				s.executable = false
				i += 2
			} else {
				s.other(i)
				i++
			}

		case dash:
			if isLineComment(sql, i) {
				i = s.lineComment(sql, i)
			} else {
				s.other(i)
				i++
			}

		case hash:
			i = s.lineComment(sql, i)

		case colon:
			s.other(i)
			if i+1 < len(sql) && sql[i+1] == '=' {
				s.Flags |= AssignsUserVar
			}
			i++

		case semicolon:
			s.semicolon(i)
			i++

		case paren:
			if s.place == atVerb {
				s.token(i)
			} else {
				s.place = inside
			}
			i++

		case backslash: // \N is NULL, and the next word may follow at once
			if i+1 < len(sql) && sql[i+1] == 'N' {
				if s.place != inside {
					s.begin(i, KeywordOther)
				}
				i += 2
			} else {
				s.other(i)
				i++
			}

		default:
			s.other(i)
			i++
		}
	}
	return s.end(sql)
}

// token notes a token at a statement's begin.
func (s *scanner) token(i int) {
	s.start(i)
	if s.semicolons {
		s.Flags |= MultiStatement
		s.Flags &^= Trailing
	}
}

func (s *scanner) start(i int) {
	if !s.started {
		s.started = true
		s.Body = uint32(i)
	}
}

// begin notes the first or second token of a statement.
func (s *scanner) begin(i int, k Keyword) {
	if s.place == atVerb {
		s.token(i)
		s.verb = k
		if !s.semicolons {
			s.First = k
		}
	} else if !s.semicolons {
		s.Second = k
	}
	s.place--
}

// other notes a token that is not a word.
func (s *scanner) other(i int) {
	if s.place != inside {
		s.begin(i, KeywordNone)
		s.place = inside
	}
}

func (s *scanner) number(sql []byte, i int) (end int) {
	end, isWord := number(sql, i)
	if !isWord {
		s.other(i)
	} else if s.place != inside {
		s.begin(i, KeywordOther)
	}
	return end
}

func (s *scanner) quoted(sql []byte, i int, mode Mode) (end int) {
	end, closed := quoted(sql, i, mode.escapes(sql[i]))
	if !closed {
		s.Flags |= Unterminated
		return end
	}
	if mode.identifies(sql[i]) && mayMark(sql[i+1:end-1]) {
		s.Flags |= marks(sql[i+1:end-1], true, s.verb, s.lexer(sql, end, mode))
	}
	return end
}

func (s *scanner) variable(sql []byte, i int, mode Mode) (end int) {
	var name, nameEnd int
	var closed bool
	if i+1 < len(sql) && sql[i+1] == '@' {
		s.Flags |= SysVar
		end, name, nameEnd, closed = sysVar(sql, i+2, mode)
		if isScope(sql[name:nameEnd]) {
			s.Flags |= sysVarMarks(scopedName(s.lexer(sql, end, mode)))
		} else {
			s.Flags |= sysVarMarks(sql[name:nameEnd])
		}
	} else {
		s.Flags |= UserVar
		end, _, _, closed = userVar(sql, i+1, mode)
	}
	if !closed {
		s.Flags |= Unterminated
	}
	return end
}

func (s *scanner) slash(sql []byte, i int) (end int) {
	if i+1 == len(sql) || sql[i+1] != '*' {
		s.other(i)
		return i + 1
	}
	if code, ok := executable(sql, i); ok {
		s.start(i)
		s.trailing()
		s.Flags |= Executable
		s.executable = true
		return code
	}
	end, closed := blockComment(sql, i)
	switch {
	case !closed:
		s.Flags |= Unterminated
	case !directive(sql, i):
		s.comment(i, end)
	}
	s.trailing()
	return end
}

func (s *scanner) lineComment(sql []byte, i int) (end int) {
	end = lineComment(sql, i)
	s.comment(i, end)
	s.trailing()
	return end
}

// trailing notes a comment, which is the text's end unless another token comes.
func (s *scanner) trailing() {
	if s.semicolons && s.place == atVerb {
		s.Flags |= Trailing
	}
}

func (s *scanner) semicolon(i int) {
	s.start(i)
	s.semicolons = true
	s.place = atVerb
	s.verb = KeywordNone
}

func (s *scanner) end(sql []byte) Statement {
	if !s.started {
		s.Body = uint32(len(sql))
	}
	if s.executable {
		s.Flags |= Unterminated
	}
	return s.Statement
}

// lexer looks ahead from i.
func (s *scanner) lexer(sql []byte, i int, mode Mode) Lexer {
	return Lexer{sql: sql, pos: i, mode: mode, executable: s.executable}
}
