// Package dashboards_test checks the files of this directory: as text, with promtool, and on a private Prometheus that
// watches a real proxy at work.
package dashboards_test

import (
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program finds a command of Prometheus. Without it nothing here is checked, so the test fails rather than passes over it.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v; install it with: scripts/setup.sh prometheus promtool=prometheus", err)
	}
	return path
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
