// Package sqlscan reads what a proxy must know from SQL text in one pass, without parsing it.
//
// [Scan] answers, for every statement: which words does it begin with, where are its comments, and does anything in it read or
// change state of its session. It allocates nothing. What it marks is a superset: a mark may be raised for a statement that
// turns out to be harmless, never the other way round. A statement with marks can be walked token by token with a [Lexer].
//
//	st := sqlscan.Scan(text, mode)
//	for _, c := range st.Comments() {
//		readTags(text[c.Start:c.End])
//	}
//	if st.First == sqlscan.Set || st.Flags&sqlscan.Temporary != 0 {
//		l := sqlscan.NewLexer(text, mode)
//		for t := l.Next(); t.Kind != sqlscan.TokenEnd; t = l.Next() {
//			…
//		}
//	}
//
// The rules are those of the server's own lexer (sql_lex.cc in MySQL and MariaDB), including the odd ones: a number may be
// followed by a word with no space between (1.5INTO @x), a line comment ends at a NUL byte, an executable comment is closed by
// the first "*/" that is code.
//
// Three things depend on more than the text. The session's sql_mode is passed in as [Mode]. The version in /*!50000 … */ is
// ignored: such comments are read as code that runs ([Executable] says that there was one), while a server older than the
// version skips it, quotes included. And the text must be in a character set whose multi-byte characters hold no ASCII bytes
// (utf8mb4, latin1; not gbk, big5, sjis, cp932, gb18030), since a trail byte could look like a quote or a backslash.
package sqlscan
