package invisible

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/conntag/conntag/proxy/wire"
)

// Difference is where a client could tell conntag from a server.
type Difference struct {
	Step            Step
	At              int // index of Step in the steps that were played
	Direct, Proxied string
	in              string // which part of the packet differs
}

func (d *Difference) String() string {
	return fmt.Sprintf("%s\n  direct:  %s\n  conntag: %s", d.Step, d.Direct, d.Proxied)
}

// Kind tells differences apart while a case shrinks, so that it does not end as another one: the command, and in what
// the sides differ, without the values.
func (d *Difference) Kind() string { return string(d.Step.Op.Verb) + ": " + d.in }

// compare returns the first difference between what the two sides said; nil when there is none.
func compare(direct, proxied Answer) *Difference {
	for i := range max(len(direct.packets), len(proxied.packets)) {
		if i < len(direct.packets) && i < len(proxied.packets) && direct.packets[i] == proxied.packets[i] {
			continue
		}
		return &Difference{Direct: direct.tell(i), Proxied: proxied.tell(i), in: parts(direct.at(i), proxied.at(i))}
	}
	if direct.lost != proxied.lost {
		return &Difference{Direct: direct.tell(len(direct.packets)), Proxied: proxied.tell(len(proxied.packets)), in: "connection"}
	}
	return nil
}

// refusedByLock says that one side ran into a lock and the other did not.
func (d *Difference) refusedByLock() bool {
	return strings.Contains(d.in, fmt.Sprintf("%s 1205", packetErr))
}

func (a Answer) at(i int) packet {
	if i < len(a.packets) {
		return a.packets[i]
	}
	return packet{kind: "nothing"}
}

// parts names what differs between two packets that are not the same.
func parts(a, b packet) string {
	if a.kind != b.kind {
		return string(a.kind) + a.code() + " or " + string(b.kind) + b.code()
	}
	words := []string{string(a.kind)}
	note := func(word string, differs bool) {
		if differs {
			words = append(words, word)
		}
	}
	switch a.kind {
	case packetOK:
		x, _ := wire.ParseOK([]byte(a.payload), true)
		y, _ := wire.ParseOK([]byte(b.payload), true)
		note("affected", x.AffectedRows != y.AffectedRows)
		note("id", x.InsertID != y.InsertID)
		note("warnings", x.Warnings != y.Warnings)
		note("info", !bytes.Equal(x.Info, y.Info))
		note("state", !bytes.Equal(x.State, y.State))
		note(status(x.Status^y.Status), x.Status != y.Status)
	case packetEOF:
		note("warnings", a.payload[1:3] != b.payload[1:3])
		x, y := binary.LittleEndian.Uint16([]byte(a.payload[3:])), binary.LittleEndian.Uint16([]byte(b.payload[3:]))
		note(status(wire.Status(x^y)), x != y)
	case packetErr:
		note(strings.TrimSpace(a.code()+b.code()), a.code() != b.code())
	}
	return strings.Join(words, " ")
}

// code is an ERR's, with a space in front; "" for other packets.
func (p packet) code() string {
	if p.kind != packetErr {
		return ""
	}
	return fmt.Sprintf(" %d", wire.ErrCode([]byte(p.payload)))
}

// tell says what came at place i of an answer.
func (a Answer) tell(i int) string {
	switch {
	case i < len(a.packets):
		return a.packets[i].String()
	case a.lost != "":
		return "connection lost: " + a.lost
	}
	return "no further packet"
}
