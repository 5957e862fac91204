// Command soak plays drawn sequences for as long as it is told, and shows every difference as the smallest case that it
// finds: `make invisible TIME=30m SEED=1`. It exits with 1 when there was one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/conntag/conntag/internal/invisible"
)

const usageExit = 2

func main() {
	o, err := parseOptions(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(usageExit) // the flag package has said why
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	counts, err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if err != nil || counts.Differences > 0 {
		os.Exit(1)
	}
}

type options struct {
	time   time.Duration
	seed   uint64
	steps  int
	modes  []invisible.Mode
	with   []string
	shrink bool
}

func parseOptions(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.DurationVar(&o.time, "time", time.Minute, "how long to go on")
	f.Uint64Var(&o.seed, "seed", 1, "the first sequence's seed; the next one's is one higher")
	f.IntVar(&o.steps, "steps", 30, "steps of a sequence")
	f.BoolVar(&o.shrink, "shrink", true, "shrink what fails")
	on := f.String("with", "", "known differences to look for all the same: "+invisible.ExclusionNames())
	mode := f.String("mode", "", "only this mode: s1, s2 or free")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.modes = invisible.Modes
	if *mode != "" {
		o.modes = []invisible.Mode{invisible.Mode(*mode)}
	}
	if *on != "" {
		o.with = strings.Split(*on, ",")
	}
	return o, nil
}

func run(ctx context.Context, o options, out io.Writer) (invisible.Counts, error) {
	r := report{out: out, seen: map[string]int{}, byMode: map[invisible.Mode]*invisible.Counts{}}
	stage, err := invisible.Raise(invisible.Conntag)
	if err != nil {
		return r.total(), err
	}
	err = soak(ctx, o, stage, &r)
	r.end(o.modes)
	return r.total(), errors.Join(err, stage.Close())
}

// soak plays sequence after sequence, each of them a function of its own seed.
func soak(ctx context.Context, o options, stage *invisible.Stage, r *report) error {
	for end, n := time.Now().Add(o.time), uint64(0); time.Now().Before(end) && ctx.Err() == nil; n++ {
		g, err := invisible.NewGenerator(o.seed+n, o.with...)
		if err != nil {
			return err
		}
		mode := o.modes[n%uint64(len(o.modes))]
		result, err := stage.Play(g.Draw(mode, o.steps))
		if err != nil {
			return fmt.Errorf("seed %d: %w", o.seed+n, err)
		}
		if result.Difference != nil {
			result.Counts.Differences = 1
		}
		r.add(mode, result.Counts)
		if result.Difference == nil || !r.isNew(result.Difference) {
			continue
		}
		if err := r.show(o, stage, o.seed+n, result); err != nil {
			return err
		}
	}
	return nil
}
