package metrics

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/google/go-cmp/cmp"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

// fixed is a source that always shows the same.
type fixed struct{ s proxy.Snapshot }

func (f *fixed) Snapshot() proxy.Snapshot { return f.s }

var (
	started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	bounds  = []time.Duration{time.Millisecond, 50 * time.Millisecond, time.Second}
)

// times has one observation per bucket.
func times(sum time.Duration) attribution.Histogram {
	return attribution.Histogram{Bounds: bounds, Counts: []uint64{1, 1, 1, 1}, Sum: sum, Count: 4}
}

func busyCaller(name string) attribution.Caller {
	c := attribution.Caller{
		Name: name, Holds: 4, HoldTimes: times(3 * time.Second), Waits: 4, WaitTimes: times(2 * time.Second),
		Waited: 2 * time.Second, Waiting: 1, WaitTimeouts: 2, Abandoned: 3, Statements: 9,
	}
	c.Held[attribution.Executing] = 1500 * time.Millisecond
	c.Held[attribution.IdleInTransaction] = 2 * time.Second
	c.InUse[attribution.Executing] = 2
	c.Errors[attribution.Deadlock] = 7
	c.Pins[attribution.TempTable] = 5
	return c
}

func busy(callers ...attribution.Caller) proxy.Snapshot {
	stat := pool.Stat{
		Size: 50, Idle: 3, InUse: 2, Dialing: 1, Closing: 1, InUseTime: 3500 * time.Millisecond, FullTime: time.Second,
		Dials: 10, DialErrors: 2,
	}
	stat.Closes[pool.CloseIdle] = 4
	return proxy.Snapshot{
		Started: started, ClientConnections: 12, ClientConnectionsLimit: 100,
		Connects: proxy.ConnectCounts{OK: 20, Auth: 1, TLS: 2, Limit: 3, Protocol: 4},
		BytesIn:  100, BytesOut: 200, Panics: 1,
		Pools: []proxy.PoolSnapshot{{
			Name: "main", Up: true, Stat: stat, BytesSent: 300, BytesReceived: 400,
			ConservationError: time.Nanosecond,
			Ledger:            attribution.Snapshot{Callers: callers, Folded: 6, OldestHold: 90 * time.Second},
		}},
	}
}

// gather collects s through a registry that compares Describe with Collect.
func gather(t testing.TB, s proxy.Snapshot) map[string]*dto.MetricFamily {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(NewCollector(&fixed{s}, Options{Version: "1.2.3", Revision: "abc", CallersLimit: 200}))
	return byName(t, reg)
}

func byName(t testing.TB, reg *prometheus.Registry) map[string]*dto.MetricFamily {
	t.Helper()
	got, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, f := range got {
		out[f.GetName()] = f
	}
	return out
}

func TestEveryFamilyIsCollectedAndLintsClean(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(NewCollector(&fixed{busy(busyCaller("checkout"))}, Options{}))
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if got := len(byName(t, reg)); got != len(families) {
		t.Errorf("%d families collected, %d described", got, len(families))
	}
}

// TestNamesTypesAndLabelsStayAsTheyAre guards dashboards and alerts: a change here breaks those of users.
func TestNamesTypesAndLabelsStayAsTheyAre(t *testing.T) {
	var lines []string
	for name, f := range gather(t, busy(busyCaller("checkout"))) {
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		lines = append(lines, fmt.Sprintf("%s %s {%s}", name, strings.ToLower(f.GetType().String()), strings.Join(labels, ",")))
	}
	sort.Strings(lines)
	got := strings.Join(lines, "\n") + "\n"
	want, err := os.ReadFile("testdata/names.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-testdata/names.golden +got)\n%s", diff)
	}
}

func TestValuesComeFromTheSnapshot(t *testing.T) {
	c := NewCollector(&fixed{busy(busyCaller("checkout"))}, Options{CallersLimit: 200})
	const want = `
# HELP conntag_backend_connects_total Finished attempts to connect to the backend. result: ok, error.
# TYPE conntag_backend_connects_total counter
conntag_backend_connects_total{pool="main",result="error"} 2
conntag_backend_connects_total{pool="main",result="ok"} 7
# HELP conntag_backend_in_use_seconds_total Time integral of backend connections in use, kept by the pool itself and not by attribution.
# TYPE conntag_backend_in_use_seconds_total counter
conntag_backend_in_use_seconds_total{pool="main"} 3.5
# HELP conntag_errors_total Errors that clients were given, by class. A class appears with its first error.
# TYPE conntag_errors_total counter
conntag_errors_total{caller="checkout",class="deadlock",pool="main"} 7
# HELP conntag_hold_conservation_error_seconds Sum of hold seconds less the pool's integral at this scrape; 0 unless attribution leaks.
# TYPE conntag_hold_conservation_error_seconds gauge
conntag_hold_conservation_error_seconds{pool="main"} 1e-09
# HELP conntag_hold_seconds_total Backend connection seconds held, open holds included. state: executing, sending, idle_in_transaction, pinned, preparing.
# TYPE conntag_hold_seconds_total counter
conntag_hold_seconds_total{caller="checkout",pool="main",state="executing"} 1.5
conntag_hold_seconds_total{caller="checkout",pool="main",state="idle_in_transaction"} 2
conntag_hold_seconds_total{caller="checkout",pool="main",state="pinned"} 0
conntag_hold_seconds_total{caller="checkout",pool="main",state="preparing"} 0
conntag_hold_seconds_total{caller="checkout",pool="main",state="sending"} 0
# HELP conntag_pins_total Times a lease was kept past a transaction's end, by reason. A reason appears with its first pin.
# TYPE conntag_pins_total counter
conntag_pins_total{caller="checkout",pool="main",reason="temp_table"} 5
# HELP conntag_wait_duration_seconds Wait for a backend connection, one observation per acquire: 0 for those that did not queue, waits without success included.
# TYPE conntag_wait_duration_seconds histogram
conntag_wait_duration_seconds_bucket{caller="checkout",pool="main",le="0.001"} 1
conntag_wait_duration_seconds_bucket{caller="checkout",pool="main",le="0.05"} 2
conntag_wait_duration_seconds_bucket{caller="checkout",pool="main",le="1"} 3
conntag_wait_duration_seconds_bucket{caller="checkout",pool="main",le="+Inf"} 4
conntag_wait_duration_seconds_sum{caller="checkout",pool="main"} 2
conntag_wait_duration_seconds_count{caller="checkout",pool="main"} 4
`
	err := testutil.CollectAndCompare(c, strings.NewReader(want),
		"conntag_backend_connects_total", "conntag_backend_in_use_seconds_total", "conntag_errors_total",
		"conntag_hold_conservation_error_seconds", "conntag_hold_seconds_total", "conntag_pins_total",
		"conntag_wait_duration_seconds")
	if err != nil {
		t.Error(err)
	}
}

func TestAConfiguredCallerIsThereAtZeroWithoutErrorsAndPins(t *testing.T) {
	quiet := attribution.Caller{Name: "checkout", HoldTimes: attribution.Histogram{Bounds: bounds, Counts: make([]uint64, 4)}}
	got := gather(t, busy(quiet))
	for _, name := range []string{"conntag_hold_seconds_total", "conntag_hold_duration_seconds", "conntag_wait_seconds_total", "conntag_queries_total"} {
		if got[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"conntag_errors_total", "conntag_pins_total"} {
		if got[name] != nil {
			t.Errorf("%s: got %d series, want none", name, len(got[name].Metric))
		}
	}
}

func TestHostileCallerNamesSurviveTheScrape(t *testing.T) {
	names := []string{
		"\xff\xfe", "\xff", "", "a\"b\\c\nd", `le="1"`, "{}", "\x00", strings.Repeat("x", 100_000), "café", "\u202e",
		"__other__", "user:o'brien",
	}
	var callers []attribution.Caller
	for _, n := range names {
		callers = append(callers, busyCaller(n))
	}
	s := busy(callers...)
	s.Pools[0].Name = "po\xffol"
	got := gather(t, s)
	if n := len(got["conntag_holds_total"].Metric); n != len(names) {
		t.Errorf("got %d callers, want %d", n, len(names))
	}
}
