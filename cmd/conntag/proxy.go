package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/conntag/conntag/internal/admin"
	"github.com/conntag/conntag/internal/config"
	"github.com/conntag/conntag/internal/metrics"
	"github.com/conntag/conntag/proxy"
)

// adminCloseTimeout is for a scrape or a reply under way when the process ends.
const adminCloseTimeout = 5 * time.Second

func newProxy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Run the proxy",
		Long: `Proxy runs until SIGTERM or SIGINT. Then it accepts no more clients, lets sessions reach a safe point for at
most proxy.drain_timeout, and ends with exit code 0. A second signal ends it at once.`,
		Args: cobra.NoArgs,
	}
	path := configFlag(cmd)
	cmd.RunE = runs(func(cmd *cobra.Command) error {
		return runProxy(cmd.Context(), *path, cmd.ErrOrStderr())
	})
	return cmd
}

// runProxy builds, starts and stops everything, in a straight line. The admin API starts after the proxy has its
// port and stops after the sessions have ended, so that a drain can be watched.
func runProxy(ctx context.Context, path string, stderr io.Writer) error {
	cfg, err := config.Load(path)
	if err != nil {
		return err
	}
	log := newLogger(cfg.Log, stderr)

	srv, err := build(path, cfg, log)
	if err != nil {
		return err
	}
	if err := srv.Listen(); err != nil {
		return errors.Join(fmt.Errorf("proxy.listen: %w", err), drain(srv, cfg.Proxy.DrainTimeout, log))
	}

	v, revision := buildVersion()
	reg := metrics.NewRegistry(srv, metrics.Options{
		Version: v, Revision: revision, CallersLimit: cfg.Attribution.MaxCallers,
	})
	api := admin.New(cfg.Admin, srv, metrics.Handler(reg), log)
	if err := api.Start(); err != nil {
		return errors.Join(err, drain(srv, cfg.Proxy.DrainTimeout, log))
	}
	log.Info("conntag serves", "version", v, "clients", srv.Addr().String(), "admin", api.Addr().String(),
		"backend", cfg.Backend.Address, "pool", cfg.Backend.Name, "size", cfg.Pool.Size)

	served := make(chan error, 1)
	go func() { served <- srv.Serve() }()
	select {
	case err = <-served: // only an error ends it before a signal does
		served <- nil
	case <-ctx.Done():
		log.Info("draining", "at_most", cfg.Proxy.DrainTimeout)
	}
	err = errors.Join(err, drain(srv, cfg.Proxy.DrainTimeout, log), <-served)

	closing, cancel := context.WithTimeout(context.Background(), adminCloseTimeout)
	defer cancel()
	if cerr := api.Close(closing); cerr != nil {
		log.Warn("admin API cut", "error", cerr)
	}
	log.Info("conntag ends")
	return err
}

// build makes the server, which opens nothing yet. What it refuses is in the file, such as a key that does not
// belong to its certificate.
func build(path string, cfg config.Config, log *slog.Logger) (*proxy.Server, error) {
	srv, err := proxy.New(proxy.Options{
		Config: cfg.Proxy, Users: cfg.Users, Backend: cfg.Backend, Pool: cfg.Pool, Attribution: cfg.Attribution, Log: log,
	})
	if err != nil {
		return nil, &config.Problems{List: []config.Problem{{File: path, Text: err.Error()}}}
	}
	return srv, nil
}

// drain lets sessions end. That some had to be cut at the deadline is what the deadline is for, not a failure.
func drain(srv *proxy.Server, atMost time.Duration, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), atMost)
	defer cancel()
	err := srv.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("drain timeout reached, sessions were cut", "after", atMost)
		return nil
	}
	if err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	return nil
}

func newLogger(cfg config.Log, w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.SlogLevel()}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
