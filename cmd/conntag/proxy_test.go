package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// serving is what the log says once clients can connect.
type serving struct{ Msg, Clients, Admin string }

// startProxy runs `conntag proxy` until stop, and gives its addresses. done has the exit code.
func startProxy(t *testing.T, text string) (at serving, stop func(), done <-chan int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	logs, w := io.Pipe()
	code := make(chan int, 1)
	file := writeConfig(t, text)
	go func() {
		code <- run(ctx, []string{"proxy", "-c", file}, io.Discard, w)
		_ = w.Close()
	}()
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), &at); err != nil {
			t.Fatalf("not a line of JSON: %s", lines.Text())
		}
		if at.Msg == "conntag serves" {
			go func() { _, _ = io.Copy(io.Discard, logs) }()
			return at, cancel, code
		}
	}
	t.Fatalf("ended with code %d before it served", <-code)
	return at, cancel, code
}

// quietProxy has free ports and a backend that nobody listens on.
const quietProxy = `
proxy: {listen: "127.0.0.1:0"}
users: [{name: app, password: secret}]
backend: {address: "127.0.0.1:1"}
admin: {listen: "127.0.0.1:0"}
log: {format: json}
`

func TestTheProxyServesUntilASignalAndEndsWith0(t *testing.T) {
	at, stop, done := startProxy(t, quietProxy)
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	resp, err := http.Get("http://" + at.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !strings.Contains(string(body), "conntag_build_info{") {
		t.Errorf("metrics: %v\n%s", err, body)
	}
	conn, err := net.Dial("tcp", at.Clients)
	if err != nil {
		t.Fatalf("clients cannot connect: %v", err)
	}
	_ = conn.Close()

	stop()
	if code := <-done; code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, addr := range []string{at.Clients, at.Admin} {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			t.Errorf("%s still accepts", addr)
		}
	}
}

func TestAPortInUseNamesItsKey(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, section := range []string{"proxy", "admin"} {
		text := strings.Replace(quietProxy, section+`: {listen: "127.0.0.1:0"}`, section+`: {listen: "`+taken.Addr().String()+`"}`, 1)
		code, _, stderr := conntag(t, "proxy", "-c", writeConfig(t, text))
		if code != exitFailed || !strings.Contains(stderr, section+".listen") {
			t.Errorf("%s: code %d, stderr %q", section, code, stderr)
		}
	}
}
