package main

import (
	"fmt"
	"io"

	"github.com/conntag/conntag/internal/invisible"
)

// showings bounds how often differences that look alike are shrunk and shown; all are counted.
const showings = 2

// report is what a soak says.
type report struct {
	out    io.Writer
	seen   map[string]int // differences shown, by kind
	byMode map[invisible.Mode]*invisible.Counts
}

func (r *report) add(mode invisible.Mode, c invisible.Counts) {
	if r.byMode[mode] == nil {
		r.byMode[mode] = &invisible.Counts{}
	}
	r.byMode[mode].Add(c)
}

func (r *report) isNew(d *invisible.Difference) bool {
	r.seen[d.Kind()]++
	return r.seen[d.Kind()] <= showings
}

// show prints a difference as the smallest case that has it.
func (r *report) show(o options, stage *invisible.Stage, seed uint64, result invisible.Result) error {
	c, d := result.Played, result.Difference
	if o.shrink {
		var err error
		if c, d, err = stage.Shrink(c, d); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(r.out, "# seed %d\n%s# %s\n\n", seed, c, d)
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
