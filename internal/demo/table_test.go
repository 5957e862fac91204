package demo

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/conntag/conntag/attribution"
)

func TestTableShowsWhoHoldsInColumns(t *testing.T) {
	checkout := holder("checkout_completion", attribution.IdleInTransaction, 96, 12, 3)
	checkout.Held[attribution.Executing], checkout.Held[attribution.Preparing] = 3*time.Second, time.Second
	checkout.InUse[attribution.IdleInTransaction], checkout.InUse[attribution.Executing] = 12, 2
	checkout.HoldTimes = attribution.Histogram{Bounds: []time.Duration{100 * time.Millisecond}, Counts: []uint64{100, 0}, Count: 100}
	cart := holder("cart_update", attribution.Executing, 25, 12, 3)
	cart.Waiting = 7
	cart.WaitTimes = attribution.Histogram{Bounds: []time.Duration{4 * time.Millisecond}, Counts: []uint64{100, 0}, Count: 100}
	f := frame{pool: poolOf(9, checkout, cart, attribution.Caller{Name: "__other__"}), elapsed: 12 * time.Second, of: 30 * time.Second, url: "http://127.0.0.1:6080/"}
	f.pool.Stat.InUse, f.pool.Stat.Waiting = 14, 7
	want := `12 s of 30 s   14 of 16 connections in use, 7 waiting   all in use 75% of the time

CALLER               IN USE  WAITING   SHARE   EXEC  IDLE TX  PINNED  OTHER  HOLD P95  WAIT P95
checkout_completion      14        -   80.0%     3%      96%       -     1%     95 ms         -
cart_update               -        7   20.0%   100%        -       -      -         -    3.8 ms

A client that waits at an untagged BEGIN stands under its user until its first tag is read.
admin http://127.0.0.1:6080/   seconds held by callers less the pool's own count: 0s
`
	if diff := cmp.Diff(want, f.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestTableStaysWithin104ColumnsAnd24LinesWhateverCallersAreCalled(t *testing.T) {
	var crowd []attribution.Caller
	for i := range 30 {
		crowd = append(crowd, holder(fmt.Sprintf("%s-%d", strings.Repeat("é", 60), i), attribution.Executing, 1, 0, 0))
	}
	crowd[0].Name = "\x1b[2Jclear\tscreen"
	f := frame{pool: poolOf(0, crowd...), url: "http://127.0.0.1:6080/"}
	lines := strings.Split(f.String(), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 104 || strings.ContainsAny(line, "\x1b\t") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if !strings.Contains(f.String(), "and 18 more\n") {
		t.Errorf("no word of the callers left out:\n%s", f.String())
	}
}

func TestLengthsHaveAFittingUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "-", 40 * time.Microsecond: "0.0 ms", 440 * time.Microsecond: "0.4 ms", 9949 * time.Microsecond: "9.9 ms", 9960 * time.Microsecond: "10 ms",
		999 * time.Millisecond: "999 ms", 999600 * time.Microsecond: "1.0 s", 75 * time.Second: "75.0 s",
	} {
		if got := length(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	text := strings.Repeat("held the pool ", 30) + strings.Repeat("x", 120)
	got := wrap(text)
	if strings.Join(strings.Fields(got), " ") != text {
		t.Errorf("words changed: %q", got)
	}
	for i, line := range strings.Split(got, "\n") {
		if len(line) > textWidth && strings.Contains(line, " ") || line != strings.TrimSpace(line) || line == "" {
			t.Errorf("line %d: %q", i, line)
		}
	}
}

func TestScreenRedrawsInPlaceOnATerminalOnly(t *testing.T) {
	var terminal, file strings.Builder
	for _, s := range []*screen{{w: &terminal, terminal: true}, {w: &file}} {
		for _, frame := range []string{"a\nb\nc\n", "d\n"} {
			if err := s.draw(frame); err != nil {
				t.Fatal(err)
			}
		}
	}
	const on, off = "\x1b[?7h", "\x1b[?7l"
	want := off + "a\x1b[K\nb\x1b[K\nc\x1b[K\n\x1b[J" + on + off + "\x1b[3Ad\x1b[K\n\x1b[J" + on
	if diff := cmp.Diff(want, terminal.String()); diff != "" {
		t.Errorf("terminal (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("a\nb\nc\n\nd\n", file.String()); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}
