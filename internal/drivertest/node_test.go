//go:build e2e

package drivertest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestE2EMysql2ForNodeSeesNoDifference(t *testing.T) {
	d := nodeDriver(t, "mysql2 (Node)", "mysql2")
	d.compare(t, append([]way{plain, byTLS}, logins...)...)
}

func TestE2EMariaDBConnectorForNodeSeesNoDifference(t *testing.T) {
	d := nodeDriver(t, "mariadb (Node)", "mariadb")
	d.compare(t, plain, byTLS)
}

func nodeDriver(t *testing.T, name, module string) driver {
	t.Helper()
	need(t, "node", "nodejs")
	return driver{name: name, command: []string{"node", "testdata/node/" + module + ".js"},
		transactions: []string{"node", "testdata/orm/" + module + ".js"}, env: []string{"NODE_PATH=" + nodeModules(t)}, tag: module}
}

// nodeModules installs what package-lock.json pins, once per content of that file, into the user's cache directory.
func nodeModules(t *testing.T) string {
	t.Helper()
	need(t, "npm", "npm")
	lock, err := os.ReadFile("testdata/node/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	home := filepath.Join(cache, "conntag", fmt.Sprintf("drivertest-node-%x", sha256.Sum256(lock))[:32])
	if _, err := os.Stat(home); err == nil {
		return filepath.Join(home, "node_modules")
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		t.Fatal(err)
	}
	work, err := os.MkdirTemp(filepath.Dir(home), "drivertest-new-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("testdata/node", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(work, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	c.Dir = work
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, tail(string(out)))
	}
	// Whoever else installed it meanwhile installed the same.
	if err := os.Rename(work, home); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return filepath.Join(home, "node_modules")
}
