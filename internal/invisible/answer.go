package invisible

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/conntag/conntag/proxy/wire"
)

// packetKind is what a packet is in its reply: only the reader of a whole reply knows.
type packetKind string

const (
	packetOK       packetKind = "OK"
	packetErr      packetKind = "ERR"
	packetEOF      packetKind = "EOF"
	packetColumns  packetKind = "columns"
	packetColumn   packetKind = "column"
	packetRow      packetKind = "row"
	packetPrepared packetKind = "prepared"
	packetInfile   packetKind = "infile"
	packetText     packetKind = "text"
	packetAuth     packetKind = "auth"
)

// packet is one packet of a reply. What may differ between two connections is blank in it: see blank.
type packet struct {
	kind    packetKind
	seq     byte
	payload string
}

// Answer is what a client saw of one command.
type Answer struct {
	packets []packet
	lost    string // why there is no more: the connection broke, or the reply made no sense
}

// numbered are the messages that name a statement by its id on one connection.
var numbered = regexp.MustCompile(`\(\d+\)`)

// listed is such a message as a row of SHOW WARNINGS has it, behind its length.
var listed = regexp.MustCompile(`(?s).(Unknown prepared statement handler )\(\d+\)`)

// querySlow is a status bit that depends on the clock.
const querySlow = 0x0800

// blank takes out of a packet what may differ: a statement's id, the salt of a login, the bit for slow statements and the
// figures of COM_STATISTICS.
func (p *packet) blank() {
	b := []byte(p.payload)
	switch p.kind {
	case packetPrepared:
		binary.LittleEndian.PutUint32(b[1:], 0)
	case packetErr:
		switch wire.ErrCode(b) {
		case 1243, 1421:
			b = numbered.ReplaceAll(b, []byte("(#)"))
		}
	case packetEOF:
		b[4] &^= querySlow >> 8
	case packetOK:
		if ok, valid := wire.ParseOK(b, true); valid {
			ok.Status &^= querySlow
			ok.State = sortedState(ok.State)
			b = ok.AppendOK(nil)
			binary.LittleEndian.PutUint16(b[statusAt(b):], uint16(ok.Status)) // as it was said, fitting or not
		}
	case packetRow:
		b = listed.ReplaceAll(b, []byte("$1(#)"))
	case packetText:
		b = nil
	case packetAuth:
		name, _, _ := strings.Cut(p.payload, "\x00")
		b = []byte(name)
	}
	p.payload = string(b)
}

// sortedState puts a report's variables in order: a server's own is that of a hash table, and differs between two servers.
func sortedState(state []byte) []byte {
	var entries []string
	t := wire.NewTracks(state)
	for {
		e, ok := t.Next()
		if !ok {
			break
		}
		entries = append(entries, fmt.Sprintf("%d %s=%s;", e.Kind, e.Name, e.Value))
	}
	slices.Sort(entries)
	return []byte(strings.Join(entries, ""))
}

// clearEOF blanks bits of an EOF's status.
func (p *packet) clearEOF(bits wire.Status) {
	if p.kind == packetEOF {
		b := []byte(p.payload)
		binary.LittleEndian.PutUint16(b[3:], binary.LittleEndian.Uint16(b[3:])&^uint16(bits))
		p.payload = string(b)
	}
}

// clearLateSchema takes a schema out of what an OK tells of session state, when it comes behind something else.
func (p *packet) clearLateSchema() {
	ok, valid := wire.ParseOK([]byte(p.payload), true)
	if p.kind != packetOK || !valid || len(ok.State) == 0 {
		return
	}
	first := true
	ok.State = wire.FilterTracks([]byte(string(ok.State)), func(t wire.Track) bool {
		keep := first || t.Kind != wire.TrackSchema
		first = false
		return keep
	})
	p.payload = string(ok.AppendOK(nil))
}

// statusAt is where an OK packet's status begins, behind two numbers.
func statusAt(p []byte) int {
	_, n := lenInt(p[1:])
	_, m := lenInt(p[1+n:])
	return 1 + n + m
}

// lenInt reads a length-encoded integer and says how many bytes it takes.
func lenInt(p []byte) (value uint64, size int) {
	if len(p) == 0 {
		return 0, 0
	}
	size = map[byte]int{0xfc: 3, 0xfd: 4, 0xfe: 9}[p[0]]
	if size == 0 || len(p) < size {
		return uint64(p[0]), 1
	}
	for i := size - 1; i > 0; i-- {
		value = value<<8 | uint64(p[i])
	}
	return value, size
}

// String shows a packet as a person would tell of it.
func (p packet) String() string {
	b := []byte(p.payload)
	text := strconv.Quote(p.payload)
	switch p.kind {
	case packetOK:
		if ok, valid := wire.ParseOK(b, true); valid {
			text = fmt.Sprintf("affected %d, id %d, status %s, %d warnings", ok.AffectedRows, ok.InsertID, status(ok.Status), ok.Warnings)
			if len(ok.Info) > 0 {
				text += fmt.Sprintf(", info %q", ok.Info)
			}
			if len(ok.State) > 0 {
				text += fmt.Sprintf(", state %q", ok.State)
			}
		}
	case packetErr:
		text = wire.ParseErr(b).Error()
	case packetEOF:
		text = fmt.Sprintf("status %s, %d warnings", status(wire.Status(binary.LittleEndian.Uint16(b[3:]))), binary.LittleEndian.Uint16(b[1:]))
	}
	return fmt.Sprintf("%d %s %s", p.seq, p.kind, text)
}

// statusWords name the bits of a status that a case is likely to turn on.
var statusWords = []struct {
	bit  wire.Status
	word string
}{
	{wire.StatusInTrans, "trans"}, {wire.StatusAutocommit, "autocommit"}, {wire.StatusMoreResults, "more"},
	{wire.StatusCursorExists, "cursor"}, {wire.StatusLastRowSent, "last-row"}, {wire.StatusDBDropped, "dropped"},
	{wire.StatusNoBackslashEscapes, "no-backslash"}, {wire.StatusPSOutParams, "out-params"}, {wire.StatusSessionState, "state"},
	{wire.StatusAnsiQuotes, "ansi-quotes"},
}

func status(s wire.Status) string {
	var words []string
	for _, w := range statusWords {
		if s&w.bit != 0 {
			words = append(words, w.word)
			s &^= w.bit
		}
	}
	if s != 0 || words == nil {
		words = append(words, fmt.Sprintf("%#x", uint16(s)))
	}
	return strings.Join(words, "+")
}

// failed is the code of the ERR that ended the answer; 0: none.
func (a Answer) failed() uint16 {
	if n := len(a.packets); n > 0 && a.packets[n-1].kind == packetErr {
		return wire.ErrCode([]byte(a.packets[n-1].payload))
	}
	return 0
}
