package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
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
	poolSize  = 16
	user      = "app"
	schema    = "shop"
	anyPort   = "127.0.0.1:0"
	stopLimit = 5 * time.Second // for the proxy's sessions and the admin API's requests, each
)

// stage is the database, the proxy over it and the admin API over that.
type stage struct {
	db     *mariadbtest.Instance
	proxy  *proxy.Server
	served chan error // what the proxy's Serve returned; nil before it serves
	admin  *admin.Server
}

// raise starts everything and creates the shop. When it fails, or ctx ends meanwhile, it leaves nothing behind.
func raise(ctx context.Context, o Options) (*stage, error) {
	s := &stage{}
	if err := s.start(ctx, o); err != nil {
		if ctx.Err() != nil {
			err = ErrInterrupted // a child that the same Ctrl-C has hit is no news
		}
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stage) start(ctx context.Context, o Options) error {
	var err error
	if s.db, err = mariadbtest.Start(mariadbtest.WithDatabase(schema), mariadbtest.WithUser(user, user)); err != nil {
		return fmt.Errorf("start MariaDB: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.createShop(ctx, o.Clients); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(o.Stderr, &slog.HandlerOptions{Level: slog.LevelError})) // less would break the table
	if err := s.startProxy(log); err != nil {
		return err
	}
	return s.startAdmin(o, log)
}

func (s *stage) createShop(ctx context.Context, clients int) error {
	db, err := sql.Open("mysql", s.db.DSN(schema))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // every statement's error was seen
	return createShop(ctx, db, clients)
}

// startProxy takes conntag's own port when it is free, since that is the one people try.
func (s *stage) startProxy(log *slog.Logger) error {
	for _, listen := range []string{proxy.DefaultConfig().Listen, anyPort} {
		o := proxy.Options{
			Config:      proxy.DefaultConfig(),
			Users:       []proxy.User{{Name: user, Password: user}},
			Backend:     proxy.DefaultBackendConfig(),
			Pool:        pool.DefaultConfig(),
			Attribution: attribution.DefaultConfig(),
			Log:         log,
		}
		o.Config.Listen, o.Backend.Address, o.Pool.Size = listen, s.db.Addr(), poolSize
		srv, err := proxy.New(o)
		if err != nil {
			return err
		}
		if err = srv.Listen(); err == nil {
			s.proxy, s.served = srv, make(chan error, 1)
			go func() { s.served <- srv.Serve() }()
			return nil
		}
		if err = errors.Join(err, shutdown(srv.Shutdown)); listen == anyPort {
			return err
		}
	}
	return nil
}

func (s *stage) startAdmin(o Options, log *slog.Logger) error {
	reg := metrics.NewRegistry(s.proxy, metrics.Options{
		Version: o.Version, Revision: o.Revision, CallersLimit: attribution.DefaultConfig().MaxCallers,
	})
	cfg := admin.DefaultConfig()
	api := admin.New(cfg, s.proxy, metrics.Handler(reg), log)
	if api.Start() != nil { // the port is taken
		cfg.Listen = anyPort
		api = admin.New(cfg, s.proxy, metrics.Handler(reg), log)
		if err := api.Start(); err != nil {
			return err
		}
	}
	s.admin = api
	return nil
}

// close stops what was started, last first, and removes the database's directory.
func (s *stage) close() error {
	var errs []error
	if s.admin != nil {
		errs = append(errs, shutdown(s.admin.Close))
	}
	if s.proxy != nil {
		errs = append(errs, shutdown(s.proxy.Shutdown), <-s.served)
	}
	if s.db != nil {
		errs = append(errs, s.db.Stop())
	}
	return errors.Join(errs...)
}

// shutdown gives f its limit. That something had to be cut at the limit is what the limit is for.
func shutdown(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if err := f(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// dsn is how the workload's clients connect.
func (s *stage) dsn() *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = user, user, "tcp", s.proxy.Addr().String(), schema
	c.InterpolateParams = true // one round trip per statement
	c.Logger = &mysql.NopLogger{}
	return c
}

func (s *stage) url() string { return "http://" + s.admin.Addr().String() + "/" }

// places is where everything is, for people.
func (s *stage) places() string {
	addr := s.proxy.Addr().(*net.TCPAddr)
	var b strings.Builder
	version, _, _ := strings.Cut(s.db.Version(), "-")
	fmt.Fprintf(&b, "  database  MariaDB %s, private and temporary, pid %d, in %s\n", version, s.db.Pid(), filepath.Dir(s.db.LogFile()))
	fmt.Fprintf(&b, "  clients   %s:%s@tcp(%s)/%s\n", user, user, addr, schema)
	fmt.Fprintf(&b, "            mariadb -h %s -P %d -u %s -p%s %s\n", addr.IP, addr.Port, user, user, schema)
	fmt.Fprintf(&b, "  admin     %s   conntag show callers --admin %[1]s\n", s.url())
	return b.String()
}

// snapshot is the proxy's only pool, with its ledger.
func (s *stage) snapshot() proxy.PoolSnapshot { return s.proxy.Snapshot().Pools[0] }
