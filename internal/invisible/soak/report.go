package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/conntag/conntag/internal/invisible"
)

// showings bounds how often differences that look alike are shrunk and shown; all are counted.
const showings = 2

// report is what a soak says.
type report struct {
	out    io.Writer
	shrink bool

	mu     sync.Mutex     // guards what follows, and out
	seen   map[string]int // differences by kind
	byMode map[invisible.Mode]*invisible.Counts
}

func (r *report) each(stage *invisible.Stage, seed uint64, result invisible.Result) error {
	if !r.add(result) {
		return nil
	}
	return r.show(stage, seed, result)
}

// add counts what came of a sequence and says whether its difference is to be shown.
func (r *report) add(result invisible.Result) bool {
	mode := result.Played.Mode
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byMode[mode] == nil {
		r.byMode[mode] = &invisible.Counts{}
	}
	c := r.byMode[mode]
	c.Add(result.Counts)
	if result.Difference == nil {
		return false
	}
	c.Differences++
	kind := result.Difference.Kind()
	r.seen[kind]++
	return r.seen[kind] <= showings
}

// show prints a difference as the smallest case that has it.
func (r *report) show(stage *invisible.Stage, seed uint64, result invisible.Result) error {
	c, d := result.Played, result.Difference
	if r.shrink {
		var err error
		if c, d, err = stage.Shrink(c, d); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := fmt.Fprintf(r.out, "# seed %d; %s\n%s# %s\n\n", seed, d.Kind(), c, d)
	return err
}

func (r *report) total() (t invisible.Counts) {
	for _, c := range r.byMode {
		t.Add(*c)
	}
	return t
}

func (r *report) end(modes []invisible.Mode) {
	for _, m := range modes {
		if c := r.byMode[m]; c != nil {
			_, _ = fmt.Fprintf(r.out, "%s: sequences %d, %s\n", m, c.Sequences, c.Holding())
		}
	}
	_, _ = fmt.Fprintf(r.out, "all: %s\n%s\n", r.total().Holding(), r.total())
}
