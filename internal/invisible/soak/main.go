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
	"slices"
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
	shrink bool
	invisible.Run
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{Run: invisible.Run{Open: invisible.Conntag, Modes: invisible.Modes}}
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.DurationVar(&o.time, "time", time.Minute, "how long to go on")
	f.Uint64Var(&o.Seed, "seed", 1, "the first sequence's seed; the next one's is one higher")
	f.IntVar(&o.Sequences, "sequences", 0, "how many sequences at most; 0: as many as there is time for")
	f.IntVar(&o.Steps, "steps", 30, "steps of a sequence")
	f.IntVar(&o.Workers, "workers", 3, "stages that play at once")
	f.BoolVar(&o.shrink, "shrink", true, "shrink what fails")
	on := f.String("with", "", "known differences to look for all the same, of: "+invisible.ExclusionNames())
	mode := f.String("mode", "", "only this mode: s1, s2 or free")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if *mode != "" {
		o.Modes = []invisible.Mode{invisible.Mode(*mode)}
		if !slices.Contains(invisible.Modes, o.Modes[0]) {
			err := fmt.Errorf("no mode is called %q", *mode)
			_, _ = fmt.Fprintln(stderr, err)
			return nil, err
		}
	}
	if *on != "" {
		o.With = strings.Split(*on, ",")
	}
	return o, nil
}

func run(ctx context.Context, o *options, out io.Writer) (invisible.Counts, error) {
	r := report{out: out, shrink: o.shrink, seen: map[string]int{}, byMode: map[invisible.Mode]*invisible.Counts{}}
	o.Each = r.each
	ctx, cancel := context.WithTimeout(ctx, o.time)
	defer cancel()
	err := o.Do(ctx)
	r.end(o.Modes)
	return r.total(), err
}
