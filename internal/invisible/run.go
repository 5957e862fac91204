package invisible

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// Run is a series of drawn sequences, each of them a function of its own seed.
type Run struct {
	Open      Opener
	Seed      uint64 // of the first sequence; the next one's is one higher
	Sequences int    // how many; 0 goes on until the context ends
	Steps     int    // of each
	Modes     []Mode // in turn
	With      []string
	// Workers is how many stages play at once: on each of them one step waits for the other.
	Workers int
	// Each is told of every sequence, from several goroutines. It may use the stage.
	Each func(s *Stage, seed uint64, r Result) error

	next atomic.Uint64
}

// Do plays until all sequences are played or the context ends, which is no error.
func (r *Run) Do(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, r.Workers)
	for range r.Workers {
		go func() {
			err := r.work(ctx)
			if err != nil {
				cancel()
			}
			ended <- err
		}()
	}
	var err error
	for range r.Workers {
		err = errors.Join(err, <-ended)
	}
	return err
}

func (r *Run) work(ctx context.Context) (err error) {
	stage, err := Raise(r.Open, r.With...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	for ctx.Err() == nil {
		n := r.next.Add(1) - 1
		if r.Sequences > 0 && n >= uint64(r.Sequences) {
			break
		}
		if err := r.play(stage, r.Seed+n, r.Modes[n%uint64(len(r.Modes))]); err != nil {
			return fmt.Errorf("seed %d: %w", r.Seed+n, err)
		}
	}
	return nil
}

func (r *Run) play(stage *Stage, seed uint64, mode Mode) error {
	g, err := NewGenerator(seed, r.With...)
	if err != nil {
		return err
	}
	result, err := stage.Play(g.Draw(mode, r.Steps))
	if err != nil {
		return err
	}
	return r.Each(stage, seed, result)
}
