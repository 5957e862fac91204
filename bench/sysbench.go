package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/conntag/conntag/internal/mariadbtest"
)

const (
	schema    = "sbtest"
	tableSize = 10000
)

// report is what sysbench says of one run. Latencies are in milliseconds, as sysbench gives them.
type report struct {
	queries   uint64
	perSecond float64
	errors    uint64 // ignored errors and reconnects: not zero means that something is wrong
	histogram []bucket
}

// bucket counts events of about value milliseconds.
type bucket struct {
	value float64
	count uint64
}

func sysbenchPrepare(ctx context.Context, addr string) error {
	for _, command := range []string{"cleanup", "prepare"} {
		if _, err := sysbench(ctx, addr, command); err != nil {
			return err
		}
	}
	return nil
}

// sysbenchRun runs point selects in the text protocol for about length.
func sysbenchRun(ctx context.Context, addr string, threads int, length time.Duration) (report, error) {
	out, err := sysbench(ctx, addr, "--threads="+strconv.Itoa(threads), fmt.Sprintf("--time=%d", int(length.Seconds())),
		"--db-ps-mode=disable", "--histogram=on", "run")
	if err != nil {
		return report{}, err
	}
	return parseReport(out)
}

func sysbench(ctx context.Context, addr string, args ...string) ([]byte, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sysbench", append([]string{"oltp_point_select", "--mysql-host=" + host, "--mysql-port=" + port,
		"--mysql-user=" + mariadbtest.User, "--mysql-password=" + mariadbtest.Password, "--mysql-db=" + schema,
		"--tables=1", "--table-size=" + strconv.Itoa(tableSize)}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	if err := p.wait(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("sysbench %s: %w\n%s", args[len(args)-1], err, bytes.TrimSpace(out.Bytes()))
	}
	return out.Bytes(), nil
}

var errReport = errors.New("sysbench's report is not what this program knows")

// parseReport reads the report of sysbench 1.0 with --histogram=on.
func parseReport(text []byte) (report, error) {
	var r report
	for line := range strings.Lines(string(text)) {
		if b, ok := parseBucket(line); ok {
			r.histogram = append(r.histogram, b)
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if err := r.set(key, strings.Fields(value)); err != nil {
			return report{}, fmt.Errorf("%w: %q", errReport, line)
		}
	}
	if r.queries == 0 || r.perSecond == 0 || len(r.histogram) == 0 {
		return report{}, fmt.Errorf("%w: no queries in %q", errReport, text)
	}
	return r, nil
}

// set takes over "queries: 43489 (21685.03 per sec.)" and its like.
func (r *report) set(key string, values []string) (err error) {
	switch {
	case key == "queries" && len(values) >= 2:
		if r.queries, err = strconv.ParseUint(values[0], 10, 64); err == nil {
			r.perSecond, err = strconv.ParseFloat(strings.TrimPrefix(values[1], "("), 64)
		}
	case (key == "ignored errors" || key == "reconnects") && len(values) >= 1:
		var n uint64
		n, err = strconv.ParseUint(values[0], 10, 64)
		r.errors += n
	}
	return err
}

// parseBucket reads "  0.084 |****   1641".
func parseBucket(line string) (bucket, bool) {
	value, rest, ok := strings.Cut(line, "|")
	if !ok {
		return bucket{}, false
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return bucket{}, false
	}
	n, err := strconv.ParseUint(strings.Trim(rest, " *\r\n"), 10, 64)
	return bucket{v, n}, err == nil
}

// quantile is the latency, in milliseconds, that a part q of the events did not exceed.
func (r report) quantile(q float64) float64 {
	var total uint64
	for _, b := range r.histogram {
		total += b.count
	}
	var seen uint64
	for _, b := range r.histogram {
		if seen += b.count; float64(seen) >= q*float64(total) {
			return b.value
		}
	}
	return 0
}
