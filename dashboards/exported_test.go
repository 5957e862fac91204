package dashboards_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/metrics"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

// family is one series name as a query sees it: of a histogram there are three.
type family struct {
	counter bool // rate() is allowed
	labels  []string
}

// onePool is a pool with one caller that has had an error and a pin, without which their families are not exported.
type onePool struct{}

func (onePool) Snapshot() proxy.Snapshot {
	c := attribution.Caller{Name: "checkout"}
	c.Errors[attribution.Deadlock] = 1
	c.Pins[attribution.TempTable] = 1
	return proxy.Snapshot{
		Started: time.Unix(1, 0),
		Pools: []proxy.PoolSnapshot{{
			Name: "main", Stat: pool.Stat{Size: 2}, Ledger: attribution.Snapshot{Callers: []attribution.Caller{c}},
		}},
	}
}

// exported is every series name of internal/metrics.
func exported(t testing.TB) map[string]family {
	t.Helper()
	got, err := metrics.NewRegistry(onePool{}, metrics.Options{}).Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]family{}
	for _, f := range got {
		name, labels := f.GetName(), labelsOf(f)
		switch f.GetType() {
		case dto.MetricType_HISTOGRAM:
			out[name+"_bucket"] = family{true, append(slices.Clone(labels), "le")}
			out[name+"_sum"] = family{true, labels}
			out[name+"_count"] = family{true, labels}
		default:
			out[name] = family{f.GetType() == dto.MetricType_COUNTER, labels}
		}
	}
	return out
}

// labelsOf includes the labels that a scrape adds.
func labelsOf(f *dto.MetricFamily) []string {
	labels := []string{"job", "instance"}
	for _, l := range f.Metric[0].Label {
		labels = append(labels, l.GetName())
	}
	return labels
}

func TestExportedKnowsTheHistogramsAndWhatAppearsLate(t *testing.T) {
	names := exported(t)
	for _, want := range []string{"conntag_wait_duration_seconds_bucket", "conntag_pins_total", "conntag_errors_total"} {
		if f, ok := names[want]; !ok || !f.counter || !slices.Contains(f.labels, "caller") {
			t.Errorf("%s: got %+v", want, f)
		}
	}
	for name, f := range names {
		if want := strings.HasSuffix(name, "_total"); strings.HasPrefix(name, "conntag_") && f.counter != want &&
			!strings.Contains(name, "_duration_seconds_") {
			t.Errorf("%s: counter is %v, want %v", name, f.counter, want)
		}
	}
}
