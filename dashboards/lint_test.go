package dashboards_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	panelTypes  = []string{"stat", "timeseries", "bargauge"}
	builtIn     = []string{"__rate_interval", "__range"}
	dollar      = regexp.MustCompile(`\$\{?([a-zA-Z_]+)`)
	fixedWindow = regexp.MustCompile(`\[\d+[smhd]`)
)

// lint is what Grafana would show as an empty or broken panel without saying why.
func lint(d dashboard, text string, n names) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if d.UID == "" || len(d.UID) > 40 {
		report("uid %q: Grafana wants 1 to 40 characters", d.UID)
	}
	if d.SchemaVersion != 42 {
		report("schemaVersion %d, want 42", d.SchemaVersion)
	}
	found = append(found, lintDatasources(text)...)
	found = append(found, d.lintVariables(text, n)...)
	seen := map[int]bool{}
	for i, p := range d.Panels {
		if p.ID < 1 || seen[p.ID] {
			report("%s: id %d is not its own", p.Title, p.ID)
		}
		seen[p.ID] = true
		for _, o := range d.Panels[:i] {
			if p.overlaps(o) {
				report("%s overlaps %s", p.Title, o.Title)
			}
		}
		found = append(found, p.lint(n)...)
	}
	for _, a := range d.Annotations.List {
		for _, problem := range n.problems(a.Expr) {
			report("annotation %s: %s", a.Name, problem)
		}
	}
	return found
}

func (p panel) lint(n names) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, p.Title+": "+fmt.Sprintf(format, args...)) }
	if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" {
		report("title %q, description %q, unit %q: none may be empty", p.Title, p.Description, p.FieldConfig.Defaults.Unit)
	}
	if !slices.Contains(panelTypes, p.Type) {
		report("unknown panel type %q", p.Type)
	}
	if g := p.GridPos; g.X < 0 || g.Y < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
		report("%+v is outside the grid of 24 columns", g)
	}
	if len(p.Targets) == 0 {
		report("no query")
	}
	refs := map[string]bool{}
	for _, q := range p.Targets {
		if q.RefID == "" || refs[q.RefID] {
			report("refId %q is not its own", q.RefID)
		}
		refs[q.RefID] = true
		if q.Instant == q.Range {
			report("query %s must be either instant or range", q.RefID)
		}
		if fixedWindow.MatchString(q.Expr) {
			report("query %s has a window of its own; $__rate_interval fits every scrape interval", q.RefID)
		}
		for _, problem := range n.problems(q.Expr) {
			report("query %s: %s", q.RefID, problem)
		}
	}
	return found
}

func (p panel) overlaps(o panel) bool {
	a, b := p.GridPos, o.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

func (d dashboard) lintVariables(text string, n names) []string {
	var found, declared []string
	for _, v := range d.Templating.List {
		declared = append(declared, v.Name)
		if v.Type == "datasource" {
			continue
		}
		series, label, ok := v.labelValues()
		if !ok {
			found = append(found, fmt.Sprintf("variable %s: query and definition must both be label_values(SERIES, LABEL)", v.Name))
			continue
		}
		for _, p := range append(n.problems(series), n.problems("sum by ("+label+") ("+series+")")...) {
			found = append(found, fmt.Sprintf("variable %s: %s", v.Name, p))
		}
		if v.AllValue == "" {
			found = append(found, fmt.Sprintf("variable %s: without allValue, All becomes a list of every value", v.Name))
		}
	}
	used := map[string]bool{}
	for _, m := range dollar.FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
		if !slices.Contains(declared, m[1]) && !slices.Contains(builtIn, m[1]) && m[1] != "__all" {
			found = append(found, fmt.Sprintf("$%s is not a variable", m[1]))
		}
	}
	for _, name := range declared {
		if !used[name] {
			found = append(found, fmt.Sprintf("variable %s is not used", name))
		}
	}
	return found
}

// lintDatasources walks the whole document, since a datasource may stand at any depth.
func lintDatasources(text string) []string {
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return []string{err.Error()}
	}
	var found []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			source, has := v["datasource"]
			_, query := v["expr"]
			if uid, _ := source.(map[string]any); (has || query) && uid["uid"] != "${datasource}" {
				found = append(found, fmt.Sprintf("%s: datasource is %v, want ${datasource}", path, source))
			}
			for k, child := range v {
				walk(path+"."+k, child)
			}
		case []any:
			for i, child := range v {
				walk(path+"["+strconv.Itoa(i)+"]", child)
			}
		}
	}
	walk("", doc)
	return found
}

func TestDashboardLintsClean(t *testing.T) {
	for _, p := range lint(holdTime(t), read(t, "hold-time.json"), known(t)) {
		t.Error(p)
	}
}

func TestPanelsTurnRedWhereTheAlertFires(t *testing.T) {
	d, alerts := holdTime(t), rules(t, "alerts.yaml")
	full := regexp.MustCompile(`conntag_saturation:ratio1m > ([0-9.]+)`).FindStringSubmatch(alerts[0].Expr)
	if want := fmt.Sprint(d.panel(t, "Saturation").red(t)); full == nil || full[1] != want {
		t.Errorf("Saturation is red from %s, the alert has %v", want, full)
	}
	slow := regexp.MustCompile(`le="([0-9.]+)"`).FindStringSubmatch(read(t, "rules.yaml"))
	if want := fmt.Sprint(d.panel(t, "p99 wait").red(t)); slow == nil || slow[1] != want {
		t.Errorf("p99 wait is red from %s, slow waits are those over %v", want, slow)
	}
}

// TestLintSeesEachMistake bends the real dashboard in one place at a time.
func TestLintSeesEachMistake(t *testing.T) {
	text, n := read(t, "hold-time.json"), known(t)
	tests := []struct{ old, new, want string }{
		{`"uid": "conntag-hold-time"`, `"uid": ""`, "uid"},
		{`"schemaVersion": 42`, `"schemaVersion": 39`, "schemaVersion 39"},
		{`"uid": "${datasource}"`, `"uid": "prometheus-1"`, "want ${datasource}"},
		{`"id": 2,`, `"id": 1,`, "id 1 is not its own"},
		{`"x": 6, "y": 0`, `"x": 5, "y": 0`, "overlaps Saturation"},
		{`"x": 16, "y": 4`, `"x": 17, "y": 4`, "outside the grid"},
		{`"title": "Waiting now"`, `"title": ""`, "none may be empty"},
		{`"unit": "percentunit"`, `"unit": ""`, "none may be empty"},
		{`"type": "bargauge"`, `"type": "bargraph"`, "unknown panel type"},
		{`"refId": "B"`, `"refId": "A"`, "is not its own"},
		{`"instant": true`, `"instant": false`, "either instant or range"},
		{`[$__rate_interval]`, `[5m]`, "window of its own"},
		{`[$__rate_interval]`, `[$__rate_intervall]`, "$__rate_intervall is not a variable"},
		{`(state) (rate(conntag_hold_seconds_total`, `(state) (rate(conntag_held_seconds_total`, "not exported"},
		{`instance_pool:conntag_saturation:ratio1m`, `pool:conntag_saturation:ratio1m`, "not recorded"},
		{`$caller`, `.*`, "variable caller is not used"},
		{`_limit, pool)`, `_limit, pol)`, "label_values"},
		{`"allValue": ".*"`, `"allValue": ""`, "without allValue"},
	}
	for _, tt := range tests {
		bent := strings.Replace(text, tt.old, tt.new, 1)
		if tt.old == "$caller" {
			bent = strings.ReplaceAll(text, tt.old, tt.new)
		}
		if bent == text {
			t.Errorf("%s is not in the dashboard", tt.old)
			continue
		}
		got := lint(parseDashboard(t, bent), bent, n)
		if !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, tt.want) }) {
			t.Errorf("%s instead of %s: got %q, want one with %q", tt.new, tt.old, got, tt.want)
		}
	}
}
