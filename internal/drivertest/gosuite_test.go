//go:build e2e

package drivertest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	goDriver = "github.com/go-sql-driver/mysql"
	// offline are the suite's tests that dial an address of the internet and never meet the server.
	offline = "^TestConnectorReturnsTimeout$"
)

// TestE2EGoSQLDriverPassesTheSameTestsOfItsOwn runs the test suite that the driver's module carries.
func TestE2EGoSQLDriverPassesTheSameTestsOfItsOwn(t *testing.T) {
	r := resultOf(goDriver)
	defer func() { r.failed = r.failed || t.Failed() }()
	suite := buildGoSuite(t)
	raise(t)
	direct := suite.run(t, server.Addr())
	raise(t)
	p := startProxy(t)
	stop := makeNoise(t, p.Addr().String(), poolSize)
	proxied := suite.run(t, p.Addr().String())
	stop()

	if len(direct) < 300 {
		t.Errorf("only %d tests ran directly", len(direct))
	}
	for name, want := range direct {
		if want == "FAIL" {
			t.Logf("%s fails directly, too", name)
		}
		r.checks[name] = proxied[name] == want
		if !r.checks[name] && known[goDriver][name] == "" {
			t.Errorf("%s: directly %s, through the proxy %q", name, want, proxied[name])
		}
	}
	if t.Failed() {
		t.Log(suite.said.String())
	}
	r.version, r.ways = suite.version, []string{"its own test suite"}
	r.inAll.add(countPins(t, p.Snapshot().Pools[0].Ledger.Callers))

	program := filepath.Join(t.TempDir(), "orm")
	if out, err := exec.Command("go", "build", "-o", program, "./testdata/orm/go").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	driver{name: goDriver, transactions: []string{program}, tag: "go"}.compare(t)
}

// goSuite is the compiled suite.
type goSuite struct {
	binary, version string
	said            bytes.Buffer // what it printed in the last run
}

func buildGoSuite(t *testing.T) *goSuite {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", goDriver).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	version, source, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	// The suite writes beside its sources, and the module cache is read-only.
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	s := &goSuite{binary: filepath.Join(home, "suite.test"), version: version}
	c := exec.Command("go", "test", "-c", "-o", s.binary, ".")
	c.Dir = home
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	return s
}

var goResult = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`)

// run gives how each test ended, by its name.
func (s *goSuite) run(t *testing.T, addr string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, s.binary, "-test.v", "-test.timeout", "2m", "-test.skip", offline)
	c.Dir = filepath.Dir(s.binary)
	c.Env = append(os.Environ(), "MYSQL_TEST_USER="+server.User, "MYSQL_TEST_PASS="+server.Password, "MYSQL_TEST_PROT=tcp",
		"MYSQL_TEST_ADDR="+addr, "MYSQL_TEST_DBNAME="+schema)
	s.said.Reset()
	c.Stdout, c.Stderr = &s.said, &s.said
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", s.binary, err)
	}
	ended := make(map[string]string)
	for _, m := range goResult.FindAllStringSubmatch(s.said.String(), -1) {
		ended[m[2]] = m[1]
	}
	return ended
}
