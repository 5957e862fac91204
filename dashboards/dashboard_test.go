package dashboards_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// dashboard is the part of Grafana's dashboard JSON (v1) that the tests look at.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct{ List []variable }
	Annotations   struct{ List []struct{ Name, Expr string } }
	Panels        []panel
}

type variable struct {
	Name, Type, AllValue, Definition string
	Query                            json.RawMessage
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []target
	FieldConfig              struct {
		Defaults struct {
			Unit       string
			Thresholds struct{ Steps []threshold }
		}
	}
}

type target struct {
	RefID, Expr    string
	Instant, Range bool
}

type threshold struct {
	Color string
	Value *float64
}

func parseDashboard(t testing.TB, text string) dashboard {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func holdTime(t testing.TB) dashboard {
	t.Helper()
	return parseDashboard(t, read(t, "hold-time.json"))
}

func (d dashboard) panel(t testing.TB, title string) panel {
	t.Helper()
	for _, p := range d.Panels {
		if p.Title == title {
			return p
		}
	}
	t.Fatalf("there is no panel %q", title)
	return panel{}
}

// red is from where a panel is red.
func (p panel) red(t testing.TB) float64 {
	t.Helper()
	for _, s := range p.FieldConfig.Defaults.Thresholds.Steps {
		if s.Color == "red" && s.Value != nil {
			return *s.Value
		}
	}
	t.Fatalf("%s is never red", p.Title)
	return 0
}

var labelValues = regexp.MustCompile(`^label_values\((.+), ([a-z_]+)\)$`)

// labelValues splits a query variable's label_values(SERIES, LABEL), which only Grafana understands.
func (v variable) labelValues() (series, label string, ok bool) {
	var q struct{ Query string }
	if v.Type != "query" || json.Unmarshal(v.Query, &q) != nil {
		return "", "", false
	}
	m := labelValues.FindStringSubmatch(q.Query)
	if m == nil || q.Query != v.Definition {
		return "", "", false
	}
	return m[1], m[2], true
}

// substitute puts values in for variables, as Grafana does before it asks Prometheus.
func (d dashboard) substitute(expr string, rateInterval, timeRange string) string {
	pairs := []string{"$__rate_interval", rateInterval, "$__range", timeRange}
	for _, v := range d.Templating.List {
		pairs = append(pairs, "$"+v.Name, v.AllValue)
	}
	return strings.NewReplacer(pairs...).Replace(expr)
}
