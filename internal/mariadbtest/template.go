package mariadbtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// findTemplate returns a datadir fresh from mariadb-install-db, cleanly shut down, to copy from. It is built on first
// use (1-3 s) and never changes afterwards. A file lock lets one process build while others wait.
func findTemplate(p programs) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	args := installArguments(p)
	sum := sha256.Sum256([]byte(p.server + strings.Join(args, " ")))
	dir := filepath.Join(cache, fmt.Sprintf("mariadb-%s-%x", p.version, sum[:4]))
	if exists(dir) {
		return dir, nil
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // closing unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if exists(dir) {
		return dir, nil
	}
	return dir, buildTemplate(p, args, dir)
}

func installArguments(p programs) []string {
	args := []string{"--no-defaults"}
	args = append(args, p.asUser()...)
	args = append(args, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--force")
	return append(args, sizeFlags...)
}

// buildTemplate fills a sibling directory and renames it, so that dir is either complete or absent.
func buildTemplate(p programs, args []string, dir string) error {
	building := dir + ".building"
	if err := os.RemoveAll(building); err != nil {
		return err
	}
	args = append(args, "--datadir="+building)
	if out, err := exec.Command(p.install, args...).CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("run %s: %w\n%s", p.install, err, out), os.RemoveAll(building))
	}
	return os.Rename(building, dir)
}

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil { // no HOME, as in some containers
		base = filepath.Join(os.TempDir(), fmt.Sprintf("conntag-cache-%d", os.Geteuid()))
	}
	dir := filepath.Join(base, "conntag")
	return dir, os.MkdirAll(dir, 0o700)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
