package dashboards_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	quoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	window     = regexp.MustCompile(`\[[^\]]*\]`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	rateCall   = regexp.MustCompile(`\b(?:rate|irate|increase)\s*\(`)
	rateOf     = regexp.MustCompile(`\b(?:rate|irate|increase)\s*\(\s*([a-zA-Z_:][a-zA-Z0-9_:]*)`)
	selector   = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`([a-zA-Z_]+)\s*(?:=~|!~|!=|=)`)
	grouping   = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
)

// names is what an expression may use.
type names struct {
	exported map[string]family
	recorded []string
}

// problems finds what Prometheus itself accepts: a name that nobody exports is an empty result there, not an error. That
// the text is PromQL at all, Prometheus says.
func (n names) problems(expr string) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if strings.TrimSpace(expr) == "" {
		report("the expression is empty")
	}
	expr = window.ReplaceAllString(quoted.ReplaceAllString(expr, `""`), "[]")
	for _, id := range identifier.FindAllString(expr, -1) {
		switch {
		case strings.Contains(id, ":"):
			if !slices.Contains(n.recorded, id) {
				report("%s is not recorded", id)
			}
		case strings.HasPrefix(id, "conntag_"):
			if _, ok := n.exported[id]; !ok {
				report("%s is not exported", id)
			}
		}
	}
	for _, m := range rateOf.FindAllStringSubmatch(expr, -1) {
		if f, ok := n.exported[m[1]]; ok && !f.counter || strings.Contains(m[1], ":") {
			report("rate of %s, which is not a counter", m[1])
		}
	}
	if calls, named := len(rateCall.FindAllString(expr, -1)), len(rateOf.FindAllString(expr, -1)); calls != named {
		report("%d of %d rates are of something else than a plain series", calls-named, calls)
	}
	return append(found, n.labelProblems(expr)...)
}

func (n names) labelProblems(expr string) []string {
	var found []string
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		f, ok := n.exported[s[1]]
		for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
			if ok && !slices.Contains(f.labels, m[1]) {
				found = append(found, fmt.Sprintf("%s has no label %s", s[1], m[1]))
			}
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
		for _, label := range identifier.FindAllString(g[1], -1) {
			if !n.anyHas(label) {
				found = append(found, fmt.Sprintf("no series has the label %s", label))
			}
		}
	}
	return found
}

func (n names) anyHas(label string) bool {
	for name, f := range n.exported {
		if strings.HasPrefix(name, "conntag_") && slices.Contains(f.labels, label) {
			return true
		}
	}
	return false
}

func TestExpressionsAreHeldToWhatIsExported(t *testing.T) {
	n := names{exported(t), []string{"pool:conntag_x:ratio1m"}}
	tests := []struct{ expr, want string }{
		{`sum by (caller) (rate(conntag_hold_seconds_total{pool=~"$pool"}[5m]))`, ""},
		{`max(pool:conntag_x:ratio1m{pool="conntag_nothing"})`, ""},
		{" ", "the expression is empty"},
		{`conntag_hold_second_total`, "conntag_hold_second_total is not exported"},
		{`conntag_hold_duration_seconds`, "conntag_hold_duration_seconds is not exported"},
		{`pool:conntag_x:ratio5m`, "pool:conntag_x:ratio5m is not recorded"},
		{`rate(conntag_waiting_requests[5m])`, "rate of conntag_waiting_requests, which is not a counter"},
		{`rate(pool:conntag_x:ratio1m[5m])`, "rate of pool:conntag_x:ratio1m, which is not a counter"},
		{`rate((conntag_holds_total)[5m:])`, "1 of 1 rates are of something else than a plain series"},
		{`conntag_backend_up{caller="a"}`, "conntag_backend_up has no label caller"},
		{`sum by (phase) (conntag_backend_up)`, "no series has the label phase"},
	}
	for _, tt := range tests {
		if got := strings.Join(n.problems(tt.expr), "; "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.expr, got, tt.want)
		}
	}
}
