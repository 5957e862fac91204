package proxy

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/proxy/wire"
)

// The columns of SHOW PROCESSLIST, in every server's order; more may follow.
const (
	processID = iota
	processUser
	processHost
	processDB
	processCommand
	processTime
	processState
	processInfo
	processColumns
)

// isProcessList reports whether the text is SHOW [FULL] PROCESSLIST and nothing else.
func isProcessList(sql []byte, mode sqlscan.Mode) bool {
	lex := sqlscan.NewLexer(sql, mode)
	lex.Next() // SHOW
	t := lex.Next()
	if t.Is("full") {
		t = lex.Next()
	}
	if !t.Is("processlist") {
		return false
	}
	for t = lex.Next(); isPunct(t, ';'); t = lex.Next() {
	}
	return t.Kind == sqlscan.TokenEnd
}

// processInfo is COM_PROCESS_INFO, the same without words.
func (s *Session) processInfo(cmd command) error {
	s.begin(nil)
	s.job = job{code: cmd.code(), framed: cmd.framed, payload: cmd.payload, nextSeq: cmd.nextSeq, shape: cmd.code().Shape(), processList: true}
	return s.exchange()
}

// inClientTerms writes the server's list of connections anew: backend connections become the sessions that have them, those
// that are idle are nobody's, and sessions without one sleep. Whose connections are shown is the server's decision:
// the sessions of the same backend user are, and all where other users' connections are. A reply that can't be read
// stays as it is.
func (s *Session) inClientTerms(reply []byte) []byte {
	eofs := 1 // behind the definitions
	if s.login.caps.Has(wire.DeprecateEOF) {
		eofs = 0
	}
	header, rows, end := splitList(reply, eofs)
	if end == nil {
		return reply
	}
	columns := int(header[wire.HeaderLen])
	out := slices.Clone(header)
	seq := byte(columns + 2 + eofs) // behind the column count, the definitions and their EOF
	for _, row := range s.processes(rows, columns) {
		var p []byte
		for _, v := range row {
			if v == nil {
				p = append(p, 0xfb)
			} else {
				p = wire.AppendLenString(p, string(v))
			}
		}
		out, seq = wire.AppendPacket(out, seq, p)
	}
	out, _ = wire.AppendPacket(out, seq, end)
	return out
}

// splitList takes a text result set apart: the packets in front of the rows, the rows, and the last packet's payload, which
// is nil when the reply is something else, or has a row of 16 MiB.
func splitList(reply []byte, eofs int) (header []byte, rows [][][]byte, end []byte) {
	columns := 0
	for n, rest := 0, reply; len(rest) >= wire.HeaderLen; n++ {
		size := wire.PayloadLen(rest)
		if size == 0 || size == wire.MaxPayload || wire.HeaderLen+size > len(rest) {
			return nil, nil, nil
		}
		p := rest[wire.HeaderLen : wire.HeaderLen+size]
		rest = rest[wire.HeaderLen+size:]
		switch {
		case n == 0:
			if columns = int(p[0]); len(p) != 1 || columns < processColumns || columns > 250 {
				return nil, nil, nil
			}
		case n == columns+eofs:
			header = reply[:len(reply)-len(rest)]
		case n > columns && len(rest) == 0:
			return header, rows, p
		case n > columns:
			row, ok := wire.ParseTextRow(p, columns)
			if !ok {
				return nil, nil, nil
			}
			rows = append(rows, row)
		}
	}
	return nil, nil, nil
}

// processes turns the server's rows into those that the client sees.
func (s *Session) processes(rows [][][]byte, columns int) [][][]byte {
	srv := s.srv
	holders := map[uint32]*Session{}
	var idle []*Session
	for _, other := range srv.sessions.all() {
		if b := other.backend(); b != nil {
			holders[b.id] = other
		} else if other.view.user.Load() != nil {
			idle = append(idle, other)
		}
	}
	seesAll := slices.ContainsFunc(rows, func(row [][]byte) bool { return string(row[processUser]) != s.login.kind.user })
	var list [][][]byte
	for _, row := range rows {
		id, _ := strconv.ParseUint(string(row[processID]), 10, 32)
		holder := holders[uint32(id)]
		switch {
		case holder != nil && holder.view.user.Load() != nil:
			holder.sign(row)
		case srv.backend.ids.has(uint32(id)):
			continue
		}
		list = append(list, row)
	}
	slices.SortFunc(idle, func(a, b *Session) int { return cmp.Compare(a.id, b.id) })
	for _, other := range idle {
		if seesAll || srv.users[*other.view.user.Load()].kind(0).user == s.login.kind.user {
			list = append(list, other.sleeper(columns))
		}
	}
	return list
}

// sign puts the session's name on a row.
func (s *Session) sign(row [][]byte) {
	row[processID] = strconv.AppendUint(nil, uint64(s.id), 10)
	row[processUser] = []byte(*s.view.user.Load())
	row[processHost] = []byte(s.client.RemoteAddr().String())
}

// sleeper is the row of a session without a backend connection: it sleeps, or waits for one.
func (s *Session) sleeper(columns int) [][]byte {
	row := make([][]byte, columns)
	s.sign(row)
	if schema := s.view.schema.Load(); schema != nil && *schema != "" {
		row[processDB] = []byte(*schema)
	}
	now := s.srv.now()
	row[processCommand], row[processState] = []byte("Sleep"), []byte{}
	age := min(s.meter.IdleFor(now), time.Since(s.view.since))
	if standing := s.meter.Standing(now); standing.Waiting {
		row[processCommand], row[processState] = []byte("Query"), []byte("Waiting for a connection of conntag's pool")
		age = standing.For
	}
	row[processTime] = strconv.AppendInt(nil, int64(age.Seconds()), 10)
	for i := processColumns; i < columns; i++ { // MariaDB's progress
		row[i] = []byte("0.000")
	}
	return row
}
