package invisible

import (
	"fmt"
	"strings"
)

// Difference is where a client could tell conntag from a server.
type Difference struct {
	Step            Step
	At              int // index of Step in the steps that were played
	Direct, Proxied string
}

func (d *Difference) String() string {
	return fmt.Sprintf("%s\n  direct:  %s\n  conntag: %s", d.Step, d.Direct, d.Proxied)
}

// Kind tells differences apart while a case shrinks, so that it does not end as another one: the command, and what each
// side said, without the values.
func (d *Difference) Kind() string {
	return string(d.Step.Op.Verb) + "/" + firstWords(d.Direct) + "/" + firstWords(d.Proxied)
}

// firstWords is a packet's kind, and an ERR's code.
func firstWords(text string) string {
	words := strings.Fields(text)
	if len(words) < 3 {
		return text
	}
	if words[1] == string(packetErr) {
		return words[1] + words[2]
	}
	return words[1]
}

// compare returns the first difference between what the two sides said; nil when there is none.
func compare(direct, proxied Answer) *Difference {
	for i := range max(len(direct.packets), len(proxied.packets)) {
		if i < len(direct.packets) && i < len(proxied.packets) && direct.packets[i] == proxied.packets[i] {
			continue
		}
		return &Difference{Direct: direct.tell(i), Proxied: proxied.tell(i)}
	}
	if direct.lost != proxied.lost {
		return &Difference{Direct: direct.tell(len(direct.packets)), Proxied: proxied.tell(len(proxied.packets))}
	}
	return nil
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
