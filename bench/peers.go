package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/conntag/conntag/internal/mariadbtest"
)

const (
	nameDirect  = "direct"
	nameGocopy  = "gocopy"
	nameConntag = "conntag"
	// nameRoomy is conntag with as many connections as there are threads, as a relay has: nobody ever waits, so that
	// what the relay itself costs shows apart from what sharing costs and gains.
	nameRoomy = "conntag 1:1"

	startTimeout = 10 * time.Second
)

// peer is where clients can connect to: the database itself or a proxy in front of it.
type peer struct {
	name  string
	addr  string
	admin string // host:port with net/http/pprof; "" when there is none
	pid   int    // of the proxy; 0: unknown, or there is none
	child *process
}

// fleet starts the proxies.
type fleet struct {
	options
	dir string
}

// start starts a fresh gocopy or conntag in front of the server at backend.
func (f fleet) start(ctx context.Context, name, backend string) (peer, error) {
	var cmd *exec.Cmd
	switch name {
	case nameGocopy:
		self, err := os.Executable()
		if err != nil {
			return peer{}, err
		}
		cmd = exec.Command(self, gocopyCommand, backend)
	case nameConntag, nameRoomy:
		pool := f.pool
		if name == nameRoomy {
			pool = slices.Max(f.threads)
		}
		config := filepath.Join(f.dir, fmt.Sprintf("conntag-%d.yaml", pool))
		if err := os.WriteFile(config, f.conntagConfig(backend, pool), 0o600); err != nil {
			return peer{}, err
		}
		cmd = exec.Command(f.conntag, "proxy", "--config", config)
	}
	p := peer{name: name}
	said := newAnnouncement()
	cmd.Stderr = said
	var err error
	if p.child, err = startProcess(cmd); err != nil {
		return p, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case a := <-said.addresses:
		p.pid, p.addr, p.admin = p.child.pid(), a.Clients, a.Admin
		return p, nil
	case <-p.child.done:
		err = errors.New("it ended")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.stop()
	return p, fmt.Errorf("start %s: %w; it said:\n%s", name, err, said.tail())
}

// stop ends a proxy that we started, by its pid.
func (p peer) stop() {
	if p.child != nil {
		p.child.stop()
	}
}

func (f fleet) conntagConfig(backend string, pool int) []byte {
	return fmt.Appendf(nil, `proxy:
  listen: 127.0.0.1:0
  max_client_connections: %d
  drain_timeout: 1s
users:
  - {name: %s, password: %s}
backend:
  address: %s
pool:
  size: %d
admin:
  listen: 127.0.0.1:0
log:
  format: json
`, f.idle+1000, mariadbtest.User, mariadbtest.Password, backend, pool)
}

// announcement reads a proxy's log up to the line that holds its addresses, and keeps the latest of it.
type announcement struct {
	addresses chan addresses
	mu        sync.Mutex // guards what follows
	found     bool
	text      []byte
}

type addresses struct{ Clients, Admin string }

func newAnnouncement() *announcement { return &announcement{addresses: make(chan addresses, 1)} }

func (a *announcement) Write(p []byte) (int, error) {
	const kept = 8 << 10
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = append(a.text, p...)
	a.text = a.text[max(0, len(a.text)-kept):]
	if a.found {
		return len(p), nil
	}
	for line := range bytes.Lines(a.text) {
		var got addresses
		if json.Unmarshal(line, &got) == nil && got.Clients != "" {
			a.found = true
			a.addresses <- got
			break
		}
	}
	return len(p), nil
}

func (a *announcement) tail() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return bytes.TrimSpace(bytes.Clone(a.text))
}

// pprof writes one of the peer's profiles to w. It leaves no connection behind.
func (p peer) pprof(ctx context.Context, path string, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.admin+"/debug/pprof/"+path, nil)
	if err != nil {
		return err
	}
	req.Close = true
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("profile %s: %w", p.name, err)
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("profile %s: %s", p.name, reply.Status)
	}
	_, err = io.Copy(w, reply.Body)
	return err
}
