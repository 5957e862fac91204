package invisible

import "github.com/conntag/conntag/proxy/wire"

// Mode is how a case is played.
type Mode string

// The modes.
const (
	S1   Mode = "s1"   // a pool of one; clients take turns
	S2   Mode = "s2"   // a pool of three, and noise that moves clients between its connections
	Free Mode = "free" // all clients at once, each on data of its own
)

// Modes are all of them.
var Modes = []Mode{S1, S2, Free}

// pool is how many backend connections the clients share.
func (m Mode) pool() int {
	switch m {
	case S1:
		return 1
	case S2:
		return 3
	}
	return 2
}

// Login is what a client says of itself when it connects.
type Login struct {
	Schema    string // "" is none
	Collation byte
	FoundRows bool // affected rows of UPDATE are the rows found
	Multi     bool // several statements in one text
	Track     bool // wants to hear of session state
}

// capabilities are what both a server and the proxy offer, so that neither has another protocol to speak.
func (l Login) capabilities() wire.Capability {
	c := wire.LongFlag | wire.Protocol41 | wire.Transactions | wire.SecureConnection | wire.PluginAuth | wire.MultiResults |
		wire.PSMultiResults | wire.LocalFiles | wire.ConnectAttrs
	for bit, wanted := range map[wire.Capability]bool{
		wire.FoundRows: l.FoundRows, wire.MultiStatements: l.Multi, wire.SessionTrack: l.Track, wire.ConnectWithDB: l.Schema != "",
	} {
		if wanted {
			c |= bit
		}
	}
	return c
}

// Step is one command of one client; clients are numbered from 0.
type Step struct {
	Client int
	Op     Op
}

// Case is one sequence: who connects, and who sends what in which order.
type Case struct {
	Note   string // why it is kept; lines without the leading "# "
	Known  string // the exclusion that it is an example of; "" when it must look the same
	Mode   Mode
	Logins []Login
	Steps  []Step
}
