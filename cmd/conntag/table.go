package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/conntag/conntag/internal/admin"
)

// phaseColumns are the columns of the phases, in the order in which a hold goes through them.
var phaseColumns = []struct{ phase, title string }{
	{"preparing", "PREP"}, {"executing", "EXEC"}, {"sending", "SEND"}, {"idle_in_transaction", "IDLE-TX"}, {"pinned", "PINNED"},
}

// callersTable shows each phase as its part of the caller's own held time, so that a row's phases make 100 %.
func callersTable(w io.Writer, r admin.CallersReply) error {
	header := []string{"CALLER", "POOL", "HELD", "SHARE", "NOW"}
	for _, c := range phaseColumns {
		header = append(header, c.title)
	}
	header = append(header, "OLDEST", "HOLDS", "HOLD-P99", "WAITED", "WAITING", "WAIT-P99", "TIMEOUTS", "STATEMENTS", "ERRORS", "PINS")
	t := newTable(header...)
	for _, c := range r.Callers {
		row := []string{text(c.Name), text(c.Pool), seconds(c.HeldSeconds), percent(c.HeldShare), strconv.Itoa(c.BackendConns)}
		for _, col := range phaseColumns {
			row = append(row, part(c.Phases[col.phase].Seconds, c.HeldSeconds))
		}
		t.row(append(row, seconds(c.OldestHoldSeconds), count(c.Holds), seconds(c.HoldP99Seconds),
			seconds(c.WaitedSeconds), strconv.Itoa(c.Waiting), seconds(c.WaitP99Seconds), count(c.WaitTimeouts),
			count(c.Statements), counts(c.Errors), counts(c.Pins))...)
	}
	return t.write(w)
}

func poolsTable(w io.Writer, r admin.PoolsReply) error {
	t := newTable("POOL", "ADDRESS", "UP", "IN-USE", "LIMIT", "IDLE", "DIALING", "WAITING", "HELD", "FULL", "OLDEST",
		"OLDEST-CALLER", "WAITS", "TIMEOUTS", "DIALS", "DIAL-ERRORS", "CLOSES", "CALLERS")
	for _, p := range r.Pools {
		up := "no"
		if p.Up {
			up = "yes"
		}
		t.row(text(p.Name), text(p.Address), up, strconv.Itoa(p.InUse), strconv.Itoa(p.Limit), strconv.Itoa(p.Idle),
			strconv.Itoa(p.Dialing), strconv.Itoa(p.Waiting), seconds(p.HeldSeconds), seconds(p.FullSeconds),
			seconds(p.OldestHoldSeconds), text(p.OldestHoldCaller), count(p.Waits), count(p.WaitTimeouts),
			count(p.Dials), count(p.DialErrors), counts(p.Closes), strconv.Itoa(p.Callers))
	}
	return t.write(w)
}

func sessionsTable(w io.Writer, r admin.SessionsReply) error {
	t := newTable("ID", "USER", "CLIENT", "SCHEMA", "CALLER", "PHASE", "HELD", "BACKEND", "PINS", "STATEMENTS", "CONNECTED")
	for _, s := range r.Sessions {
		backend := "-"
		if s.BackendID != 0 {
			backend = strconv.FormatUint(uint64(s.BackendID), 10)
		}
		t.row(strconv.FormatUint(uint64(s.ID), 10), text(s.User), text(s.Client), text(s.Schema), text(s.Caller),
			text(s.Phase), seconds(s.HeldForSeconds), backend, text(strings.Join(s.PinReasons, ",")),
			count(s.Statements), seconds(r.At.Sub(s.Since).Seconds()))
	}
	return t.write(w)
}

// table is rows of cells in aligned columns.
type table struct{ b strings.Builder }

func newTable(header ...string) *table {
	t := &table{}
	t.row(header...)
	return t
}

func (t *table) row(cells ...string) { t.b.WriteString(strings.Join(cells, "\t") + "\n") }

func (t *table) write(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(tw, t.b.String()); err != nil {
		return err
	}
	return tw.Flush()
}

// text is a cell that came from outside. Names are what clients sent: a control sequence must not reach the
// terminal, nor a tab the columns.
func text(s string) string {
	if s == "" {
		return "-"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// seconds is a length of time with about three digits; "-" is none.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d <= 0:
		return "-"
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond / 10).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// part is a as percent of b; "-" when there is none of it.
func part(a, b float64) string {
	if a <= 0 || b <= 0 {
		return "-"
	}
	if a/b < 0.01 {
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", 100*a/b)
}

func count(n uint64) string { return strconv.FormatUint(n, 10) }

// counts is "deadlock=3,other=1", most first; "-" is none.
func counts(m map[string]uint64) string {
	if len(m) == 0 {
		return "-"
	}
	words := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
	for i, word := range words {
		words[i] = text(word) + "=" + count(m[word])
	}
	return strings.Join(words, ",")
}
