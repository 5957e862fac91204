package dashboards_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// rule is a recording rule or an alert.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

func rules(t testing.TB, files ...string) []rule {
	t.Helper()
	var all []rule
	for _, name := range files {
		var file struct{ Groups []struct{ Rules []rule } }
		if err := yaml.Unmarshal([]byte(read(t, name)), &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, g := range file.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

func known(t testing.TB) names {
	t.Helper()
	n := names{exported: exported(t)}
	for _, r := range rules(t, "rules.yaml") {
		n.recorded = append(n.recorded, r.Record)
	}
	return n
}

func TestPromtoolAcceptsTheFiles(t *testing.T) {
	tests := [][]string{
		{"check", "config", "prometheus.yaml"},
		{"check", "rules", "--lint=all", "--lint-fatal", "rules.yaml", "alerts.yaml"},
		{"test", "rules", "alerts_test.yaml"},
	}
	promtool := program(t, "promtool")
	for _, args := range tests {
		t.Run(args[0]+" "+args[1], func(t *testing.T) {
			if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
				t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
			}
		})
	}
}

func TestRulesUseOnlyWhatIsExported(t *testing.T) {
	n := known(t)
	for _, r := range rules(t, "rules.yaml", "alerts.yaml") {
		for _, p := range n.problems(r.Expr) {
			t.Errorf("%s%s: %s", r.Record, r.Alert, p)
		}
		for where, text := range r.Annotations {
			// Their queries are inside templates, as string literals.
			for _, id := range identifier.FindAllString(text, -1) {
				if strings.Contains(id, "conntag_") {
					for _, p := range n.problems(id) {
						t.Errorf("%s, annotation %s: %s", r.Alert, where, p)
					}
				}
			}
		}
	}
}

func TestEveryRecordedSeriesIsUsed(t *testing.T) {
	users := read(t, "alerts.yaml") + read(t, "hold-time.json")
	for _, r := range rules(t, "rules.yaml") {
		if !strings.Contains(users, r.Record) {
			t.Errorf("%s: neither the dashboard nor an alert uses it", r.Record)
		}
	}
}

func TestEveryAlertSaysHowUrgentItIsAndWhatToDo(t *testing.T) {
	alerts := rules(t, "alerts.yaml")
	if len(alerts) == 0 {
		t.Fatal("no alerts")
	}
	for _, a := range alerts {
		if !slices.Contains([]string{"page", "ticket"}, a.Labels["severity"]) {
			t.Errorf("%s: severity %q", a.Alert, a.Labels["severity"])
		}
		if a.For == "" || a.Annotations["summary"] == "" {
			t.Errorf("%s: for %q, summary %q", a.Alert, a.For, a.Annotations["summary"])
		}
		if !strings.Contains(a.Annotations["runbook"], "conntag show callers") {
			t.Errorf("%s: the runbook does not name the command to begin with: %q", a.Alert, a.Annotations["runbook"])
		}
	}
}

func TestReadmeNamesEveryPanelRuleAndAlert(t *testing.T) {
	text := read(t, "README.md")
	var want []string
	for _, p := range holdTime(t).Panels {
		want = append(want, p.Title)
	}
	for _, r := range rules(t, "rules.yaml", "alerts.yaml") {
		want = append(want, r.Record+r.Alert)
	}
	for _, name := range want {
		if !strings.Contains(text, name) {
			t.Errorf("README.md does not mention %q", name)
		}
	}
}
