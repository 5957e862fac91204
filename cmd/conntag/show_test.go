package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/admin"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

// busyProxy is a proxy in which checkout sits on connections that billing waits for.
type busyProxy struct{}

func (busyProxy) Ready(context.Context) error { return nil }

func (busyProxy) Snapshot() proxy.Snapshot {
	checkout := attribution.Caller{Name: "checkout", Holds: 12, Statements: 40, OldestHold: 75 * time.Second}
	checkout.Held[attribution.Executing] = 30 * time.Second
	checkout.Held[attribution.IdleInTransaction] = 90 * time.Second
	checkout.InUse[attribution.IdleInTransaction] = 2
	checkout.Errors[attribution.Deadlock], checkout.Errors[attribution.Other] = 1, 3
	billing := attribution.Caller{Name: "billing\x1b[2J", Waited: 1500 * time.Millisecond, Waiting: 1, WaitTimeouts: 2, Waits: 3}
	billing.Held[attribution.Preparing] = 40 * time.Second
	stat := pool.Stat{Size: 2, InUse: 2, Waiting: 1, FullTime: 80 * time.Second, Waits: 3, WaitTimeouts: 2, Dials: 4, DialErrors: 1}
	stat.Closes[pool.CloseIdle] = 1
	return proxy.Snapshot{Started: time.Unix(0, 0).UTC(), Pools: []proxy.PoolSnapshot{{
		Name: "main", Address: "db:3306", Up: true, Stat: stat,
		Ledger: attribution.Snapshot{Callers: []attribution.Caller{checkout, billing}, OldestHold: 75 * time.Second, OldestCaller: "checkout"},
	}}}
}

func (busyProxy) Sessions() []proxy.SessionInfo {
	return []proxy.SessionInfo{
		{ID: 2, User: "app", Client: "10.0.0.1:5000", Phase: "idle", Since: time.Now().Add(-time.Hour)},
		{
			ID: 1, User: "app", Client: "10.0.0.1:4000", Schema: "shop", Caller: "checkout", Phase: "pinned",
			PinReasons: []string{"temp_table", "user_lock"}, BackendID: 77, HeldFor: 75 * time.Second, Statements: 5,
			Since: time.Now().Add(-2 * time.Minute),
		},
	}
}

func startAPI(t *testing.T) (url string) {
	t.Helper()
	api := admin.New(admin.Config{Listen: "127.0.0.1:0"}, busyProxy{}, http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if err := api.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		if err := api.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return "http://" + api.Addr().String()
}

// words makes a table comparable whatever its columns' widths are.
func words(s string) [][]string {
	var rows [][]string
	for line := range strings.Lines(s) {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}

func TestShowDrawsTables(t *testing.T) {
	url := startAPI(t)
	for what, want := range map[string]string{
		"callers": `
CALLER POOL HELD SHARE NOW PREP EXEC SEND IDLE-TX PINNED OLDEST HOLDS HOLD-P99 WAITED WAITING WAIT-P99 TIMEOUTS STATEMENTS ERRORS PINS
checkout main 2m0s 75.0% 2 - 25% - 75% - 1m15s 12 - - 0 - 0 40 other=3,deadlock=1 -
"billing\x1b[2J" main 40s 25.0% 0 100% - - - - - 0 - 1.5s 1 - 2 0 - -
`,
		"pools": `
POOL ADDRESS UP IN-USE LIMIT IDLE DIALING WAITING HELD FULL OLDEST OLDEST-CALLER WAITS TIMEOUTS DIALS DIAL-ERRORS CLOSES CALLERS
main db:3306 yes 2 2 0 0 1 2m40s 1m20s 1m15s checkout 3 2 4 1 idle=1 2
`,
		"sessions": `
ID USER CLIENT SCHEMA CALLER PHASE HELD BACKEND PINS STATEMENTS CONNECTED
1 app 10.0.0.1:4000 shop checkout pinned 1m15s 77 temp_table,user_lock 5 2m0s
2 app 10.0.0.1:5000 - - idle - - - 0 1h0m0s
`,
	} {
		code, stdout, stderr := conntag(t, "show", what, "--admin", url)
		if code != exitOK || stderr != "" {
			t.Errorf("%s: code %d, stderr %q", what, code, stderr)
		}
		if diff := cmp.Diff(words(strings.TrimLeft(want, "\n")), words(stdout)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestShowPrintsTheAPIsJSON(t *testing.T) {
	url := startAPI(t)
	for _, what := range []string{"callers", "pools", "sessions"} {
		code, stdout, _ := conntag(t, "show", what, "-o", "json", "--admin", url)
		var got map[string]any
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK || got[what] == nil {
			t.Errorf("%s: code %d, %v:\n%s", what, code, err, stdout)
		}
	}
}

func TestShowOfAnUnknownPoolIsRefused(t *testing.T) {
	code, _, stderr := conntag(t, "show", "pools", "--pool", "none", "--admin", startAPI(t))
	if code != exitFailed || !strings.Contains(stderr, "no pool has that name") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

func TestShowWithoutAProxySaysWhatToLookAt(t *testing.T) {
	t.Setenv(adminVariable, "http://127.0.0.1:1")
	code, stdout, stderr := conntag(t, "show", "callers")
	if code != exitFailed || stdout != "" || !strings.Contains(stderr, "the admin API at http://127.0.0.1:1 does not answer") ||
		!strings.Contains(stderr, "is `conntag proxy` running there") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestSecondsKeepAboutThreeDigits(t *testing.T) {
	for s, want := range map[float64]string{
		0: "-", 0.000_012_3: "12µs", 0.001_234: "1.2ms", 0.25: "250ms", 1.239: "1.24s", 61.7: "1m2s", 7200: "2h0m0s",
	} {
		if got := seconds(s); got != want {
			t.Errorf("seconds(%v): got %s, want %s", s, got, want)
		}
	}
}
