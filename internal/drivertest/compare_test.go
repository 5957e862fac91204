//go:build e2e

package drivertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conntag/conntag/attribution"
)

// A script takes some seconds through the proxy; a loaded machine needs more.
const scriptTimeout = 3 * time.Minute

// driver is one way to use one driver.
type driver struct {
	command []string // the interpreter and the script
	env     []string
	user    string // empty: mariadbtest's
	tls     bool
	style   string
	tag     string // a caller that the script's tags name; empty when it sends none
}

// line is one check of a transcript.
type line struct {
	Check string          `json:"check"`
	Got   json.RawMessage `json:"got"`
	Broke string          `json:"broke"`
}

// compare runs the driver's script directly and through the proxy and reports every check that differs.
func compare(t *testing.T, d driver) {
	t.Helper()
	raise(t)
	direct := d.run(t, server.Addr())
	for _, l := range direct {
		if l.Broke != "" {
			t.Errorf("%s: broke without the proxy: %s", l.Check, l.Broke)
		}
	}
	if t.Failed() {
		return
	}
	raise(t)
	p := startProxy(t)
	stop := makeNoise(t, p.Addr().String())
	proxied := d.run(t, p.Addr().String())
	stop()
	diff(t, direct, proxied)
	if d.tag != "" {
		callers := p.Snapshot().Pools[0].Ledger.Callers
		if !slices.ContainsFunc(callers, func(c attribution.Caller) bool { return c.Name == d.tag && c.Statements > 0 }) {
			t.Errorf("no statement was charged to caller %q", d.tag)
		}
	}
}

func diff(t *testing.T, direct, proxied []line) {
	t.Helper()
	for n, want := range direct {
		if n >= len(proxied) {
			t.Errorf("%s: no answer through the proxy; directly %s", want.Check, want)
			continue
		}
		if d, p := want.String(), proxied[n].String(); d != p {
			d, p = whereTheyPart(d, p)
			if why := known[want.Check]; why != "" {
				t.Logf("%s differs, as is known: %s", want.Check, why)
				continue
			}
			t.Errorf("%s:\n directly          %s\n through the proxy %s", want.Check, d, p)
		}
	}
}

// whereTheyPart cuts two texts to the surroundings of their first difference.
func whereTheyPart(a, b string) (string, string) {
	const before, after = 120, 240
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	cut := func(s string) string {
		from, to := max(0, n-before), min(len(s), n+after)
		return strings.ToValidUTF8(s[from:to], "?")
	}
	return cut(a), cut(b)
}

// String is the line as it is compared: insignificant space is gone.
func (l line) String() string {
	if l.Broke != "" {
		return "broke: " + l.Broke
	}
	var b bytes.Buffer
	if err := json.Compact(&b, l.Got); err != nil {
		return string(l.Got)
	}
	return b.String()
}

// run gives the script's transcript. A script that ends early or prints anything else fails the test.
func (d driver) run(t *testing.T, addr string) []line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, d.command[0], d.command[1:]...)
	c.Env = append(append(os.Environ(), d.env...), d.environment(t, addr)...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var lines []line
	for text := range strings.Lines(stdout.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s printed no check: %q", filepath.Base(d.command[len(d.command)-1]), text)
		}
		lines = append(lines, l)
	}
	if err == nil && (len(lines) == 0 || lines[len(lines)-1].Check != "done") {
		err = errors.New("ended early")
	}
	if err != nil {
		t.Errorf("%s at %s: %v; it said: %s", strings.Join(d.command, " "), addr, err, tail(stderr.String()))
	}
	return lines
}

func (d driver) environment(t *testing.T, addr string) []string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("testdata/load.tsv")
	if err != nil {
		t.Fatal(err)
	}
	user, password, ca := server.User, server.Password, ""
	if d.user != "" {
		user, password = d.user, sha2Secret
	}
	if d.tls {
		ca = server.TLSFiles().CA
	}
	var env []string
	for name, value := range map[string]string{
		"HOST": host, "PORT": port, "USER": user, "PASSWORD": password, "SCHEMA": schema, "OTHER": other,
		"FILE": file, "CA": ca, "STYLE": d.style,
	} {
		env = append(env, fmt.Sprintf("DB_%s=%s", name, value))
	}
	return env
}

// need fails the test when a file or command of a Debian package is missing; names without a slash are looked up in PATH.
func need(t *testing.T, name, debian string) {
	t.Helper()
	var err error
	if strings.Contains(name, "/") {
		_, err = os.Stat(name)
	} else {
		_, err = exec.LookPath(name)
	}
	if err != nil {
		t.Fatalf("%s is missing; on Debian: apt-get install %s", name, debian)
	}
}

func tail(s string) string {
	const most = 4000
	return s[max(0, len(s)-most):]
}
