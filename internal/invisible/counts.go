package invisible

import (
	"fmt"

	"github.com/conntag/conntag/proxy"
)

// Counts are what a run amounts to. They add up.
type Counts struct {
	Sequences, Statements, Differences int
	Switches                           int // a session's statement ran on another backend connection than its previous one; known in S2
	Takeovers                          int // it ran on its previous one, which another session had used meanwhile
	Holds, PinnedHolds                 int // leases, and those that outlived their transaction; in mode Free nobody looks
	Pins                               int // reasons to pin that began
}

// Add adds d to c.
func (c *Counts) Add(d Counts) {
	c.Sequences += d.Sequences
	c.Statements += d.Statements
	c.Differences += d.Differences
	c.Switches += d.Switches
	c.Takeovers += d.Takeovers
	c.Holds += d.Holds
	c.PinnedHolds += d.PinnedHolds
	c.Pins += d.Pins
}

// String is the line that a run ends with.
func (c Counts) String() string {
	return fmt.Sprintf("sequences %d statements %d differences %d switches %d pins %d", c.Sequences, c.Statements, c.Differences, c.Switches, c.Pins)
}

// Holding says how the clients held on to their connections.
func (c Counts) Holding() string {
	if c.Holds == 0 {
		return "holds are not looked at"
	}
	share := 100 * float64(c.PinnedHolds) / float64(c.Holds)
	return fmt.Sprintf("holds %d, pinned beyond their transaction %d (%.1f %%), taken over by others in between %d", c.Holds, c.PinnedHolds, share, c.Takeovers)
}

// pinsIn sums the pins that a proxy has counted.
func pinsIn(s proxy.Snapshot) (n int) {
	for _, p := range s.Pools {
		for _, c := range p.Ledger.Callers {
			for _, k := range c.Pins {
				n += int(k)
			}
		}
	}
	return n
}
