package main

import (
	"strings"
	"testing"
)

func TestSummaryTakesRatiosWithinARound(t *testing.T) {
	// The machine is three times slower in the second round, which must not show in the ratios.
	samples := []sample{
		{Threads: 64, Round: 1, Peer: nameDirect, PerSecond: 3000},
		{Threads: 64, Round: 1, Peer: nameGocopy, PerSecond: 1500, CPU: 4},
		{Threads: 64, Round: 1, Peer: nameConntag, PerSecond: 1200, CPU: 6},
		{Threads: 8, Round: 1, Peer: nameConntag, PerSecond: 100, CPU: 5},
		{Threads: 64, Round: 2, Peer: nameGocopy, PerSecond: 500, CPU: 12},
		{Threads: 64, Round: 2, Peer: nameConntag, PerSecond: 400, CPU: 18, ClientErrors: 2},
		{Threads: 64, Round: 2, Peer: nameDirect, PerSecond: 1000},
	}
	cells := summarize(samples)
	if len(cells) != 4 || cells[0].threads != 8 || cells[3].peer != nameConntag {
		t.Fatalf("got cells %+v, want 8 threads first, then direct, gocopy, conntag", cells)
	}
	c := cells[3]
	if want := (spread{.4, .4, .4}); c.ofDirect != want {
		t.Errorf("throughput of direct: got %+v, want %+v", c.ofDirect, want)
	}
	if want := (spread{1.5, 1.5, 1.5}); c.ofGocopy != want {
		t.Errorf("CPU of gocopy: got %+v, want %+v", c.ofGocopy, want)
	}
	if want := (spread{12, 6, 18}); c.cpu != want {
		t.Errorf("CPU: got %+v, want %+v", c.cpu, want)
	}
	if c.errors != 2 {
		t.Errorf("errors: got %d, want 2", c.errors)
	}
	if cells[0].ofGocopy != (spread{}) || cells[1].cpu != (spread{}) {
		t.Errorf("a ratio without its base, and the CPU of no proxy, must be unknown: %+v, %+v", cells[0].ofGocopy, cells[1].cpu)
	}
}

func TestSpreadOfAnEvenNumberIsTheMiddleOfTheTwo(t *testing.T) {
	if got, want := spreadOf([]float64{9, 1, 2, 4}), (spread{3, 1, 9}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTableAlignsAndShowsUnknownAsADash(t *testing.T) {
	var b strings.Builder
	cells := []cell{{threads: 8, peer: nameDirect, perSecond: spread{20000, 1, 1}}, {threads: 64, peer: nameConntag, ofGocopy: spread{1, .9, 1.25}}}
	if err := writeCells(&b, cells, 16); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines[0]) != len(lines[1]) || len(lines[1]) != len(lines[2]) {
		t.Errorf("lines differ in width:\n%s", b.String())
	}
	if !strings.Contains(lines[2], "1.00 [0.90-1.25]") || !strings.Contains(lines[1], " - ") {
		t.Errorf("want a ratio with its range, and dashes:\n%s", b.String())
	}
}
