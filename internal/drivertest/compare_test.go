//go:build e2e

package drivertest

import (
	"bytes"
	"cmp"
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

// driver is how the scripts of one driver are run.
type driver struct {
	name         string   // its row in the README's table
	command      []string // the interpreter and the script of checks
	transactions []string // the same for the script of 1,000 transactions
	env          []string
	style        string
	tag          string // a caller that the scripts' tags name; empty when they send none
}

// way is one way to use a driver.
type way struct {
	name  string
	user  string // empty: mariadbtest's
	tls   bool
	style string // empty: the driver's
}

var (
	plain = way{name: "plain"}
	byTLS = way{name: "TLS", tls: true}
	// logins are the ways to log in with caching_sha2_password.
	logins = []way{
		{name: "caching_sha2_password", user: sha2User, style: "login"},
		{name: "caching_sha2_password of a hash", user: hashedUser, style: "login"},
		{name: "caching_sha2_password of a hash over TLS", user: hashedUser, tls: true, style: "login"},
	}
)

// line is one check of a transcript.
type line struct {
	Check string          `json:"check"`
	Got   json.RawMessage `json:"got"`
	Broke string          `json:"broke"`
}

// compare runs the driver's scripts directly and through the proxy and reports every check that differs.
func (d driver) compare(t *testing.T, ways ...way) {
	t.Helper()
	r := resultOf(d.name)
	defer func() { r.failed = r.failed || t.Failed() }()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			r.inAll.add(d.compareOnce(t, r, d.command, w, poolSize))
			r.ways = append(r.ways, w.name)
		})
	}
	if len(d.transactions) > 0 {
		d.transact(t, r)
	}
	for check, why := range known[d.name] {
		if !t.Failed() && r.checks[check] {
			t.Errorf("%q is listed as a known difference (%s), but is none any more: take it from known_test.go", check, why)
		}
	}
}

// transact runs the 1,000 transactions, which must not pin.
func (d driver) transact(t *testing.T, r *result) {
	t.Helper()
	t.Run("1,000 transactions", func(t *testing.T) {
		r.inTx = d.compareOnce(t, r, d.transactions, plain, 1)
		r.transactions = true
		if r.inTx.pins > 0 {
			t.Errorf("%d pins in 1,000 ordinary transactions", r.inTx.pins)
		}
	})
}

// compareOnce gives how often the driver pinned, beside so many noisy clients.
func (d driver) compareOnce(t *testing.T, r *result, command []string, w way, noise int) pinCount {
	t.Helper()
	raise(t)
	direct := d.run(t, command, w, server.Addr())
	for _, l := range direct {
		if l.Broke != "" {
			t.Errorf("%s: broke without the proxy: %s", l.Check, l.Broke)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	raise(t)
	p := startProxy(t)
	stop := makeNoise(t, p.Addr().String(), noise)
	proxied := d.run(t, command, w, p.Addr().String())
	stop()
	d.diff(t, r, direct, proxied)
	callers := p.Snapshot().Pools[0].Ledger.Callers
	if d.tag != "" && !slices.ContainsFunc(callers, func(c attribution.Caller) bool { return c.Name == d.tag && c.Statements > 0 }) {
		t.Errorf("no statement was charged to caller %q", d.tag)
	}
	return countPins(t, callers)
}

// diff notes how the checks compare. The last of them is "done" and may say the driver's version.
func (d driver) diff(t *testing.T, r *result, direct, proxied []line) {
	t.Helper()
	for n, want := range direct {
		if n >= len(proxied) {
			t.Errorf("%s: no answer through the proxy; directly %s", want.Check, want)
			continue
		}
		if want.Check == "done" {
			var version string
			if err := json.Unmarshal(want.Got, &version); err != nil {
				t.Errorf("the version of the driver: %v", err)
			}
			r.version = cmp.Or(version, r.version)
			continue
		}
		inDirect, inProxied := want.String(), proxied[n].String()
		same := inDirect == inProxied
		if earlier, again := r.checks[want.Check]; !again || earlier {
			r.checks[want.Check] = same
		}
		if same {
			continue
		}
		inDirect, inProxied = whereTheyPart(inDirect, inProxied)
		if why := known[d.name][want.Check]; why != "" {
			t.Logf("%s differs, as is known: %s", want.Check, why)
			continue
		}
		t.Errorf("%s:\n directly          %s\n through the proxy %s", want.Check, inDirect, inProxied)
	}
}

// countPins gives what conntag_pins_total and conntag_holds_total count, without the noise.
func countPins(t *testing.T, callers []attribution.Caller) pinCount {
	t.Helper()
	var sum pinCount
	var reasons []string
	for _, c := range callers {
		if c.Name == noisy {
			continue
		}
		sum.holds += c.Holds
		for n, pins := range c.Pins {
			sum.pins += pins
			if pins > 0 {
				reasons = append(reasons, fmt.Sprintf("%s %d by %s", attribution.PinReason(n), pins, c.Name))
			}
		}
	}
	t.Logf("%d pins in %d holds: %s", sum.pins, sum.holds, strings.Join(reasons, ", "))
	return sum
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
func (d driver) run(t *testing.T, command []string, w way, addr string) []line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Env = append(append(os.Environ(), d.env...), d.environment(t, w, addr)...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var lines []line
	for text := range strings.Lines(stdout.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s printed no check: %q", filepath.Base(command[len(command)-1]), text)
		}
		lines = append(lines, l)
	}
	if err == nil && (len(lines) == 0 || lines[len(lines)-1].Check != "done") {
		err = errors.New("ended early")
	}
	if err != nil {
		t.Errorf("%s at %s: %v; it said: %s", strings.Join(command, " "), addr, err, tail(stderr.String()))
	}
	return lines
}

func (d driver) environment(t *testing.T, w way, addr string) []string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("testdata/load.tsv")
	if err != nil {
		t.Fatal(err)
	}
	user, password, ca := server.User, server.Password, ""
	if w.user != "" {
		user, password = w.user, sha2Secret
	}
	if w.tls {
		ca = server.TLSFiles().CA
	}
	var env []string
	for name, value := range map[string]string{
		"HOST": host, "PORT": port, "USER": user, "PASSWORD": password, "SCHEMA": schema, "OTHER": other,
		"FILE": file, "CA": ca, "STYLE": cmp.Or(w.style, d.style),
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
