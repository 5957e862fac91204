package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseReportReadsSysbench1_0(t *testing.T) {
	text, err := os.ReadFile("testdata/point_select.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseReport(text)
	if err != nil {
		t.Fatal(err)
	}
	want := report{
		queries: 43489, perSecond: 21685.03, errors: 3,
		histogram: []bucket{{0.065, 15}, {0.081, 4040}, {0.499, 78}, {13.219, 1}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(report{}, bucket{})); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestParseReportRefusesWhatIsNoReport(t *testing.T) {
	good, err := os.ReadFile("testdata/point_select.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":         "",
		"login refused": "FATAL: unable to connect to MySQL server on host '127.0.0.1', port 1, aborting...\n",
		"no histogram":  strings.ReplaceAll(string(good), "|", "!"),
		"not a number":  strings.ReplaceAll(string(good), "43489", "many"),
		"no queries":    strings.ReplaceAll(string(good), "43489", "0"),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseReport([]byte(text)); !errors.Is(err, errReport) {
				t.Errorf("parseReport: got %+v, %v, want %v", got, err, errReport)
			}
		})
	}
}

func TestQuantileIsTheFirstBucketThatReachesTheShare(t *testing.T) {
	r := report{histogram: []bucket{{1, 50}, {2, 45}, {3, 4}, {9, 1}}}
	for _, c := range []struct{ q, want float64 }{{0.01, 1}, {.5, 1}, {.51, 2}, {.95, 2}, {.96, 3}, {.99, 3}, {.995, 9}, {1, 9}} {
		if got := r.quantile(c.q); got != c.want {
			t.Errorf("quantile(%v) = %v, want %v", c.q, got, c.want)
		}
	}
}
