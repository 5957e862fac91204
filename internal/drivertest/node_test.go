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
	need(t, "node", "nodejs")
	modules := nodeModules(t)
	for _, c := range []struct {
		name string
		driver
	}{
		{"plain", driver{}},
		{"TLS", driver{tls: true}},
		{"caching_sha2_password", driver{user: sha2User, style: "login"}},
		{"caching_sha2_password of a hash", driver{user: hashedUser, style: "login"}},
		{"caching_sha2_password of a hash over TLS", driver{user: hashedUser, tls: true, style: "login"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.command = []string{"node", "testdata/node/smoke.js"}
			c.env = []string{"NODE_PATH=" + modules}
			c.tag = "mysql2"
			compare(t, c.driver)
		})
	}
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
