package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gone fails the test when the database's process or directory is still there.
func gone(t *testing.T, pid int, dir string) {
	t.Helper()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory %s is still there: %v", dir, err)
	}
}

var place = regexp.MustCompile(`pid (\d+), in (\S+)`)

// leftNothing finds where the database was in what the demo said.
func leftNothing(t *testing.T, said string) {
	t.Helper()
	m := place.FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no place of the database in %q", said)
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pid, m[2])
}

func TestDemoFindsTheHolderAndLeavesNothingBehind(t *testing.T) {
	var out, errs bytes.Buffer
	if err := Run(t.Context(), Options{Duration: 3 * time.Second, Clients: DefaultClients, JSON: true, Stdout: &out, Stderr: &errs}); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	leftNothing(t, errs.String())
	var r Report
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("output is not one report: %v", err)
	}
	if rest, err := io.ReadAll(io.MultiReader(d.Buffered(), &out)); err != nil || strings.TrimSpace(string(rest)) != "" {
		t.Errorf("after the report: %q, %v", rest, err)
	}
	if r.TopHolder != "checkout_completion" || r.TopPhase != "idle_in_transaction" {
		t.Errorf("top holder %s in %s", r.TopHolder, r.TopPhase)
	}
	if r.ConservationErrorSeconds != 0 || r.WaitConservationErrorSeconds != 0 {
		t.Errorf("off by %g held and %g waited seconds", r.ConservationErrorSeconds, r.WaitConservationErrorSeconds)
	}
	if r.FailedVisits != 0 || r.WaitTimeouts != 0 || r.Interrupted {
		t.Errorf("%d failed visits (%s), %d timeouts, interrupted %t", r.FailedVisits, r.FirstFailure, r.WaitTimeouts, r.Interrupted)
	}
	if r.PoolSize != 16 || r.Clients != 40 || r.DurationSeconds < 3 || r.DurationSeconds > 3+stopGrace.Seconds() {
		t.Errorf("pool of %d, %d clients, %g s", r.PoolSize, r.Clients, r.DurationSeconds)
	}
	checkCallers(t, r)
	if !strings.HasPrefix(r.Verdict, "checkout_completion held the pool: ") || !strings.Contains(r.Verdict, "before BEGIN or after COMMIT") {
		t.Errorf("verdict:\n%s", r.Verdict)
	}
}

// checkCallers holds the sums that make a report a report, and that the pool really was short.
func checkCallers(t *testing.T, r Report) {
	t.Helper()
	var shares, phaseShares, forTop, waited float64
	tagged := map[string]bool{}
	for _, c := range r.Callers {
		shares += c.HeldShare
		for _, p := range c.Phases {
			phaseShares += p.Share
		}
		waited += c.WaitedSeconds
		if c.Name != r.TopHolder {
			forTop += c.WaitedForTopSeconds
		}
		if c.Statements > 0 {
			tagged[c.Name] = true
		}
	}
	if math.Abs(shares-1) > 0.001 || math.Abs(phaseShares-1) > 0.001 {
		t.Errorf("shares make %g, by phase %g, want 1", shares, phaseShares)
	}
	if math.Abs(waited-r.WaitedTotal) > 0.001*r.WaitedTotal {
		t.Errorf("callers waited %g s, the pool counts %g", waited, r.WaitedTotal)
	}
	if r.Waits == 0 || forTop <= 0 {
		t.Errorf("%d waits, %g s of others because of the top holder: nobody was kept waiting", r.Waits, forTop)
	}
	for _, name := range []string{"checkout_completion", "cart_update", "order_create", "payment_capture", "reservation_reserve", "storefront_read", "user:app"} {
		if !tagged[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

// onLine is a writer that calls f when a line with text is written.
type onLine struct {
	buf  bytes.Buffer
	text string
	f    func()
}

func (w *onLine) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.f()
	}
	return w.buf.Write(p)
}

func (w *onLine) String() string { return w.buf.String() }

func TestAnInterruptedRunTellsWhatItSaw(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &onLine{text: "CALLER ", f: cancel} // the first table
	if err := Run(ctx, Options{Duration: maxDuration, Clients: DefaultClients, Keep: true, Stdout: out, Stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	leftNothing(t, out.String())
	if !strings.Contains(out.String(), "\ncheckout_completion held the pool: ") || strings.Contains(out.String(), "until Ctrl-C") {
		t.Errorf("output:\n%s", out.String())
	}
}

func TestKeepLeavesEverythingUpUntilInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &onLine{text: "until Ctrl-C"}
	out.f = func() {
		for _, at := range regexp.MustCompile(`127\.0\.0\.1:\d+`).FindAllString(out.String(), -1) {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Errorf("%s is not up: %v", at, err)
				continue
			}
			_ = conn.Close()
		}
		cancel()
	}
	if err := Run(ctx, Options{Duration: minDuration, Clients: len(callers), Keep: true, Stdout: out, Stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == nil {
		t.Error("ended before it was interrupted")
	}
	leftNothing(t, out.String())
}

func TestAnInterruptWhileStartingLeavesNothingBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Duration: minDuration, Clients: DefaultClients, Stderr: io.Discard}
	o.Stdout = &onLine{text: "conntag demo", f: cancel}
	if err := Run(ctx, o); !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v, want %v", err, ErrInterrupted)
	}
	s := &stage{} // the same, where its parts can be seen
	if err := s.start(ctx, o); !errors.Is(err, context.Canceled) || s.db == nil || s.proxy != nil {
		t.Fatalf("start: %v, database %v, proxy %v", err, s.db, s.proxy)
	}
	pid, dir := s.db.Pid(), filepath.Dir(s.db.LogFile())
	if err := s.close(); err != nil {
		t.Error(err)
	}
	gone(t, pid, dir)
}

func TestABrokenOutputEndsTheRun(t *testing.T) {
	r, w := io.Pipe()
	broken := errors.New("nobody reads")
	text := make(chan string, 1)
	go func() {
		buf := make([]byte, 64<<10)
		n, _ := r.Read(buf) // the first line
		m, _ := r.Read(buf[n:])
		_ = r.CloseWithError(broken)
		text <- string(buf[:n+m])
	}()
	err := Run(t.Context(), Options{Duration: maxDuration, Clients: DefaultClients, Stdout: w, Stderr: io.Discard})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	leftNothing(t, <-text)
}

func TestOptionsThatCannotRunNameTheFlag(t *testing.T) {
	for want, o := range map[string]Options{
		"--duration: must be between 1s and 10m0s, is 0s":               {Clients: 40},
		"--duration: must be between 1s and 10m0s, is 1h0m0s":           {Clients: 40, Duration: time.Hour},
		"--clients: must be between 7 (one per caller) and 400, is 6":   {Clients: 6, Duration: time.Second},
		"--clients: must be between 7 (one per caller) and 400, is 401": {Clients: 401, Duration: time.Second},
	} {
		if err := Run(t.Context(), o); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
