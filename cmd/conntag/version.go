package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases: -ldflags "-X main.version=1.2.3".
var version string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show which conntag this is",
		Args:  cobra.NoArgs,
		RunE: runs(func(cmd *cobra.Command) error {
			v, revision := buildVersion()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "conntag %s (revision %s, %s, %s/%s)\n",
				v, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}),
	}
}

// buildVersion tells from the linker, else from what the Go tool knew, else "dev" and "unknown".
func buildVersion() (v, revision string) {
	v, revision = version, "unknown"
	info, ok := debug.ReadBuildInfo()
	if ok && v == "" && info.Main.Version != "(devel)" {
		v = info.Main.Version
	}
	if v == "" {
		v = "dev"
	}
	if !ok {
		return v, revision
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return v, revision
}
