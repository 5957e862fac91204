package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// script is one reply as a server writes it, next to what a reader of it must see. It is built from the protocol's
// grammar, never from Reply.
type script struct {
	shape   Shape
	tracked bool
	first   byte // number of the first packet
	bytes   []byte
	seen    []sight
	resume  []byte // for each LOCAL INFILE: number of the server's next packet
	seq     byte
	modern  modernForm
}

// modernForm is the same reply as a server writes it to a client with DeprecateEOF.
type modernForm struct {
	bytes  []byte
	resume []byte
	seq    byte
}

// sight is one event with its packet.
type sight struct {
	ev     Event
	packet string
}

func (s sight) String() string {
	if len(s.packet) > 40 {
		return fmt.Sprintf("%d:%x… (%d bytes)", s.ev, s.packet[:40], len(s.packet))
	}
	return fmt.Sprintf("%d:%x", s.ev, s.packet)
}

// packet appends a packet that a reader passes by.
func (s *script) packet(payload []byte) {
	s.classicPacket(payload)
	s.modernPacket(payload)
}

func (s *script) classicPacket(payload []byte) {
	s.bytes, s.seq = AppendPacket(s.bytes, s.seq, payload)
}

func (s *script) modernPacket(payload []byte) {
	s.modern.bytes, s.modern.seq = AppendPacket(s.modern.bytes, s.modern.seq, payload)
}

// event appends a packet that a reader stops at.
func (s *script) event(ev Event, payload []byte) {
	s.packet(payload)
	s.seen = append(s.seen, sight{ev, string(payload)})
}

// eof ends rows, a cursor's definitions or a whole reply.
func (s *script) eof(status Status) {
	s.interimEOF(status)
	status &^= StatusSessionState
	s.modernPacket([]byte{0xfe, 0, 0, byte(status), byte(status >> 8), 3, 0})
}

// interimEOF stands behind definitions, where only the classic form has it.
func (s *script) interimEOF(status Status) {
	p := []byte{0xfe, 3, 0, byte(status), byte(status >> 8)}
	s.classicPacket(p)
	s.seen = append(s.seen, sight{EventEOF, string(p)})
}

func newScript(shape Shape, first byte, tracked bool) *script {
	return &script{shape: shape, tracked: tracked, first: first, seq: first, modern: modernForm{seq: first}}
}

// ok appends an OK as a server with or without trackers writes it.
func (s *script) ok(ok OK) {
	p := AppendLenInt(AppendLenInt([]byte{OKHeader}, ok.AffectedRows), ok.InsertID)
	p = binary.LittleEndian.AppendUint16(p, uint16(ok.Status))
	p = binary.LittleEndian.AppendUint16(p, ok.Warnings)
	state := s.tracked && ok.Status&StatusSessionState != 0
	if len(ok.Info) > 0 || state {
		p = AppendLenString(p, string(ok.Info))
	}
	if state {
		p = AppendLenString(p, string(ok.State))
	}
	s.event(EventOK, p)
}

func drawScript(t *rapid.T) *script {
	shapes := []Shape{ShapeNone, ShapeOK, ShapeResults, ShapeResults, ShapeResults, ShapePrepare, ShapeRows, ShapeFields, ShapeString}
	s := newScript(rapid.SampledFrom(shapes).Draw(t, "shape"), rapid.Byte().Draw(t, "first"), rapid.Bool().Draw(t, "tracked"))
	switch s.shape {
	case ShapeOK:
		switch rapid.IntRange(0, 2).Draw(t, "answer") {
		case 0:
			s.ok(drawOK(t, drawStatus(t)))
		case 1:
			s.eof(drawStatus(t))
		default:
			s.failure(t)
		}
	case ShapeResults:
		s.results(t)
	case ShapePrepare:
		s.prepared(t)
	case ShapeRows:
		s.rows(t)
		s.end(t, drawStatus(t))
	case ShapeFields:
		s.definitions(rapid.IntRange(0, 5).Draw(t, "fields"))
		s.end(t, drawStatus(t))
	case ShapeString:
		if rapid.Bool().Draw(t, "fails") {
			s.failure(t)
			break
		}
		s.packet(append([]byte("Uptime: "), rapid.SliceOf(rapid.Byte()).Draw(t, "text")...))
		s.seen = append(s.seen, sight{EventEnd, ""})
	}
	return s
}

// drawStatus leaves out the two bits that change how a reply goes on.
func drawStatus(t *rapid.T) Status {
	return Status(rapid.Uint16().Draw(t, "status")) &^ (StatusMoreResults | StatusCursorExists)
}

func drawOK(t *rapid.T, status Status) OK {
	return OK{
		AffectedRows: rapid.Uint64().Draw(t, "affected"),
		InsertID:     rapid.Uint64().Draw(t, "insertID"),
		Status:       status,
		Warnings:     rapid.Uint16().Draw(t, "warnings"),
		Info:         rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "info"),
		State:        rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "state"),
	}
}

func (s *script) failure(t *rapid.T) {
	e := ServerError{Code: rapid.Uint16().Draw(t, "code"), State: "HY000", Message: rapid.String().Draw(t, "message")}
	s.event(EventErr, e.Append(nil))
}

// end closes rows or definitions with an EOF, or with the ERR of a server that was stopped half-way.
func (s *script) end(t *rapid.T, status Status) (failed bool) {
	if rapid.IntRange(0, 5).Draw(t, "end") == 0 {
		s.failure(t)
		return true
	}
	s.eof(status)
	return false
}

func (s *script) results(t *rapid.T) {
	for left := rapid.IntRange(0, 3).Draw(t, "more"); ; left-- {
		status := drawStatus(t)
		if left > 0 {
			status |= StatusMoreResults
		}
		switch rapid.IntRange(0, 4).Draw(t, "result") {
		case 0:
			s.ok(drawOK(t, status))
		case 1:
			s.failure(t)
			return
		case 2:
			s.infile(t)
			s.ok(drawOK(t, status))
		default:
			if !s.resultSet(t, status) {
				return
			}
		}
		if left == 0 {
			return
		}
	}
}

// infile asks for a file; the client's packets and the empty one use up numbers in between.
func (s *script) infile(t *rapid.T) {
	s.event(EventInfile, append([]byte{InfileHeader}, rapid.StringN(1, 40, -1).Draw(t, "file")...))
	packets := byte(rapid.IntRange(1, 300).Draw(t, "file packets"))
	s.seq += packets
	s.modern.seq += packets
	s.resume = append(s.resume, s.seq)
	s.modern.resume = append(s.modern.resume, s.modern.seq)
}

// resultSet reports whether the reply goes on behind it.
func (s *script) resultSet(t *rapid.T, status Status) bool {
	columns := rapid.IntRange(1, 300).Draw(t, "columns")
	s.event(EventColumns, AppendLenInt(nil, uint64(columns)))
	if rapid.IntRange(0, 9).Draw(t, "definitions fail") == 0 {
		s.definitions(columns / 2)
		s.failure(t)
		return false
	}
	s.definitions(columns)
	if rapid.IntRange(0, 4).Draw(t, "cursor") == 0 {
		s.eof(status&^StatusMoreResults | StatusCursorExists)
		return false
	}
	s.interimEOF(status)
	s.rows(t)
	return !s.end(t, status)
}

func (s *script) definitions(n int) {
	for i := range n {
		p := AppendLenString(nil, "def")
		for range 5 {
			p = AppendLenString(p, fmt.Sprintf("name%d", i))
		}
		s.packet(append(p, 0x0c, 45, 0, 0, 1, 0, 0, 0xfd, 0, 0, 0, 0, 0))
	}
}

// rows appends text and binary rows, those included whose first byte is that of another packet.
func (s *script) rows(t *rapid.T) {
	for range rapid.IntRange(0, 300).Draw(t, "rows") {
		switch rapid.IntRange(0, 4).Draw(t, "row") {
		case 0: // NULL in a text row's first column
			s.packet(append([]byte{0xfb}, rapid.SliceOf(rapid.Byte()).Draw(t, "rest")...))
		case 1: // a length of eight bytes: 0xfe, but no EOF
			s.packet(append([]byte{0xfe, 1, 0, 0, 0, 0, 0, 0, 0}, rapid.SliceOf(rapid.Byte()).Draw(t, "rest")...))
		case 2: // a binary row starts like an OK
			s.packet(append([]byte{0}, rapid.SliceOf(rapid.Byte()).Draw(t, "rest")...))
		case 3: // a result without columns of content: an empty packet is a row
			s.packet(nil)
		default:
			s.packet(AppendLenString(nil, string(rapid.SliceOfN(rapid.Byte(), 0, 600).Draw(t, "text"))))
		}
	}
}

func (s *script) prepared(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "refused") == 0 {
		s.failure(t)
		return
	}
	columns, params := rapid.IntRange(0, 4).Draw(t, "columns"), rapid.IntRange(0, 4).Draw(t, "params")
	p := []byte{OKHeader, 1, 2, 3, 4, byte(columns), 0, byte(params), 0, 0, 0, 0}
	s.event(EventPrepared, p)
	for _, n := range []int{params, columns} {
		if n > 0 {
			s.definitions(n)
			s.interimEOF(drawStatus(t))
		}
	}
}

// failer is the part of testing.TB and rapid.T that follow needs.
type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// follow feeds the script, and noise behind it, in the sizes that cut returns, as a relay would: what was settled is
// gone, the rest is shown again with more behind it.
func follow(t failer, s *script, noise []byte, cut func() int) (seen []sight, settled int) {
	t.Helper()
	all := append(bytes.Clone(s.bytes), noise...)
	r := NewReply(s.shape, s.first, s.tracked)
	from, to := 0, 0
	for resumed := 0; !r.Done(); {
		n, ev := r.Next(all[from:to])
		if n < 0 || n > to-from {
			t.Fatalf("settled %d of %d bytes", n, to-from)
		}
		packet := ""
		switch ev {
		case EventBad:
			return append(seen, sight{ev: ev}), from
		case EventMore, EventEnd:
		default:
			packet = string(r.Packet(all[from : from+n]))
		}
		from += n
		if ev != EventMore {
			seen = append(seen, sight{ev, packet})
			if ev == EventInfile {
				r.Resume(s.resume[resumed])
				resumed++
			}
			continue
		}
		if to == len(all) {
			t.Fatalf("asks for more at the end; settled %d of %d, saw %v", from, len(all), seen)
		}
		to = min(len(all), to+cut())
	}
	return seen, from
}

// check follows the script in the given sizes and compares with what it says.
func (s *script) check(t failer, noise []byte, cut func() int) {
	t.Helper()
	seen, settled := follow(t, s, noise, cut)
	if settled != len(s.bytes) {
		t.Fatalf("settled %d bytes, the reply has %d", settled, len(s.bytes))
	}
	if len(seen) != len(s.seen) {
		t.Fatalf("saw %v\nwant %v", seen, s.seen)
	}
	for i := range seen {
		if seen[i] != s.seen[i] {
			t.Fatalf("event %d: saw %v, want %v", i, seen[i], s.seen[i])
		}
	}
}

var _ failer = testing.TB(nil)
