package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// table is rows of right-aligned cells, the first two of which are names.
type table struct{ b strings.Builder }

func (t *table) row(cells ...string) { t.b.WriteString(strings.Join(cells, "\t") + "\t\n") }

func (t *table) write(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := io.WriteString(tw, t.b.String()); err != nil {
		return err
	}
	return tw.Flush()
}

func writeCells(w io.Writer, cells []cell, pool int) error {
	t := &table{}
	t.row("THREADS", "PEER", "QUERIES/S", "OF DIRECT", "P95 MS", "P99 MS", "CPU-S/100K", "OF GOCOPY", "SWITCHES/QUERY", "DB CPU-S/100K", "RSS MIB", "ERRORS")
	for _, c := range cells {
		t.row(fmt.Sprint(c.threads), c.peer, c.perSecond.format("%.0f"), c.ofDirect.ranged(), c.p95.format("%.2f"), c.p99.format("%.2f"),
			c.cpu.format("%.2f"), c.ofGocopy.ranged(), c.switches.format("%.2f"), c.dbCPU.format("%.2f"),
			spread{median: c.rssKiB.median / 1024}.format("%.1f"), fmt.Sprint(c.errors))
	}
	if err := t.write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nMedian over the rounds [lowest-highest]; ratios are taken within a round. CPU, switches and RSS are the proxy's own.\n"+
		"Behind conntag are %d database connections, behind the others one per thread.\n\n", pool)
	return err
}

func writeIdle(w io.Writer, rows []idleResult) error {
	t := &table{}
	t.row("IDLE CLIENTS", "PEER", "KIB EACH", "RSS BEFORE MIB", "RSS WITH THEM MIB")
	for _, r := range rows {
		t.row(fmt.Sprint(r.Clients), r.Peer, fmt.Sprintf("%.2f", r.KiBEach),
			fmt.Sprintf("%.1f", float64(r.BeforeKiB)/1024), fmt.Sprintf("%.1f", float64(r.AfterKiB)/1024))
	}
	if err := t.write(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\nGrowth in resident memory per client that logged in, asked one question and stayed. What the kernel keeps for\n"+
		"their sockets is not in it, nor is the database's memory for the connections of a relay.\n")
	return err
}

// format shows the median; "-" when it is unknown.
func (s spread) format(layout string) string {
	if s.median == 0 {
		return "-"
	}
	return fmt.Sprintf(layout, s.median)
}

func (s spread) ranged() string {
	if s.median == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f [%.2f-%.2f]", s.median, s.min, s.max)
}

// recorder keeps every measurement as a line of JSON and shows it as it comes.
type recorder struct {
	file *os.File // nil: none was asked for
}

func newRecorder(path string) (*recorder, error) {
	if path == "" {
		return &recorder{}, nil
	}
	f, err := os.Create(path)
	return &recorder{f}, err
}

func (r *recorder) add(m fmt.Stringer) error {
	fmt.Fprintln(os.Stderr, m)
	if r.file == nil {
		return nil
	}
	return json.NewEncoder(r.file).Encode(m)
}

func (r *recorder) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

func (s sample) String() string {
	return fmt.Sprintf("round %d, %d threads, %s: %.0f queries/s, p99 %.2f ms, %.2f CPU-s per 100k", s.Round, s.Threads, s.Peer, s.PerSecond, s.P99, s.CPU)
}

func (r idleResult) String() string {
	return fmt.Sprintf("idle, %d clients, %s: %.2f KiB each", r.Clients, r.Peer, r.KiBEach)
}
