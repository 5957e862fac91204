// Command conntag is a MySQL-protocol proxy that tells who holds the database connections.
//
// Exit codes: 0 done, 1 it went wrong, 2 the command line or the configuration is wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/conntag/conntag/internal/config"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal drains; a second one ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program, with everything it takes from its process as arguments. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var problems *config.Problems
	var failed *failedError
	code, text := exitUsage, fmt.Sprintf("conntag: %v; see conntag --help", err)
	switch {
	case errors.As(err, &problems):
		text = problems.Error()
	case errors.As(err, &failed):
		code, text = exitFailed, "conntag: "+failed.Error()
	}
	_, _ = fmt.Fprintln(stderr, text) // where would an error of the error output go
	return code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "conntag",
		Short: "A MySQL proxy that tells who holds your database connections",
		Long: `conntag is a MySQL-protocol proxy that tells who holds your database connections.

Applications connect to it as to MySQL and name themselves in comments, /* conn_tag:checkout */. It shares a
bounded set of backend connections between them and accounts for every second of every connection.`,
		SilenceUsage:  true, // one line that says what is wrong, not a page
		SilenceErrors: true, // run prints it, with the exit code
	}
	root.AddCommand(newProxy(), newCheck(), newShow(), newDemo(), newVersion())
	return root
}

// failedError is an error of a command that was called correctly; any other one is about the command line.
type failedError struct{ err error }

func (e *failedError) Error() string { return e.err.Error() }
func (e *failedError) Unwrap() error { return e.err }

// runs makes a command's body, whose errors are failures.
func runs(body func(cmd *cobra.Command) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		if err := body(cmd); err != nil {
			return &failedError{err}
		}
		return nil
	}
}

// configFlag is shared by the commands that read the configuration.
func configFlag(cmd *cobra.Command) *string {
	path := cmd.Flags().StringP("config", "c", "config.yaml", "configuration `file`")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml") // fails only for a flag that does not exist
	return path
}
