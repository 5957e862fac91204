package invisible

import (
	"fmt"
	"slices"
	"strings"
)

// Exclusion is a part of the grammar that is left out because conntag is known to answer it otherwise than a server.
type Exclusion struct {
	Name   string
	Reason string
}

// Exclusions are the known differences. When one is mended, its entry goes.
var Exclusions = []Exclusion{
	{"rowcount", "ROW_COUNT() is the backend connection's, and another session may have used that"},
	{"foundrows", "FOUND_ROWS() without SQL_CALC_FOUND_ROWS is the backend connection's, likewise"},
	{"warnings", "SHOW WARNINGS, GET DIAGNOSTICS and @@warning_count are the backend connection's, likewise"},
	{"connectionid", "CONNECTION_ID() is the backend's"},
	{"lastval", "LASTVAL() and PREVIOUS VALUE are the backend connection's"},
	{"kill", "KILL is answered in the proxy's own terms, and refused when prepared"},
}

// with returns the names of the exclusions that stay when the named ones are switched on again.
func with(on []string) (map[string]bool, error) {
	off := map[string]bool{}
	for _, e := range Exclusions {
		off[e.Name] = true
	}
	for _, name := range on {
		if !off[name] {
			return nil, fmt.Errorf("no exclusion is called %q; there are: %s", name, ExclusionNames())
		}
		delete(off, name)
	}
	return off, nil
}

// ExclusionNames are all names, with commas.
func ExclusionNames() string {
	var names []string
	for _, e := range Exclusions {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
