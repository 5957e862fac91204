package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Defaults that exhaust the pool on two cores, and bounds that keep the database's files small.
const (
	DefaultDuration = 30 * time.Second
	DefaultClients  = 40

	minDuration = time.Second
	maxDuration = 10 * time.Minute
	maxClients  = 400

	lookEvery = time.Second // at the ledger, for the table and for who waited because of whom
)

// ErrInterrupted is returned by Run when its context ends before there is anything to report.
var ErrInterrupted = errors.New("interrupted before the run began")

// Options is what a run is.
type Options struct {
	Duration time.Duration // of the workload; 1s to 10m
	Clients  int           // one per caller to 400
	Keep     bool          // leave database, proxy and admin API up until the context ends
	JSON     bool          // print one Report and nothing else to Stdout
	Terminal bool          // Stdout is one: redraw in place
	Stdout   io.Writer
	Stderr   io.Writer // errors, and with JSON what else there is to say

	Version, Revision string // of the metrics' build_info
}

// Validate returns what is wrong, naming flags as the command line does; nil when Run can use o.
func (o Options) Validate() error {
	if o.Duration < minDuration || o.Duration > maxDuration {
		return fmt.Errorf("--duration: must be between %s and %s, is %s", minDuration, maxDuration, o.Duration)
	}
	if o.Clients < len(callers) || o.Clients > maxClients {
		return fmt.Errorf("--clients: must be between %d (one per caller) and %d, is %d", len(callers), maxClients, o.Clients)
	}
	return nil
}

// Run starts everything, runs the workload, prints what it has shown and stops everything. When ctx ends the run is cut
// short: what it has shown until then is printed, and nothing is left behind.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	say, view := o.Stdout, &screen{w: o.Stdout, terminal: o.Terminal}
	if o.JSON {
		say, view = o.Stderr, &screen{}
	}
	if _, err := fmt.Fprintf(say, "conntag demo: %d clients share %d connections for %s\n", o.Clients, poolSize, o.Duration); err != nil {
		return err
	}
	s, err := raise(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(perform(ctx, s, o, say, view), s.close())
}

func perform(ctx context.Context, s *stage, o Options, say io.Writer, view *screen) error {
	if _, err := fmt.Fprintf(say, "%s\n", s.places()); err != nil {
		return err
	}
	r, err := run(ctx, s, o, view)
	if err != nil {
		return err
	}
	if err := printResult(o, r); err != nil {
		return err
	}
	if !o.Keep || r.Interrupted {
		return nil
	}
	if _, err := fmt.Fprintf(say, "\nThe workload has ended, the rest is up until Ctrl-C:\n%s", s.places()); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.served:
		s.served <- nil // for close
		return err
	}
}

// run runs the workload for its time and looks at the ledger meanwhile.
func run(ctx context.Context, s *stage, o Options, view *screen) (Report, error) {
	began := s.snapshot().Stat.Now
	w, err := startWorkload(s.dsn(), o.Clients)
	if err != nil {
		return Report{}, err
	}
	var b blame
	interrupted, err := watch(ctx, s, o, view, &b)
	w.stop()
	if err != nil {
		return Report{}, err
	}
	p := s.snapshot()
	b.look(p.Ledger)
	if err := view.draw((&frame{pool: p, elapsed: p.Stat.Now - began, of: o.Duration, url: s.url()}).String()); err != nil {
		return Report{}, err
	}
	r := newReport(p, began, &b)
	r.Interrupted, r.Clients = interrupted, o.Clients
	if n, first := w.failures(); n > 0 {
		r.FailedVisits, r.FirstFailure = n, first.Error()
	}
	r.Verdict = strings.Join(verdict(r), "\n")
	return r, nil
}

// watch returns when the run's time is up, or ctx ends, or the proxy does.
//
// It does not look more often than it must: a look at the ledger charges what waits or begins without a tag, as BEGIN
// does, to the user, where the next statement's tag would have claimed it. For the same reason it looks away while
// everything connects.
func watch(ctx context.Context, s *stage, o Options, view *screen, b *blame) (interrupted bool, err error) {
	began := time.Now()
	end := time.NewTimer(o.Duration)
	defer end.Stop()
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for look := 1; ; look++ {
		select {
		case now := <-ticks.C:
			if look*int(lookEvery) < int(startSpread+lookEvery) || o.Duration-now.Sub(began) < lookEvery {
				continue // or the last look is about to come
			}
			p := s.snapshot()
			b.look(p.Ledger)
			if !view.due(look) {
				continue
			}
			if err := view.draw((&frame{pool: p, elapsed: now.Sub(began), of: o.Duration, url: s.url()}).String()); err != nil {
				return false, err
			}
		case <-end.C:
			return false, nil
		case <-ctx.Done():
			return true, nil
		case err := <-s.served:
			s.served <- nil // for close
			return false, errors.Join(errors.New("the proxy ended before its time"), err)
		}
	}
}

func printResult(o Options, r Report) error {
	if o.JSON {
		enc := json.NewEncoder(o.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	for paragraph := range strings.SplitSeq(r.Verdict, "\n") {
		if _, err := io.WriteString(o.Stdout, "\n"+wrap(paragraph)+"\n"); err != nil {
			return err
		}
	}
	return nil
}
