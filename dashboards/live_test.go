package dashboards_test

import (
	"context"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	fillTimeout = 60 * time.Second // until windows are full and the alert fires; some 10 s
	// Windows for one scrape per second, instead of those for one in 15.
	rateInterval = "5s"
	shown        = 10 * time.Second // the dashboard's time range
)

// watched is what the subtests below share: a proxy whose pool is full, and a Prometheus in which the alert fires.
type watched struct {
	*house
	prom  *prometheus
	alert alert
}

// alert is one of /api/v1/alerts.
type alert struct {
	Labels, Annotations map[string]string
	State               string
}

func TestDashboardAndAlertTellWhoHoldsAFullPool(t *testing.T) {
	h := newHouse(t)
	prom := startPrometheus(t, hurriedConfig(t, h.admin))
	h.work(t)
	w := &watched{house: h, prom: prom}
	w.waitUntilTheAlertFires(t)

	t.Run("the alert names the top caller", w.alertNamesTheTopCaller)
	t.Run("every panel has data", w.everyPanelHasData)
	t.Run("every variable has values", w.everyVariableHasValues)
	t.Run("the alert is marked on the panels", w.alertIsMarked)
	t.Run("hold seconds name the top holder", w.holdSecondsNameTheTopHolder)
	t.Run("hold seconds are conserved", w.holdSecondsAreConserved)
}

// hurriedConfig copies the directory's own configuration and rules, with seconds instead of minutes.
func hurriedConfig(t testing.TB, scrape string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, changes ...string) string {
		text := read(t, name)
		for i := 0; i < len(changes); i += 2 {
			if !strings.Contains(text, changes[i]) {
				t.Fatalf("%s has no %q to shorten", name, changes[i])
			}
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.NewReplacer(changes...).Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("rules.yaml", "[1m]", "[5s]", "[5m]", "[10s]")
	write("alerts.yaml", "for: 2m", "for: 2s")
	return write("prometheus.yaml", "_interval: 15s", "_interval: 1s", "127.0.0.1:6080", scrape)
}

func (w *watched) waitUntilTheAlertFires(t *testing.T) {
	eventually(t, fillTimeout, "ConntagPoolSaturated fires and conservation has a ratio", func() (bool, string) {
		var data struct{ Alerts []alert }
		if err := w.prom.get(t.Context(), "alerts", nil, &data); err != nil {
			return false, err.Error()
		}
		if len(data.Alerts) != 1 {
			return false, "no alert"
		}
		w.alert = data.Alerts[0]
		ratio, err := w.prom.instant(t.Context(), "instance_pool:conntag_hold_conservation:ratio5m")
		return err == nil && len(ratio) == 1 && w.alert.State == "firing", w.alert.State
	})
}

func (w *watched) alertNamesTheTopCaller(t *testing.T) {
	t.Logf("%v", w.alert.Annotations["description"])
	if got := w.alert.Labels["alertname"]; got != "ConntagPoolSaturated" {
		t.Errorf("alert %s", got)
	}
	if got := w.alert.Annotations["top_caller"]; got != topHolder {
		t.Errorf("top_caller: got %q, want %q", got, topHolder)
	}
	want := "In the last minute " + topHolder + " held "
	if got := w.alert.Annotations["description"]; !strings.HasPrefix(got, want) || strings.Contains(got, "?") {
		t.Errorf("description: got %q, want %q and every figure", got, want)
	}
}

// everyPanelHasData has no list of exceptions: the workload makes pins, waits and timeouts.
func (w *watched) everyPanelHasData(t *testing.T) {
	d := holdTime(t)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			t.Run(p.Title+" "+q.RefID, func(t *testing.T) {
				expr := d.substitute(q.Expr, rateInterval, shown.String())
				if strings.Contains(expr, "$") {
					t.Fatalf("a variable is left in %s", expr)
				}
				got, err := w.ask(t.Context(), expr, q.Instant)
				if err != nil {
					t.Fatalf("%s: %v", expr, err)
				}
				if !slices.ContainsFunc(got, series.hasMoreThanZeros) {
					t.Fatalf("%s: empty or only 0: %v", expr, got)
				}
			})
		}
	}
}

func (w *watched) ask(ctx context.Context, expr string, instant bool) ([]series, error) {
	if instant {
		return w.prom.instant(ctx, expr)
	}
	return w.prom.over(ctx, expr, shown)
}

func (w *watched) everyVariableHasValues(t *testing.T) {
	d := holdTime(t)
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		match, label, _ := v.labelValues()
		var values []string
		params := url.Values{"match[]": {d.substitute(match, "", "")}}
		if err := w.prom.get(t.Context(), "label/"+label+"/values", params, &values); err != nil || len(values) == 0 {
			t.Errorf("%s: %q, %v", v.Name, values, err)
		}
	}
}

func (w *watched) alertIsMarked(t *testing.T) {
	d := holdTime(t)
	for _, a := range d.Annotations.List {
		got, err := w.ask(t.Context(), d.substitute(a.Expr, "", ""), false)
		if err != nil || len(got) == 0 {
			t.Errorf("%s: %d series, %v", a.Name, len(got), err)
		}
	}
}

func (w *watched) holdSecondsNameTheTopHolder(t *testing.T) {
	d := holdTime(t)
	for _, expr := range []string{
		"topk(1, sum by (caller) (conntag_hold_seconds_total))",
		"topk(1, " + d.substitute(d.panel(t, "Hold share").Targets[0].Expr, rateInterval, shown.String()) + ")",
	} {
		got, err := w.prom.instant(t.Context(), expr)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %v, %v", expr, got, err)
		}
		if got[0].labels["caller"] != topHolder {
			t.Errorf("%s: got %s, want %s", expr, got[0].labels["caller"], topHolder)
		}
		t.Logf("%s: %s %.3f", expr, got[0].labels["caller"], got[0].values[0])
	}
	if got := w.Snapshot().Pools[0].Ledger.Callers[0].Name; got != topHolder {
		t.Errorf("the proxy itself says %s holds most", got)
	}
}

func (w *watched) holdSecondsAreConserved(t *testing.T) {
	tests := []struct {
		what, expr      string
		want, tolerance float64
	}{
		{"the recorded ratio", "instance_pool:conntag_hold_conservation:ratio5m", 1, 0.02},
		{"the counters", "sum(conntag_hold_seconds_total) / sum(conntag_backend_in_use_seconds_total)", 1, 1e-6},
		{"the proxy's own check", "max_over_time(conntag_hold_conservation_error_seconds[1m])", 0, 1e-9},
	}
	for _, tt := range tests {
		got, err := w.prom.instant(t.Context(), tt.expr)
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v, %v", tt.what, got, err)
			continue
		}
		t.Logf("%s: %v", tt.what, got[0].values[0])
		if off := math.Abs(got[0].values[0] - tt.want); off > tt.tolerance {
			t.Errorf("%s: got %v, want %v within %v", tt.what, got[0].values[0], tt.want, tt.tolerance)
		}
	}
}
