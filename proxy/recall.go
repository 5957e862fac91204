package proxy

import (
	"encoding/binary"
	"strconv"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// recall makes what the job reads of the session's last statement be the session's own, whichever connection it runs on:
// where another statement ran there since, known values are written into the text. answered is set when that was not
// enough and the client has its answer already.
func (s *Session) recall(b *backendConn) (answered bool, err error) {
	j := &s.job
	if j.flags&sqlscan.Warnings != 0 && !s.conditionsAreOn(b) {
		s.residue.await(leftDiagnostics)
		switch {
		case len(s.residue.diagnostics) == 0:
			if set, ok := s.diagnosed(j.sql()); ok && j.first == sqlscan.Get {
				j.rewritten = set
				return false, nil
			}
			if err := b.clearConditions(); err != nil {
				return false, err
			}
		case j.first == sqlscan.Show:
			if j.flags&sqlscan.MultiStatement == 0 {
				return s.showConditions(b)
			}
			return true, s.refuse(errDiagnosticsElsewhere)
		case j.first == sqlscan.Get:
			set, ok := s.diagnosed(j.sql())
			if !ok {
				return true, s.refuse(errDiagnosticsElsewhere)
			}
			j.rewritten = set
			return false, nil
		}
	}
	s.answerReads(b, j.sql())
	return false, nil
}

// conditionsAreOn reports whether the connection would show the session's own conditions.
func (s *Session) conditionsAreOn(b *backendConn) bool {
	return b.has(s.residue, leftDiagnostics) || s.residue.owed&leftDiagnostics.set() == 0 && len(s.residue.diagnostics) == 0 && !b.warned
}

// clearConditions makes SHOW WARNINGS show none: a statement that reads a table and is right does it.
func (b *backendConn) clearConditions() error {
	b.intact, b.warned = false, false
	return b.exec(internalTimeout, queryCommand("SELECT 1 FROM (SELECT 1) conntag LIMIT 0"))
}

// answerReads puts known values in the place of reads in sql, which is then what the job runs.
func (s *Session) answerReads(b *backendConn, sql []byte) {
	text, changed := answer(nil, sql, s.state.mode, func(k known, nth int) (int64, bool) {
		if nth > 0 { // of a statement in the same text
			return 0, false
		}
		return s.lastValue(b, k)
	})
	if changed {
		s.job.rewritten = text
	}
}

// lastValue is a value that the connection would not give.
func (s *Session) lastValue(b *backendConn, k known) (n int64, ok bool) {
	left := s.residue
	switch k {
	case knownRowCount:
		return left.rowCount, b.owner != left || !b.intact || left.aside
	case knownFoundRows:
		if b.has(left, leftFoundRows) {
			return 0, false
		}
		left.await(leftFoundRows)
		return int64(left.foundRows), true
	case knownWarningCount, knownErrorCount:
		if s.conditionsAreOn(b) {
			return 0, false
		}
		left.await(leftDiagnostics)
		for _, c := range left.diagnostics {
			if k == knownWarningCount || c.level == "Error" {
				n++
			}
		}
		return n, true
	}
	return 0, false
}

// showConditions answers SHOW WARNINGS and SHOW ERRORS for a session whose conditions were read off another connection. The
// head of the result set is the server's.
func (s *Session) showConditions(b *backendConn) (answered bool, err error) {
	j := &s.job
	show, ok := readShowConditions(j.sql(), s.state.mode)
	switch {
	case !ok: // the server says what is wrong
		return false, nil
	case show.count != "":
		s.answerReads(b, []byte("SELECT "+show.count))
		return false, nil
	}
	b.intact = false
	answers, err := b.ask(internalTimeout, queryCommand("SHOW WARNINGS LIMIT 0"))
	if err != nil {
		return false, err
	}
	out, seq := answers[0].header, byte(len(answers[0].columns)+3)
	if s.login.caps.Has(wire.DeprecateEOF) {
		out, seq = out[:len(out)-wire.HeaderLen-wire.EOFLen], seq-1
	}
	for _, c := range show.pick(s.residue.diagnostics) {
		out, seq = wire.AppendPacket(out, seq, c.appendRow(nil, j.code == wire.ComStmtExecute))
	}
	out, _ = wire.AppendPacket(out, seq, s.appendEnd(nil))
	s.residue.counted(-1)
	_, err = s.client.Write(out)
	s.rest()
	return true, err
}

// appendRow encodes the condition as a row of SHOW WARNINGS.
func (c *condition) appendRow(dst []byte, binaryRow bool) []byte {
	if !binaryRow {
		dst = wire.AppendLenString(wire.AppendLenString(dst, c.level), strconv.Itoa(int(c.code)))
		return wire.AppendLenString(dst, c.message)
	}
	dst = wire.AppendLenString(append(dst, 0, 0), c.level) // a header, and no NULL among three columns
	return wire.AppendLenString(binary.LittleEndian.AppendUint32(dst, uint32(c.code)), c.message)
}

// conditionsShown is what a SHOW WARNINGS or SHOW ERRORS asks for.
type conditionsShown struct {
	count         string // the variable that SHOW COUNT(*) stands for
	errors        bool
	offset, limit uint64
}

func (c *conditionsShown) pick(list []condition) (picked []condition) {
	skip := c.offset
	for _, e := range list {
		switch {
		case c.errors && e.level != "Error":
		case skip > 0:
			skip--
		case uint64(len(picked)) < c.limit:
			picked = append(picked, e)
		}
	}
	return picked
}

// readShowConditions reads SHOW [COUNT(*)] {WARNINGS | ERRORS} [LIMIT [offset,] n | LIMIT n OFFSET offset].
func readShowConditions(sql []byte, mode sqlscan.Mode) (c conditionsShown, ok bool) {
	c.limit = 1 << 63
	lex := sqlscan.NewLexer(sql, mode)
	lex.Next() // SHOW
	t := lex.Next()
	counts := t.Is("count")
	for ; t.Kind != sqlscan.TokenEnd && !t.Is("warnings") && !t.Is("errors"); t = lex.Next() {
	}
	c.errors = t.Is("errors")
	if counts {
		c.count = "@@session.warning_count"
		if c.errors {
			c.count = "@@session.error_count"
		}
		return c, true
	}
	t = lex.Next()
	if !t.Is("limit") {
		return c, t.Kind == sqlscan.TokenEnd || isPunct(t, ';')
	}
	first, err := strconv.ParseUint(string(lex.Next().Text), 10, 63)
	if err != nil {
		return c, false
	}
	c.limit = first
	switch t = lex.Next(); {
	case isPunct(t, ','):
		c.offset = first
		c.limit, err = strconv.ParseUint(string(lex.Next().Text), 10, 63)
	case t.Is("offset"):
		c.offset, err = strconv.ParseUint(string(lex.Next().Text), 10, 63)
	}
	return c, err == nil
}
