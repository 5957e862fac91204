package mariadbtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

const (
	homePrefix = "conntag-mariadb-"
	roomNeeded = 512 << 20 // bytes free on tmpfs for a datadir that grows
)

// home is the directory of one server. A lock on a file in it tells that its owner lives.
type home struct {
	path string
	lock *os.File
}

func newHome() (*home, error) {
	base := homeBase()
	sweep(base)
	path, err := os.MkdirTemp(base, homePrefix)
	if err != nil {
		return nil, err
	}
	lock, err := lockHome(path)
	if err != nil {
		_ = os.RemoveAll(path) // the first error tells more
		return nil, err
	}
	return &home{path: path, lock: lock}, nil
}

// lockHome takes the lock before the file gets the name that sweep looks for.
func lockHome(path string) (*os.File, error) {
	name := filepath.Join(path, "lock.new")
	lock, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return lock, os.Rename(name, filepath.Join(path, "lock"))
}

func (h *home) remove() error {
	defer func() { _ = h.lock.Close() }() // after the files are gone, so that no sweep races with us
	return os.RemoveAll(h.path)
}

// sweep removes the directories of servers whose owner was killed. It is only tidying: what it cannot remove stays.
func sweep(base string) {
	locks, _ := filepath.Glob(filepath.Join(base, homePrefix+"*", "lock"))
	for _, name := range locks {
		lock, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue // another user's, or just removed
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(filepath.Dir(name))
		}
		_ = lock.Close()
	}
}

// homeBase prefers tmpfs, where a commit waits for no disk. Containers often have only 64 MB of it.
func homeBase() string {
	const shm = "/dev/shm"
	var st syscall.Statfs_t
	if syscall.Statfs(shm, &st) == nil && st.Bavail*uint64(st.Bsize) >= roomNeeded && syscall.Access(shm, 2 /* W_OK */) == nil {
		return shm
	}
	return os.TempDir()
}

// freePort picks below the range from which Linux takes the ports of outgoing connections (32768 up): there, any client
// could take the port while a server restarts.
func freePort() (int, error) {
	var err error
	for range 100 {
		port := 20000 + rand.IntN(12000)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}
