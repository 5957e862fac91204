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
	{"rowcount", "ROW_COUNT() is the backend connection's, and another session may have used that", nil},
	{"foundrows", "FOUND_ROWS() without SQL_CALC_FOUND_ROWS is the backend connection's, likewise", nil},
	{"warnings", "SHOW WARNINGS, GET DIAGNOSTICS and @@warning_count are the backend connection's, likewise", nil},
	{"connectionid", "CONNECTION_ID() is the backend's", nil},
	{"lastval", "LASTVAL() and PREVIOUS VALUE are the backend connection's", nil},
	{"kill", "KILL is answered in the proxy's own terms, and refused when prepared", nil},
	{"preparedcontext", "a binary prepared statement is not bound to the schema, sql_mode and character set of its prepare", nil},
	{"returning", "the id of INSERT … RETURNING is not noticed", nil},
	{"autoisnull", "id IS NULL under sql_auto_is_null is not seen to ask for the last id", nil},
	{"multioption", "COM_RESET_CONNECTION does not undo COM_SET_OPTION, and the proxy thinks so", nil},
	{"readonlyoption", "COM_SET_OPTION's answer does not say that the transaction is read only", nil},
	{"resultcollation", "the collation of results, which no variable shows, is lost when single character sets are set", nil},
	{"trackedroutine", "a routine in another schema leaves a tracker's entry for the next OK", nil},
	{"resetinsertid", "LAST_INSERT_ID() comes back some statements after a COM_RESET_CONNECTION or COM_CHANGE_USER", nil},
	{"preparedvariable", "preparing SET @a makes the variable exist, and that stays on the connection", nil},
	{"setstatement", "the sql_mode of SET STATEMENT shows in the status of later answers of the proxy's own", nil},
	{"release", "COMMIT RELEASE ends the backend's session: the next client finds its connection dead, and its own client lives on", nil},
	{"oneshotvariable", "SET @@tx_isolation without a scope is not seen to be for the next transaction only", nil},
	{"multieffects", "a text of several statements that fails early is taken to have dropped what a later one would have", nil},
	{"trackersoff", "a session that turns trackers off and changes its schema leaves that to whoever gets its connection", nil},
	{"xaprepare", "a connection that is reset behind XA PREPARE refuses every table from then on, and is used again", nil},
	{"eofstate", "an EOF of the server's says that state has changed even to a client that does not track",
		func(p *packet) { p.clearEOF(wire.StatusSessionState) }},
	{"variablemetadata", "a user variable that was another client's and is NULL now has a type and a length", (*packet).clearVariable},
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
