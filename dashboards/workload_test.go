package dashboards_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/admin"
	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/internal/metrics"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

const (
	poolSize  = 2
	topHolder = "checkout_completion"
	// waitTimeout is less than the mean wait of these clients, so that some waits fail on a fast machine too.
	waitTimeout = 100 * time.Millisecond
	tooMany     = 1040 // what a client is told when its wait timed out
)

// house is a proxy over a real database, and the address under which Prometheus scrapes it.
type house struct {
	*proxy.Server
	admin  string
	schema string
}

func newHouse(t testing.TB) *house {
	t.Helper()
	const schema = "shop"
	db := mariadbtest.Run(t, mariadbtest.WithDatabase(schema), mariadbtest.WithSQL(
		"CREATE TABLE shop.stock (id INT PRIMARY KEY, n INT)", "INSERT INTO shop.stock VALUES (1, 100), (2, 100), (3, 100)"))
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	o := proxy.Options{
		Config:      proxy.DefaultConfig(),
		Users:       []proxy.User{{Name: db.User, Password: db.Password}},
		Backend:     proxy.DefaultBackendConfig(),
		Pool:        pool.DefaultConfig(),
		Attribution: attribution.DefaultConfig(),
		Log:         log,
	}
	o.Config.Listen = "127.0.0.1:0"
	o.Backend.Address = db.Addr()
	o.Pool.Size, o.Pool.WaitTimeout = poolSize, waitTimeout
	// Configured callers are there at 0 from the first scrape, as README.md advises; the user is charged for logins.
	o.Attribution.Callers = append(o.Attribution.Callers, "user:"+db.User)
	for _, c := range clients {
		o.Attribution.Callers = append(o.Attribution.Callers, c.caller)
	}
	s, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	reg := metrics.NewRegistry(s, metrics.Options{CallersLimit: o.Attribution.MaxCallers})
	api := admin.New(admin.Config{Listen: "127.0.0.1:0"}, s, metrics.Handler(reg), log)
	if err := api.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served, api.Close(ctx)); err != nil {
			t.Errorf("shut down: %v", err)
		}
	})
	return &house{s, api.Addr().String(), schema}
}

// clients are eight connections that never rest, over a pool of two. The top holder spends half of its transaction
// without the database.
var clients = []struct {
	caller string
	copies int
	work   func(context.Context, *sql.Conn) error
}{
	{topHolder, 3, checkout},
	{"search", 3, statements("/* conn_tag:search */ SELECT n FROM stock WHERE id = 3")},
	{"stock_sync", 1, statements("/* conn_tag:stock_sync */ SELECT SLEEP(0.02)")},
	{"nightly_report", 1, statements(
		"/* conn_tag:nightly_report */ CREATE TEMPORARY TABLE sums (n INT)",
		"/* conn_tag:nightly_report */ INSERT INTO sums SELECT SUM(n) FROM stock",
		"/* conn_tag:nightly_report */ DROP TEMPORARY TABLE sums")},
}

func checkout(ctx context.Context, c *sql.Conn) error {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "/* conn_tag:"+topHolder+" */ SELECT SLEEP(0.05)")
	pause(ctx, 50*time.Millisecond)
	return errors.Join(err, tx.Rollback())
}

func statements(texts ...string) func(context.Context, *sql.Conn) error {
	return func(ctx context.Context, c *sql.Conn) error {
		for _, text := range texts {
			if _, err := c.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	}
}

// pause is the work that an application does while it holds a connection.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// work starts the clients; they work until the test ends.
func (h *house) work(t testing.TB) {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = mariadbtest.User, mariadbtest.Password, "tcp", h.Addr().String(), h.schema
	cfg.Logger = &mysql.NopLogger{} // statements that are cut at the end
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
		_ = db.Close()
	})
	for _, c := range clients {
		for range c.copies {
			running.Go(func() {
				if err := repeat(ctx, db, c.work); err != nil {
					t.Errorf("%s: %v", c.caller, err)
				}
			})
		}
	}
}

// repeat works on one connection until ctx ends. That a wait times out is part of the plan, everything else is an error.
func repeat(ctx context.Context, db *sql.DB, work func(context.Context, *sql.Conn) error) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for {
		err := work(ctx, c)
		var answer *mysql.MySQLError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &answer) && answer.Number == tooMany:
		case err != nil:
			return err
		}
	}
}
