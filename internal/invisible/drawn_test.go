package invisible

import (
	"context"
	"sync"
	"testing"
)

// drawn bounds TestDrawnSequencesLookTheSame by number, so that it is the same on every machine.
const drawn = 2000

// TestDrawnSequencesLookTheSame is a short `make invisible`: always the same sequences.
func TestDrawnSequencesLookTheSame(t *testing.T) {
	var (
		mu    sync.Mutex // guards total
		total Counts
	)
	run := Run{Open: Conntag, Seed: 1, Sequences: drawn, Steps: 12, Modes: Modes, Workers: 3,
		Each: func(s *Stage, seed uint64, r Result) error {
			if r.Difference != nil {
				c, d, err := s.Shrink(r.Played, r.Difference)
				if err != nil {
					return err
				}
				t.Errorf("seed %d:\n%s%v", seed, c, d)
			}
			mu.Lock()
			defer mu.Unlock()
			total.Add(r.Counts)
			return nil
		}}
	if err := run.Do(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s; %s", total, total.Holding())
	if total.Switches < total.Sequences || total.Pins == 0 || total.Takeovers == 0 {
		t.Errorf("%s; %s: too little happened for this to mean anything", total, total.Holding())
	}
}
