package dashboards_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	startTimeout = 30 * time.Second // a loaded two-core machine needs 1-2 s
	queryTimeout = 10 * time.Second
)

// prometheus is a private server on a free loopback port. It ends with the test, or with the test's process.
type prometheus struct {
	url    string
	client *http.Client
	cmd    *exec.Cmd
	log    output
	done   chan struct{} // closed when the process is gone
}

// output is what a process writes; it may be read meanwhile.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// startPrometheus returns when queries are answered. The server takes a free port itself, so no other process can take
// it first.
func startPrometheus(t testing.TB, configFile string) *prometheus {
	t.Helper()
	p := &prometheus{client: &http.Client{Timeout: queryTimeout}, done: make(chan struct{})}
	p.cmd = exec.Command(program(t, "prometheus"), "--config.file="+configFile,
		"--storage.tsdb.path="+filepath.Join(t.TempDir(), "data"), "--web.listen-address=127.0.0.1:0")
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = &p.log, &p.log, dieWithParent()
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		t.Fatalf("start prometheus: %v", err)
	}
	t.Cleanup(p.stop)
	eventually(t, startTimeout, "prometheus is ready", func() (bool, string) {
		select {
		case <-p.done:
			t.Fatalf("prometheus ended while starting:\n%s", &p.log)
		default:
		}
		m := listening.FindStringSubmatch(p.log.String())
		if m == nil {
			return false, p.log.String()
		}
		p.url = "http://" + m[1]
		resp, err := p.client.Get(p.url + "/-/ready")
		if err != nil {
			return false, err.Error()
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK, resp.Status
	})
	return p
}

// run keeps its thread for as long as the process lives: the kernel sends the parent-death signal when the thread ends.
func (p *prometheus) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	_ = p.cmd.Wait() // how it ended is in its log
	close(p.done)
}

// stop needs no orderly shutdown: the data is thrown away.
func (p *prometheus) stop() {
	_ = p.cmd.Process.Kill() // an error means that it is gone already
	<-p.done
	p.client.CloseIdleConnections()
}

// series is one line of an answer; an instant query has one value in each.
type series struct {
	labels map[string]string
	values []float64 // without NaN, which Grafana does not draw
}

func (s series) hasMoreThanZeros() bool {
	return slices.ContainsFunc(s.values, func(v float64) bool { return v != 0 })
}

func (p *prometheus) instant(ctx context.Context, expr string) ([]series, error) {
	return p.query(ctx, "query", url.Values{"query": {expr}})
}

// over asks for one value per second of the last span.
func (p *prometheus) over(ctx context.Context, expr string, span time.Duration) ([]series, error) {
	now := time.Now()
	return p.query(ctx, "query_range", url.Values{
		"query": {expr}, "start": {unix(now.Add(-span))}, "end": {unix(now)}, "step": {"1"},
	})
}

func unix(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }

func (p *prometheus) query(ctx context.Context, how string, params url.Values) ([]series, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  sample
			Values []sample
		}
	}
	if err := p.get(ctx, how, params, &data); err != nil {
		return nil, err
	}
	out := make([]series, 0, len(data.Result))
	for _, r := range data.Result {
		s := series{labels: r.Metric}
		if r.Value.present {
			r.Values = append(r.Values, r.Value)
		}
		for _, v := range r.Values {
			if !math.IsNaN(v.value) {
				s.values = append(s.values, v.value)
			}
		}
		if len(s.values) > 0 {
			out = append(out, s)
		}
	}
	return out, nil
}

// sample is [seconds, "value"] in the API.
type sample struct {
	present bool
	value   float64
}

func (s *sample) UnmarshalJSON(text []byte) error {
	var at float64
	var value string
	if err := json.Unmarshal(text, &[]any{&at, &value}); err != nil {
		return err
	}
	var err error
	s.present = true
	s.value, err = strconv.ParseFloat(value, 64)
	return err
}

// get asks the API and unpacks data.
func (p *prometheus) get(ctx context.Context, path string, params url.Values, data any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/"+path+"?"+params.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	reply := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.Unmarshal(body, &reply); err != nil {
		return fmt.Errorf("%s: %w: %s", resp.Status, err, body)
	}
	if reply.Status != "success" {
		return fmt.Errorf("%s: %s", resp.Status, reply.Error)
	}
	return nil
}

// eventually waits until ok, and tells the last state when that does not come.
func eventually(t testing.TB, atMost time.Duration, what string, ok func() (bool, string)) {
	t.Helper()
	deadline := time.NewTimer(atMost)
	defer deadline.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		done, state := ok()
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %s: %s; last: %s", atMost, what, state)
		}
	}
}
