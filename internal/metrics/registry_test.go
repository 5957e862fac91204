package metrics

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func scrape(t testing.TB, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("status %d, %v:\n%s", w.Code, err, body)
	}
	return string(body)
}

func TestAScrapeShowsTheRuntimeAndTheProcessToo(t *testing.T) {
	got := scrape(t, Handler(NewRegistry(&fixed{busy(busyCaller("checkout"))}, Options{})))
	for _, want := range []string{"conntag_build_info{", "go_goroutines ", "process_resident_memory_bytes "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestOneBadSeriesDoesNotCostTheScrape(t *testing.T) {
	same := busyCaller("twice")
	got := scrape(t, Handler(NewRegistry(&fixed{busy(same, same)}, Options{})))
	if !strings.Contains(got, "conntag_backend_up") {
		t.Error("a duplicate series took the others with it")
	}
}

// manyCallers is a pool in which n callers have every histogram bucket filled.
func manyCallers(n int) proxy.Snapshot {
	callers := make([]attribution.Caller, n)
	for i := range callers {
		callers[i] = busyCaller(fmt.Sprintf("caller-%d", i))
		wide := make([]uint64, 24)
		for j := range wide {
			wide[j] = uint64(j)
		}
		h := attribution.Histogram{Counts: wide, Count: 276}
		for j := range 23 {
			h.Bounds = append(h.Bounds, bounds[0]<<j)
		}
		callers[i].HoldTimes, callers[i].WaitTimes = h, h
	}
	return busy(callers...)
}

func BenchmarkScrapeOf500Callers(b *testing.B) {
	h := Handler(NewRegistry(&fixed{manyCallers(500)}, Options{}))
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		size = len(scrape(b, h))
	}
	b.ReportMetric(float64(size), "bytes/scrape")
}
