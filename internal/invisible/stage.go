package invisible

import (
	"errors"
	"fmt"
)

// Stage is two servers with the same data: one for direct connections, one behind what is judged. It plays one case at a
// time.
type Stage struct {
	direct, behind *store
	open           Opener
	excluded       excluded
}

// Raise starts the servers. What the exclusions blank is not compared, but for those named in on.
func Raise(open Opener, on ...string) (*Stage, error) {
	off, err := without(on)
	if err != nil {
		return nil, err
	}
	s := &Stage{open: open, excluded: off}
	if s.direct, err = startStore(); err != nil {
		return nil, fmt.Errorf("start the direct server: %w", err)
	}
	if s.behind, err = startStore(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the server behind: %w", err), s.direct.stop())
	}
	return s, nil
}

// Close stops the servers.
func (s *Stage) Close() error { return errors.Join(s.direct.stop(), s.behind.stop()) }

// Result is what came of playing a case.
type Result struct {
	Played     Case // what was sent: the case, with what made a client let go of its connection
	Difference *Difference
	Counts     Counts
}

// Play plays a case on fresh data. An error says that it could not be played; what a client could tell is in
// Result.Difference.
func (s *Stage) Play(c Case) (Result, error) {
	r, err := s.play(c)
	// Locks wait for nobody here, so one that the server itself holds for a moment can refuse either side: only what
	// comes again counts.
	for range 2 {
		if err != nil || r.Difference == nil || !r.Difference.refusedByLock() {
			break
		}
		r, err = s.play(c)
	}
	return r, err
}

func (s *Stage) play(c Case) (Result, error) {
	if err := both(func() error { return s.direct.reset(c) }, func() error { return s.behind.reset(c) }); err != nil {
		return Result{}, err
	}
	middle, err := s.open(s.behind.Addr(), c.Mode.pool())
	if err != nil {
		return Result{}, err
	}
	var r Result
	if c.Mode == Free {
		r, err = playFree(s, middle, c)
	} else {
		r, err = playTurns(s, middle, c)
	}
	if err = errors.Join(err, middle.Close()); err != nil {
		return r, err
	}
	if err := both(s.direct.awaitSilence, s.behind.awaitSilence); err != nil {
		return r, err
	}
	left, err := s.compareData(r.Played)
	if r.Difference == nil {
		r.Difference = left
	}
	return r, err
}

// both runs two functions at once.
func both(f, g func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	err := g()
	return errors.Join(err, <-done)
}
