package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conntag/conntag/internal/admin"
)

const (
	adminVariable = "CONNTAG_ADMIN"
	defaultAdmin  = "http://127.0.0.1:6080"
)

var outputs = []string{"table", "json"}

// showFlags are common to everything that can be shown.
type showFlags struct{ admin, output, pool string }

func newShow() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show what a running proxy knows",
		Long: `Show asks the admin API of a running proxy and prints the answer, as a table or as the API's own JSON.
Everything that is counted runs from the start of the proxy.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("show needs to know what: callers, pools or sessions")
		},
	}
	url := os.Getenv(adminVariable)
	if url == "" {
		url = defaultAdmin
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.admin, "admin", url, "`URL` of the admin API; the variable "+adminVariable+" changes the default")
	flags.StringVarP(&f.output, "output", "o", "table", "`format`: table or json")
	// Fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(
		poolFlag(&f, showing(&f, "callers", "Show who holds the backend connections, in which phase, and who waits",
			func(ctx context.Context, c *admin.Client) (any, func(io.Writer) error, error) {
				r, err := c.Callers(ctx, f.pool)
				return r, func(w io.Writer) error { return callersTable(w, r) }, err
			})),
		poolFlag(&f, showing(&f, "pools", "Show the pools of backend connections",
			func(ctx context.Context, c *admin.Client) (any, func(io.Writer) error, error) {
				r, err := c.Pools(ctx, f.pool)
				return r, func(w io.Writer) error { return poolsTable(w, r) }, err
			})),
		showing(&f, "sessions", "Show the client connections",
			func(ctx context.Context, c *admin.Client) (any, func(io.Writer) error, error) {
				r, err := c.Sessions(ctx)
				return r, func(w io.Writer) error { return sessionsTable(w, r) }, err
			}),
	)
	return cmd
}

func poolFlag(f *showFlags, cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&f.pool, "pool", "", "`name` of the only pool to show")
	return cmd
}

// fetch asks for one thing and gives the reply and how to draw it as a table.
type fetch func(context.Context, *admin.Client) (reply any, table func(io.Writer) error, err error)

func showing(f *showFlags, what, short string, ask fetch) *cobra.Command {
	return &cobra.Command{
		Use:   what,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(outputs, f.output) {
				return fmt.Errorf("-o %q is unknown; one of: %s", f.output, strings.Join(outputs, ", "))
			}
			client, err := admin.NewClient(f.admin)
			if err != nil {
				return fmt.Errorf("--admin: %w", err)
			}
			return runs(func(cmd *cobra.Command) error {
				reply, table, err := ask(cmd.Context(), client)
				if err != nil {
					return err
				}
				if f.output == "json" {
					return writeJSON(cmd.OutOrStdout(), reply)
				}
				return table(cmd.OutOrStdout())
			})(cmd, nil)
		},
	}
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
