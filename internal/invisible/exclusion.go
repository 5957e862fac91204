package invisible

import (
	"fmt"
	"strings"

	"github.com/conntag/conntag/proxy/wire"
)

// Exclusion is something that conntag is known to answer otherwise than a server. The generator leaves it out, or the
// comparison does not look at it, so that runs go on to find what is not known yet.
type Exclusion struct {
	Name   string
	Reason string
	blank  func(*packet) // takes it out of what is compared; nil: the generator leaves it out
}

// Exclusions are the known differences. When one is mended, its entry goes.
var Exclusions = []Exclusion{
	{"lastval", "LASTVAL() and PREVIOUS VALUE are the backend connection's", nil},
	{"kill", "KILL is answered in the proxy's own terms, and refused when prepared", nil},
	{"eofstate", "EOFs say that state has changed when a routine of another schema was loaded, which depends on what the connection has cached",
		func(p *packet) { p.clearEOF(wire.StatusSessionState) }},
	{"trackedroutine", "a routine in another schema leaves a tracker's entry for the next OK", nil},
	{"lateschema", "a statement prepared in another schema leaves the current one's name for the next OK that has something to tell",
		(*packet).clearLateSchema},
	{"stalemode", "a procedure that sets sql_mode leaves its flags in the status of its connection, though the mode itself is back", nil},
	{"metadatachanged", "an execute after a change of its tables does not say so",
		func(p *packet) { p.clearEOF(1 << 10) }},
}

// excluded is a set of exclusions.
type excluded map[string]Exclusion

// without returns the exclusions that stay when the named ones are switched on again.
func without(on []string) (excluded, error) {
	off := excluded{}
	for _, e := range Exclusions {
		off[e.Name] = e
	}
	for _, name := range on {
		if _, known := off[name]; !known {
			return nil, fmt.Errorf("no exclusion is called %q; there are: %s", name, ExclusionNames())
		}
		delete(off, name)
	}
	return off, nil
}

// any says whether one of the names, separated by spaces, is excluded.
func (x excluded) any(names string) bool {
	for name := range strings.FieldsSeq(names) {
		if _, off := x[name]; off {
			return true
		}
	}
	return false
}

// blank takes what is excluded out of an answer.
func (x excluded) blank(a Answer) Answer {
	for _, e := range x {
		for i := range a.packets {
			if e.blank != nil {
				e.blank(&a.packets[i])
			}
		}
	}
	return a
}

// ExclusionNames are all names, with commas.
func ExclusionNames() string {
	var names []string
	for _, e := range Exclusions {
		names = append(names, e.Name)
	}
	return strings.Join(names, ",")
}
