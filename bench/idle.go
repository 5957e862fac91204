package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
)

const (
	perSource     = 5000 // clients per loopback address: some 28,000 ports are there, and both sides of a relay take some
	dialers       = 32
	warmClients   = 100
	reserveFiles  = 256
	settleTimeout = 20 * time.Second
)

// idleResult is the growth in resident memory per idle client.
type idleResult struct {
	Kind      string  `json:"kind"` // "idle"
	Peer      string  `json:"peer"`
	Clients   int     `json:"clients"`
	BeforeKiB uint64  `json:"rss_before_kib"`
	AfterKiB  uint64  `json:"rss_after_kib"`
	KiBEach   float64 `json:"kib_each"`
}

// measureIdle measures each proxy in a fresh process, as a heap that load has stretched would hide the growth.
func measureIdle(ctx context.Context, f fleet, rec *recorder) (results []idleResult, err error) {
	limit, err := raiseFileLimit(uint64(2*f.idle + reserveFiles))
	if err != nil {
		return nil, err
	}
	// The thread pool serves a relay's thousands of connections without as many threads.
	db, err := startDatabase(f.db, "--thread-handling=pool-of-threads", fmt.Sprintf("--max-connections=%d", f.idle+1000),
		"--back-log=4096", fmt.Sprintf("--open-files-limit=%d", limit))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.stop()) }()
	for _, name := range []string{nameGocopy, nameConntag} {
		r, err := f.idleOfFresh(ctx, name, db.addr, limit)
		if err != nil {
			return nil, fmt.Errorf("idle clients of %s: %w", name, err)
		}
		results = append(results, r)
		if err := rec.add(r); err != nil {
			return nil, err
		}
	}
	for _, p := range f.peers {
		if p.pid == 0 {
			continue
		}
		r, err := idleOf(ctx, p, clientsWithin(f.idle, limit, 2))
		if err != nil {
			return nil, fmt.Errorf("idle clients of %s: %w", p.name, err)
		}
		results = append(results, r)
		if err := rec.add(r); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (f fleet) idleOfFresh(ctx context.Context, name, backend string, limit uint64) (idleResult, error) {
	p, err := f.start(ctx, name, backend)
	if err != nil {
		return idleResult{}, err
	}
	defer p.stop()
	files := 1
	if name == nameGocopy {
		files = 2
	}
	return idleOf(ctx, p, clientsWithin(f.idle, limit, files))
}

// clientsWithin lowers n to what the limit on open files allows a process that needs each files per client.
func clientsWithin(n int, limit uint64, each int) int {
	return min(n, (int(limit)-reserveFiles)/each)
}

func idleOf(ctx context.Context, p peer, clients int) (idleResult, error) {
	r := idleResult{Kind: "idle", Peer: p.name, Clients: clients}
	warm, err := connectClients(ctx, p.addr, warmClients)
	closeClients(warm)
	if err != nil {
		return r, err
	}
	if r.BeforeKiB, err = p.settledRSS(ctx); err != nil {
		return r, err
	}
	idle, err := connectClients(ctx, p.addr, clients)
	defer closeClients(idle)
	if err != nil {
		return r, err
	}
	if r.AfterKiB, err = p.settledRSS(ctx); err != nil {
		return r, err
	}
	r.KiBEach = (float64(r.AfterKiB) - float64(r.BeforeKiB)) / float64(clients)
	for i := 0; i < len(idle); i += 100 {
		if err := ask(ctx, idle[i]); err != nil {
			return r, fmt.Errorf("client %d after it was idle: %w", i, err)
		}
	}
	return r, nil
}

// settledRSS collects garbage until the memory no longer shrinks: the Go runtime gives pages back little by little.
func (p peer) settledRSS(ctx context.Context) (uint64, error) {
	deadline := time.Now().Add(settleTimeout)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var least uint64
	for unchanged := 0; unchanged < 3 && time.Now().Before(deadline); {
		if p.admin != "" {
			if err := p.pprof(ctx, "heap?gc=1", io.Discard); err != nil {
				return 0, err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		u, err := readUsage(p.pid)
		if err != nil {
			return 0, err
		}
		if least == 0 || u.rssKiB < least-least/200 {
			least, unchanged = u.rssKiB, 0
		} else {
			unchanged++
		}
	}
	return least, nil
}

// connectClients returns n clients that logged in and had an answer. On an error it returns those that it has.
func connectClients(ctx context.Context, addr string, n int) ([]driver.Conn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conns := make([]driver.Conn, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range dialers {
		wg.Go(func() {
			for i := range next {
				var err error
				if conns[i], err = connectClient(ctx, addr, i/perSource); err != nil {
					cancel(fmt.Errorf("client %d: %w", i, err))
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		next <- i
	}
	close(next)
	wg.Wait()
	return conns, context.Cause(ctx)
}

func connectClient(ctx context.Context, addr string, source int) (driver.Conn, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = mariadbtest.User, mariadbtest.Password, "tcp", addr, schema
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+source))}}
	cfg.DialFunc = d.DialContext
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return conn, ask(ctx, conn)
}

// ask runs one query to its end.
func ask(ctx context.Context, conn driver.Conn) error {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "SELECT 1", nil)
	if err != nil {
		return err
	}
	return rows.Close()
}

func closeClients(conns []driver.Conn) {
	for _, c := range conns {
		if c != nil {
			_ = c.Close() // nothing is lost with it
		}
	}
}

// raiseFileLimit makes room for want open files in us and in the processes we start. It returns what there is: only
// root may go beyond the hard limit.
func raiseFileLimit(want uint64) (uint64, error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, err
	}
	if l.Max < want && syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: want, Max: want}) == nil {
		return want, nil
	}
	l.Cur = min(want, l.Max)
	return l.Cur, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
}
