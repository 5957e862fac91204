// Command bench measures what conntag costs: `go run ./bench`.
//
// sysbench runs point selects against a private MariaDB, directly, through a 40-line Go TCP relay ("gocopy") and
// through conntag, in turn and in rounds, so that a noisy machine hits all of them alike. Read ratios and CPU per
// query; queries per second mean nothing outside their row. Then thousands of clients log in, ask one question and
// stay, and the growth in resident memory is shown per client.
//
// gocopy is the floor of a plain Go proxy: it understands nothing and gives every client a backend connection of its
// own. conntag has a pool of 16 unless --pool says otherwise, and
// "conntag 1:1" one connection per thread.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/conntag/conntag/internal/mariadbtest"
)

const usageExit = 2

func main() {
	if len(os.Args) > 1 && os.Args[1] == gocopyCommand {
		fatal(runGocopy(os.Args[2:]))
		return
	}
	o, err := parseOptions(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(usageExit) // the flag package has said why
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancelCause(ctx)
	go watchParent(cancel)
	err = run(ctx, o, os.Stdout)
	stop()
	fatal(err)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// watchParent ends the run when `go run` is gone: it passes no SIGTERM on.
func watchParent(cancel context.CancelCauseFunc) {
	parent := os.Getppid()
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			cancel(errors.New("the parent process is gone"))
			return
		}
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "conntag-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.conntag == "" {
		o.conntag = filepath.Join(dir, "conntag")
		if err := build(ctx, o.conntag); err != nil {
			return err
		}
	}
	rec, err := newRecorder(o.json)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.close()) }()

	fl := fleet{dir: dir, options: o}
	samples, err := measureRounds(ctx, fl, rec)
	if err != nil {
		return err
	}
	if err := writeCells(out, summarize(samples), o.pool); err != nil {
		return err
	}
	if o.idle == 0 {
		return nil
	}
	idle, err := measureIdle(ctx, fl, rec)
	if err != nil {
		return err
	}
	return writeIdle(out, idle)
}

// build makes the conntag under test from the source at hand, so that no stale binary is measured.
func build(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/conntag/conntag/cmd/conntag")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build conntag: %w\n%s", err, text)
	}
	return nil
}

// database is the server behind all proxies: our own, or one that --db names.
type database struct {
	addr string
	own  *mariadbtest.Instance // nil with --db
}

func startDatabase(addr string, flags ...string) (database, error) {
	if addr != "" {
		return database{addr: addr}, nil
	}
	i, err := mariadbtest.Start(mariadbtest.WithDatabase(schema), mariadbtest.WithFlags(flags...))
	if err != nil {
		return database{}, fmt.Errorf("start MariaDB: %w", err)
	}
	return database{addr: i.Addr(), own: i}, nil
}

func (d database) pid() int {
	if d.own == nil {
		return 0
	}
	return d.own.Pid()
}

func (d database) stop() error {
	if d.own == nil {
		return nil
	}
	return d.own.Stop()
}
