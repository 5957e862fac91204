package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

type options struct {
	threads    []int
	rounds     int
	cell       time.Duration // one sysbench run
	idle       int
	pool       int // conntag's backend connections
	json       string
	peers      []peer
	db         string
	conntag    string
	cpuProfile string
}

func parseOptions(args []string, out io.Writer) (options, error) {
	o := options{threads: []int{8, 64}}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.Func("threads", "sysbench `threads`, a list (default 8,64)", func(s string) (err error) {
		o.threads, err = parseThreads(s)
		return err
	})
	fs.IntVar(&o.rounds, "rounds", 4, "how often every cell is measured")
	fs.DurationVar(&o.cell, "time", 5*time.Second, "length of one measurement, whole seconds")
	fs.IntVar(&o.idle, "idle", 10000, "idle `clients` of the memory measurement; 0 leaves it out")
	fs.IntVar(&o.pool, "pool", 16, "backend `connections` of conntag's pool")
	fs.StringVar(&o.json, "json", "", "also write every measurement to this `file`, one JSON object a line")
	fs.Func("peers", "other proxies in front of the server of --db, `name=host:port[@pid],...`; with a pid, CPU and memory are measured too",
		func(s string) (err error) {
			o.peers, err = parsePeers(s)
			return err
		})
	fs.StringVar(&o.db, "db", "", "`host:port` of a running server with a schema sbtest and a user conntag (password conntag), instead of a private MariaDB")
	fs.StringVar(&o.conntag, "conntag", "", "the conntag `binary` to measure (default: built from this module)")
	fs.StringVar(&o.cpuProfile, "cpuprofile", "", "also write a CPU profile of conntag at the last number of threads to this `file`")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if err := o.validate(fs.Args()); err != nil {
		_, _ = fmt.Fprintln(out, "bench:", err)
		return o, err
	}
	return o, nil
}

func (o options) validate(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.rounds < 1:
		return errors.New("--rounds must be at least 1")
	case o.cell < time.Second || o.cell%time.Second != 0:
		return errors.New("--time must be whole seconds, at least 1s")
	case o.idle < 0:
		return errors.New("--idle must not be negative")
	case o.pool < 1:
		return errors.New("--pool must be at least 1")
	case len(o.peers) > 0 && o.db == "":
		return errors.New("--peers needs --db: the private MariaDB takes a port that they can't know")
	}
	return nil
}

func parseThreads(s string) ([]int, error) {
	var threads []int
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number of threads", word)
		}
		threads = append(threads, n)
	}
	return threads, nil
}

func parsePeers(s string) ([]peer, error) {
	var peers []peer
	for spec := range strings.SplitSeq(s, ",") {
		name, where, ok := strings.Cut(spec, "=")
		addr, pid, hasPid := strings.Cut(where, "@")
		p := peer{name: name, addr: addr}
		_, _, err := net.SplitHostPort(addr)
		if err == nil && hasPid {
			p.pid, err = strconv.Atoi(pid)
		}
		if !ok || name == "" || err != nil {
			return nil, fmt.Errorf("%q is not name=host:port or name=host:port@pid", spec)
		}
		peers = append(peers, p)
	}
	return peers, nil
}
