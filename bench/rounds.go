package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// sample is one sysbench run through one peer. CPU and memory are zero where the peer's pid is unknown.
type sample struct {
	Kind         string  `json:"kind"` // "sample"
	Threads      int     `json:"threads"`
	Round        int     `json:"round"`
	Peer         string  `json:"peer"`
	Queries      uint64  `json:"queries"`
	PerSecond    float64 `json:"queries_per_second"`
	P95          float64 `json:"p95_ms"`
	P99          float64 `json:"p99_ms"`
	CPU          float64 `json:"cpu_seconds_per_100k"` // of the proxy
	Switches     float64 `json:"switches_per_query"`   // of the proxy
	RSSKiB       uint64  `json:"rss_kib"`
	DatabaseCPU  float64 `json:"database_cpu_seconds_per_100k"`
	ClientErrors uint64  `json:"client_errors"`
}

// measureRounds starts everything and measures every peer at every number of threads, o.rounds times in turn.
func measureRounds(ctx context.Context, f fleet, rec *recorder) (samples []sample, err error) {
	// One thread per connection, as servers are run; a relay needs as many as sysbench has threads.
	db, err := startDatabase(f.db, fmt.Sprintf("--max-connections=%d", 2*slices.Max(f.threads)+100))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.stop()) }()
	if err := sysbenchPrepare(ctx, db.addr); err != nil {
		return nil, err
	}
	peers := []peer{{name: nameDirect, addr: db.addr}}
	for _, name := range []string{nameGocopy, nameConntag, nameRoomy} {
		p, err := f.start(ctx, name, db.addr)
		if err != nil {
			return nil, err
		}
		defer p.stop()
		peers = append(peers, p)
	}
	peers = append(peers, f.peers...)
	for _, p := range peers {
		if _, err := sysbenchRun(ctx, p.addr, slices.Max(f.threads), time.Second); err != nil {
			return nil, fmt.Errorf("warm up %s: %w", p.name, err)
		}
	}
	for round := range f.rounds {
		for _, threads := range f.threads {
			for i := range peers {
				p := peers[(i+round)%len(peers)] // so that no peer always follows the same other
				s, err := measure(ctx, p, db.pid(), threads, f.cell)
				if err != nil {
					return nil, fmt.Errorf("measure %s: %w", p.name, err)
				}
				s.Round = round + 1
				samples = append(samples, s)
				if err := rec.add(s); err != nil {
					return nil, err
				}
			}
		}
	}
	if f.cpuProfile != "" {
		under := slices.IndexFunc(peers, func(p peer) bool { return p.name == nameConntag })
		err = profile(ctx, peers[under], f.threads[len(f.threads)-1], f.cell, f.cpuProfile)
	}
	return samples, err
}

// measure is one sysbench run, its logins included: they are a small part of it, and the same for all.
func measure(ctx context.Context, p peer, dbPid, threads int, length time.Duration) (sample, error) {
	s := sample{Kind: "sample", Threads: threads, Peer: p.name}
	before, err := readUsages(p.pid, dbPid)
	if err != nil {
		return s, err
	}
	r, err := sysbenchRun(ctx, p.addr, threads, length)
	if err != nil {
		return s, err
	}
	after, err := readUsages(p.pid, dbPid)
	if err != nil {
		return s, err
	}
	n := float64(r.queries)
	s.Queries, s.PerSecond, s.ClientErrors = r.queries, r.perSecond, r.errors
	s.P95, s.P99 = r.quantile(.95), r.quantile(.99)
	s.CPU = (after[0].cpu - before[0].cpu).Seconds() / n * 1e5
	s.Switches = float64(after[0].switches-before[0].switches) / n
	s.RSSKiB = after[0].rssKiB
	s.DatabaseCPU = (after[1].cpu - before[1].cpu).Seconds() / n * 1e5
	return s, nil
}

// readUsages reads one usage per pid; that of pid 0 is zero.
func readUsages(pids ...int) ([]usage, error) {
	us := make([]usage, len(pids))
	for i, pid := range pids {
		if pid == 0 {
			continue
		}
		var err error
		if us[i], err = readUsage(pid); err != nil {
			return nil, err
		}
	}
	return us, nil
}

// profile writes a CPU profile of p under load to file. It is a run of its own, since profiling costs.
func profile(ctx context.Context, p peer, threads int, length time.Duration, file string) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	done := make(chan error, 1)
	go func() { done <- p.pprof(ctx, fmt.Sprintf("profile?seconds=%d", int(length.Seconds())), out) }()
	_, err = sysbenchRun(ctx, p.addr, threads, length)
	return errors.Join(err, <-done)
}
