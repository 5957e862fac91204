package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/conntag/conntag/internal/demo"
)

func newDemo() *cobra.Command {
	var o demo.Options
	var output string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show who holds the connections of a checkout, on a private database",
		Long: `Demo starts a private throwaway MariaDB, the proxy with 16 connections to it and a checkout's callers that share
them. It shows who holds the connections while they run, and at the end who held them, who waited because of it and
what to do. Nothing is left behind, also after Ctrl-C. It needs Debian's mariadb-server package to be installed.`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.DurationVar(&o.Duration, "duration", demo.DefaultDuration, "how long the callers run")
	flags.IntVar(&o.Clients, "clients", demo.DefaultClients, "`number` of client connections")
	flags.BoolVar(&o.Keep, "keep", false, "leave database, proxy and admin API up after the run, until Ctrl-C")
	flags.StringVarP(&output, "output", "o", "table", "`format`: table or json, which prints the result only")
	// Fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains(outputs, output) {
			return fmt.Errorf("-o %q is unknown; one of: %s", output, strings.Join(outputs, ", "))
		}
		if err := o.Validate(); err != nil {
			return err
		}
		o.JSON = output == "json"
		o.Stdout, o.Stderr, o.Terminal = cmd.OutOrStdout(), cmd.ErrOrStderr(), isTerminal(cmd.OutOrStdout())
		o.Version, o.Revision = buildVersion()
		return runs(func(cmd *cobra.Command) error { return runDemo(cmd.Context(), o) })(cmd, nil)
	}
	return cmd
}

// runDemo also ends well when the terminal goes away, or the program that reads the output: by default either signal
// would end the process with the database's directory left behind.
func runDemo(ctx context.Context, o demo.Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE) // writes then return EPIPE
	return demo.Run(ctx, o)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
