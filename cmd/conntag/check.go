package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/conntag/conntag/internal/config"
)

func newCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a configuration file",
		Long: `Check reads a configuration file as the proxy would, with its variables, password files and certificates,
and shows every problem with its line. It connects to nothing. Exit code 2 means that there are problems.`,
		Args: cobra.NoArgs,
	}
	path := configFlag(cmd)
	cmd.RunE = runs(func(cmd *cobra.Command) error {
		c, err := config.Load(*path)
		if err != nil {
			return err
		}
		log := slog.New(slog.DiscardHandler)
		srv, err := build(*path, c, log) // finds what only a start would, such as a key for another certificate
		if err != nil {
			return err
		}
		if err := drain(srv, c.Proxy.DrainTimeout, log); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is fine: %d %s, clients on %s, pool %s of %d at %s, admin on %s\n",
			*path, len(c.Users), plural(len(c.Users), "user"), c.Proxy.Listen, c.Backend.Name, c.Pool.Size,
			c.Backend.Address, c.Admin.Listen)
		return err
	})
	return cmd
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
