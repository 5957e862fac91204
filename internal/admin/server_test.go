package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/conntag/conntag/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a proxy that shows what it is told.
type fake struct {
	snapshot proxy.Snapshot
	sessions []proxy.SessionInfo
	ready    error
}

func (f *fake) Snapshot() proxy.Snapshot        { return f.snapshot }
func (f *fake) Sessions() []proxy.SessionInfo   { return f.sessions }
func (f *fake) Ready(ctx context.Context) error { return f.ready }

var fakeMetrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "conntag_up 1\n") })

// safeBuffer is a log that a server's goroutines may write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *safeBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// start serves src on a free port until the test ends, and gives the base URL.
func start(t *testing.T, src Source, edit ...func(*Config)) (*Server, string) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Listen = "127.0.0.1:0"
	for _, f := range edit {
		f(&cfg)
	}
	s := New(cfg, src, fakeMetrics, slog.New(slog.DiscardHandler))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s, "http://" + s.Addr().String()
}

// ask sends one request and gives its status, headers and body.
func ask(t *testing.T, method, url, host string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func askError(t *testing.T, method, url, host string) (int, Error) {
	t.Helper()
	code, _, body := ask(t, method, url, host)
	var e Error
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%s %s: not JSON: %s", method, url, body)
	}
	if e.Error == "" || e.Do == "" {
		t.Errorf("%s %s: says neither what nor what to do: %s", method, url, body)
	}
	return code, e
}

func TestEveryPageOfTheIndexIsServed(t *testing.T) {
	_, base := start(t, &fake{})
	code, header, page := ask(t, http.MethodGet, base+"/", "")
	if code != http.StatusOK || header.Get("Content-Security-Policy") == "" {
		t.Fatalf("index: status %d, header %v", code, header)
	}
	links := regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(links) != 7 {
		t.Errorf("index has %d links, want 7", len(links))
	}
	for _, link := range links {
		if code, _, body := ask(t, http.MethodGet, base+link[1], ""); code != http.StatusOK {
			t.Errorf("%s: status %d: %s", link[1], code, body)
		}
	}
}

func TestMetricsAreAnsweredByTheHandlerGiven(t *testing.T) {
	_, base := start(t, &fake{})
	if _, _, body := ask(t, http.MethodGet, base+"/metrics", ""); body != "conntag_up 1\n" {
		t.Errorf("got %q", body)
	}
}

func TestReadyzSaysWhyItIsNotReady(t *testing.T) {
	src := &fake{ready: errors.New("dial 127.0.0.1:3306: connection refused")}
	_, base := start(t, src)
	code, e := askError(t, http.MethodGet, base+"/readyz", "")
	if code != http.StatusServiceUnavailable || !strings.Contains(e.Error, "connection refused") {
		t.Errorf("got %d %+v", code, e)
	}
	if code, _, _ := ask(t, http.MethodGet, base+"/healthz", ""); code != http.StatusOK {
		t.Errorf("healthz: got %d, want 200 since the process serves", code)
	}
}

func TestRequestsThatCannotBeAnsweredSayWhatToDo(t *testing.T) {
	_, base := start(t, &fake{})
	for _, c := range []struct {
		method, path string
		code         int
	}{
		{http.MethodGet, "/nothing", http.StatusNotFound},
		{http.MethodGet, "/api/v1/callers/x", http.StatusNotFound},
		{http.MethodPost, "/api/v1/callers", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/", http.StatusMethodNotAllowed},
		{http.MethodPost, "/debug/pprof/profile", http.StatusMethodNotAllowed},
		{http.MethodGet, "/api/v1/callers?pool=none", http.StatusNotFound},
		{http.MethodGet, "/api/v1/pools?pool=none", http.StatusNotFound},
	} {
		if code, _ := askError(t, c.method, base+c.path, ""); code != c.code {
			t.Errorf("%s %s: got %d, want %d", c.method, c.path, code, c.code)
		}
	}
}

func TestOnlyKnownHostNamesAreAnswered(t *testing.T) {
	_, base := start(t, &fake{}, func(c *Config) { c.AllowedHosts = []string{"conntag.internal"} })
	for host, want := range map[string]int{
		"127.0.0.1:6080":        http.StatusOK,
		"10.1.2.3":              http.StatusOK,
		"[::1]:6080":            http.StatusOK,
		"[::1]":                 http.StatusOK,
		"localhost:6080":        http.StatusOK,
		"LOCALHOST":             http.StatusOK,
		"conntag.internal:6080": http.StatusOK,
		"Conntag.Internal.":     http.StatusOK,
		"evil.example":          http.StatusForbidden,
		"evil.example:6080":     http.StatusForbidden,
		"127.0.0.1.evil.test":   http.StatusForbidden,
		"x.conntag.internal":    http.StatusForbidden,
		"localhost.evil.test":   http.StatusForbidden,
	} {
		for _, path := range []string{"/api/v1/callers", "/metrics", "/debug/pprof/cmdline"} {
			if code, _, _ := ask(t, http.MethodGet, base+path, host); code != want {
				t.Errorf("Host %s, %s: got %d, want %d", host, path, code, want)
			}
		}
	}
}

func TestTheDefaultListensOnLoopbackOnly(t *testing.T) {
	if got := DefaultConfig().Listen; !strings.HasPrefix(got, "127.0.0.1:") {
		t.Errorf("got %s", got)
	}
	for listen, warns := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true} {
		log := &safeBuffer{}
		s := New(Config{Listen: listen}, &fake{}, fakeMetrics, slog.New(slog.NewTextHandler(log, nil)))
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := strings.Contains(log.String(), "no login"); got != warns {
			t.Errorf("%s: warned %v, want %v", listen, got, warns)
		}
	}
	if !isLoopback(&net.TCPAddr{IP: net.IPv6loopback}) {
		t.Error("::1 is not taken for loopback")
	}
}

func TestStartNamesTheKeyOfAnAddressInUse(t *testing.T) {
	first, _ := start(t, &fake{})
	second := New(Config{Listen: first.Addr().String()}, &fake{}, fakeMetrics, slog.New(slog.DiscardHandler))
	if err := second.Start(); err == nil || !strings.Contains(err.Error(), "admin.listen") {
		t.Errorf("got %v", err)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Errorf("close of a server that did not start: %v", err)
	}
}

func TestCloseIsIdempotentAndEndsTheListener(t *testing.T) {
	s, base := start(t, &fake{})
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := http.Get(base + "/healthz"); err == nil {
		t.Error("still answers after Close")
	}
}

func TestCloseCutsRequestsThatOutliveItsContext(t *testing.T) {
	s, base := start(t, &fake{})
	ended := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		req, err := http.NewRequest(http.MethodGet, base+"/debug/pprof/trace?seconds=60", nil)
		if err != nil {
			ended <- err
			return
		}
		resp, err := http.DefaultClient.Do(req)
		close(begun) // the trace's header comes at once
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		ended <- err
	}()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close: got %v, want its context's error", err)
	}
	if err := <-ended; err == nil {
		t.Error("the request ended without an error")
	}
}

func TestValidateNamesEveryBadField(t *testing.T) {
	c := Config{Listen: "6080", AllowedHosts: []string{"ok.example", "*.example", "a:1", ""}}
	var got []string
	for _, err := range c.Validate() {
		path, _, _ := strings.Cut(err.Error(), ":")
		got = append(got, path)
	}
	if want := "listen allowed_hosts[1] allowed_hosts[2] allowed_hosts[3]"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if errs := DefaultConfig().Validate(); len(errs) > 0 {
		t.Errorf("the default: %v", errs)
	}
}
