package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/proxy"
)

const (
	longestName = 28
	mostRows    = 12 // fits a terminal of 24 lines
	textWidth   = 96 // of the verdict, as wide as the table
)

// frame is one picture of the running demo.
type frame struct {
	pool        proxy.PoolSnapshot
	elapsed, of time.Duration
	url         string
}

// columns of the table. A row's phases are parts of its own held time and make 100%.
var columns = []struct {
	title string
	width int
	cell  func(c *attribution.Caller, f *frame) string
}{
	{"IN USE", 6, func(c *attribution.Caller, _ *frame) string { return number(inUse(c)) }},
	{"WAITING", 7, func(c *attribution.Caller, _ *frame) string { return number(c.Waiting) }},
	{"SHARE", 6, func(c *attribution.Caller, f *frame) string { return percent(share(c.TotalHeld(), f.pool.Ledger.Held)) }},
	{"EXEC", 5, phases(attribution.Executing)},
	{"IDLE TX", 7, phases(attribution.IdleInTransaction)},
	{"PINNED", 6, phases(attribution.Pinned)},
	{"OTHER", 5, phases(attribution.Sending, attribution.Preparing)},
	{"HOLD P95", 8, func(c *attribution.Caller, _ *frame) string { return length(c.HoldTimes.Quantile(0.95)) }},
	{"WAIT P95", 8, func(c *attribution.Caller, _ *frame) string { return length(c.WaitTimes.Quantile(0.95)) }},
}

func phases(of ...attribution.Phase) func(*attribution.Caller, *frame) string {
	return func(c *attribution.Caller, _ *frame) string {
		var held time.Duration
		for _, p := range of {
			held += c.Held[p]
		}
		if held == 0 {
			return "-"
		}
		return fmt.Sprintf("%.0f%%", 100*share(held, c.TotalHeld()))
	}
}

// String is the frame as lines of at most 100 columns.
func (f *frame) String() string {
	var b strings.Builder
	st := &f.pool.Stat
	fmt.Fprintf(&b, "%.0f s of %.0f s   %d of %d connections in use, %d waiting   all in use %.0f%% of the time\n\n",
		f.elapsed.Seconds(), f.of.Seconds(), st.InUse, st.Size, st.Waiting, 100*share(st.FullTime, max(f.elapsed, st.FullTime)))
	rows := slices.DeleteFunc(slices.Clone(f.pool.Ledger.Callers), func(c attribution.Caller) bool {
		return c.TotalHeld() == 0 && c.Waits == 0 && c.Waiting == 0
	})
	names := len("CALLER")
	for _, c := range rows {
		names = max(names, utf8.RuneCountInString(name(c.Name)))
	}
	fmt.Fprintf(&b, "%-*s", names, "CALLER")
	for _, col := range columns {
		fmt.Fprintf(&b, "  %*s", col.width, col.title)
	}
	b.WriteString("\n")
	for i := range rows[:min(mostRows, len(rows))] {
		fmt.Fprintf(&b, "%-*s", names, name(rows[i].Name))
		for _, col := range columns {
			fmt.Fprintf(&b, "  %*s", col.width, col.cell(&rows[i], f))
		}
		b.WriteString("\n")
	}
	if more := len(rows) - mostRows; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	fmt.Fprintf(&b, "\nA client that waits at an untagged BEGIN stands under its user until its first tag is read.\n"+
		"admin %s   seconds held by callers less the pool's own count: %s\n", f.url, f.pool.ConservationError)
	return b.String()
}

func inUse(c *attribution.Caller) (n int) {
	for _, k := range c.InUse {
		n += k
	}
	return n
}

// name is a caller's name as a cell. Names are what clients sent: no control sequence may reach the terminal.
func name(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		s = strconv.Quote(s)
	}
	if r := []rune(s); len(r) > longestName {
		return string(r[:longestName-1]) + "…"
	}
	return s
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// length is a length of time with a unit; "-" is none.
func length(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case d <= 0:
		return "-"
	case ms < 9.95:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 999.5:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
}

// wrap breaks text between words into lines of at most textWidth.
func wrap(text string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+width > textWidth:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String()
}
