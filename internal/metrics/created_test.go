package metrics

import (
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/prometheus/client_golang/prometheus"
)

func TestASeriesWasBornAtTheLastScrapeWithoutIt(t *testing.T) {
	now := started
	src := &fixed{busy(busyCaller("early"))}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(NewCollector(src, Options{Now: func() time.Time { return now }}))
	scrape := func(at time.Duration) map[string]*dto.MetricFamily {
		now = started.Add(at)
		return byName(t, reg)
	}
	born := func(f *dto.MetricFamily, caller string) time.Duration {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == "caller" && l.GetValue() == caller {
					return m.Counter.CreatedTimestamp.AsTime().Sub(started)
				}
			}
		}
		t.Fatalf("no series of %s", caller)
		return 0
	}

	if got := born(scrape(10 * time.Second)["conntag_holds_total"], "early"); got != 0 {
		t.Errorf("at the first scrape: born %s after the start, want at the start", got)
	}
	scrape(20 * time.Second)
	early := busyCaller("early")
	early.Errors[3] = 1
	early.Errors[0] = 0
	src.s = busy(early, busyCaller("late"))
	for _, at := range []time.Duration{30 * time.Second, 40 * time.Second} {
		got := scrape(at)
		if b := born(got["conntag_holds_total"], "late"); b != 20*time.Second {
			t.Errorf("late caller: born after %s, want 20s, the last scrape without it", b)
		}
		if b := born(got["conntag_errors_total"], "early"); b != 20*time.Second {
			t.Errorf("late error class: born after %s, want 20s", b)
		}
		if b := born(got["conntag_holds_total"], "early"); b != 0 {
			t.Errorf("early caller: born after %s, want 0s", b)
		}
	}
}
