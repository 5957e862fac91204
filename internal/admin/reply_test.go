package admin

import (
	"encoding/json"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

var started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// account has held for the given time in each phase, in the order of the phases.
func account(name string, held ...time.Duration) attribution.Caller {
	c := attribution.Caller{Name: name}
	copy(c.Held[:], held)
	return c
}

func ledger(callers ...attribution.Caller) proxy.PoolSnapshot {
	return proxy.PoolSnapshot{Name: "main", Address: "db:3306", Up: true, Ledger: attribution.Snapshot{Callers: callers}}
}

func TestSharesOverCallersAndPhasesAddUpToOne(t *testing.T) {
	p := ledger(account("a", 3*time.Second, 7*time.Nanosecond, 11*time.Minute), account("b", time.Hour, 1, 1, 1, 1), account("c"))
	got := callersReply(started, proxy.Snapshot{Pools: []proxy.PoolSnapshot{p}})
	var callers, phases float64
	for _, c := range got.Callers {
		callers += c.HeldShare
		for _, ph := range c.Phases {
			phases += ph.Share
		}
	}
	if math.Abs(callers-1) > 1e-9 || math.Abs(phases-1) > 1e-9 {
		t.Errorf("shares: callers add up to %v, phases to %v", callers, phases)
	}
}

func TestSharesArePerPoolAndZeroWhenNothingWasHeld(t *testing.T) {
	busy, quiet := ledger(account("a", time.Second)), ledger(account("b"))
	quiet.Name = "quiet"
	got := callersReply(started, proxy.Snapshot{Pools: []proxy.PoolSnapshot{busy, quiet}})
	if got.Callers[0].HeldShare != 1 || got.Callers[1].HeldShare != 0 {
		t.Errorf("got shares %v and %v, want 1 and 0", got.Callers[0].HeldShare, got.Callers[1].HeldShare)
	}
}

func TestACallerShowsItsAccount(t *testing.T) {
	c := account("checkout", time.Second, 0, 3*time.Second)
	c.InUse[attribution.Executing], c.InUse[attribution.IdleInTransaction] = 1, 2
	c.Errors[attribution.Deadlock], c.Pins[attribution.TempTable] = 4, 5
	c.Waited, c.Waits, c.Waiting, c.WaitTimeouts, c.Abandoned, c.Statements = time.Minute, 6, 7, 8, 9, 10
	c.Holds, c.OldestHold, c.BytesFromClient, c.BytesToClient = 11, 12*time.Second, 13, 14
	got := caller("main", &c, 8*time.Second)
	want := Caller{
		Pool: "main", Name: "checkout", HeldSeconds: 4, HeldShare: 0.5, BackendConns: 3, OldestHoldSeconds: 12, Holds: 11,
		Phases: map[string]Phase{
			"executing": {Seconds: 1, Share: 0.125, BackendConns: 1}, "idle_in_transaction": {Seconds: 3, Share: 0.375, BackendConns: 2},
			"sending": {}, "pinned": {}, "preparing": {},
		},
		WaitedSeconds: 60, Waiting: 7, Waits: 6, WaitTimeouts: 8, WaitsAbandoned: 9, Statements: 10,
		BytesFromClient: 13, BytesToClient: 14,
		Errors: map[string]uint64{"deadlock": 4}, Pins: map[string]uint64{"temp_table": 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAPoolShowsItsNumbers(t *testing.T) {
	p := ledger(account("a", 3*time.Second))
	p.Stat = pool.Stat{
		Size: 50, Idle: 1, InUse: 2, Dialing: 3, Closing: 4, Waiting: 5, InUseTime: 2 * time.Second, FullTime: time.Second,
		Acquires: 6, Waits: 7, WaitTimeouts: 8, Abandoned: 9, WaitErrors: 10, Dials: 11, DialErrors: 12,
	}
	p.Stat.Closes[pool.CloseDead] = 13
	p.ConservationError, p.BytesSent, p.BytesReceived = time.Second, 14, 15
	p.Ledger.OldestHold, p.Ledger.OldestCaller, p.Ledger.Folded = time.Minute, "a", 16
	got := poolsReply(started, proxy.Snapshot{Pools: []proxy.PoolSnapshot{p}}).Pools[0]
	want := Pool{
		Name: "main", Address: "db:3306", Up: true, Limit: 50, Idle: 1, InUse: 2, Dialing: 3, Closing: 4, Waiting: 5,
		InUseSeconds: 2, FullSeconds: 1, HeldSeconds: 3, ConservationErrorSeconds: 1, OldestHoldSeconds: 60, OldestHoldCaller: "a",
		Acquires: 6, Waits: 7, WaitTimeouts: 8, WaitsAbandoned: 19, WaitErrors: 10, Dials: 11, DialErrors: 12,
		Closes: map[string]uint64{"dead": 13}, Callers: 1, CallersFolded: 16, BytesSent: 14, BytesReceived: 15,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSessionsAreSortedAndListsAreNeverNull(t *testing.T) {
	src := &fake{sessions: []proxy.SessionInfo{
		{ID: 7, User: "b", Phase: "idle", Since: started},
		{ID: 3, User: "a", Client: "10.0.0.1:5", Caller: "checkout", Phase: "pinned", PinReasons: []string{"temp_table"}, HeldFor: 1500 * time.Millisecond},
	}}
	_, base := start(t, src)
	_, _, body := ask(t, http.MethodGet, base+"/api/v1/sessions", "")
	var got SessionsReply
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Sessions) != 2 || got.Sessions[0].ID != 3 || got.Sessions[0].HeldForSeconds != 1.5 || got.Sessions[1].PinReasons == nil {
		t.Errorf("got %s", body)
	}
}

func TestRepliesWithoutEntriesAreEmptyLists(t *testing.T) {
	_, base := start(t, &fake{})
	for path, key := range map[string]string{"callers": "callers", "pools": "pools", "sessions": "sessions"} {
		code, header, body := ask(t, http.MethodGet, base+"/api/v1/"+path, "")
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if code != http.StatusOK || string(got[key]) != "[]" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: status %d, %s, header %v", path, code, body, header)
		}
	}
}

func TestAPoolCanBeChosenByName(t *testing.T) {
	a, b := ledger(account("x", 1)), ledger(account("y", 1), account("z", 1))
	b.Name = "replica one"
	_, base := start(t, &fake{snapshot: proxy.Snapshot{Pools: []proxy.PoolSnapshot{a, b}, Started: started}})
	c, err := NewClient(base)
	if err != nil {
		t.Fatal(err)
	}
	defer c.http.CloseIdleConnections()
	got, err := c.Callers(t.Context(), "replica one")
	if err != nil || len(got.Callers) != 2 || got.Callers[0].Pool != "replica one" || !got.Since.Equal(started) {
		t.Errorf("got %+v, %v", got, err)
	}
}
