package mariadbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// User and Password name the administrator that every server has besides root.
const (
	User     = "conntag"
	Password = "conntag"
)

const (
	startTimeout = 60 * time.Second // a loaded two-core machine needs 2-3 s
	stopTimeout  = 20 * time.Second // then SIGKILL
	portAttempts = 8
)

// Instance is one running server. Its methods may be called from several goroutines.
type Instance struct {
	User, Password string

	opts    options
	program programs
	home    *home
	port    int
	tls     *TLSFiles

	mu      sync.Mutex // guards what follows; held across Kill, Restart and Stop, so that they do not overlap
	process *process
	stopped bool
}

// TB is the part of testing.TB that Run needs.
type TB interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Run starts a server for a test and stops it when the test ends. It fails the test, never skips it, when the server
// cannot be had.
func Run(tb TB, opts ...Option) *Instance {
	tb.Helper()
	i, err := Start(opts...)
	if err != nil {
		tb.Fatalf("mariadbtest: %v", err)
		return nil
	}
	tb.Cleanup(func() {
		if err := i.Stop(); err != nil {
			tb.Logf("mariadbtest: stop: %v", err)
		}
	})
	return i
}

// Start starts a server and returns once it accepts logins. The error is ErrNotInstalled when MariaDB's programs are
// missing, and holds the end of the server's error log when it does not come up.
func Start(opts ...Option) (*Instance, error) {
	i := &Instance{User: User, Password: Password}
	for _, o := range opts {
		o(&i.opts)
	}
	var err error
	if i.program, err = findPrograms(); err != nil {
		return nil, err
	}
	template, err := findTemplate(i.program)
	if err != nil {
		return nil, fmt.Errorf("build template datadir: %w", err)
	}
	if i.home, err = newHome(); err != nil {
		return nil, fmt.Errorf("make server directory: %w", err)
	}
	if err := i.setUp(template); err != nil {
		return nil, errors.Join(err, i.Stop())
	}
	return i, nil
}

func (i *Instance) setUp(template string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := os.CopyFS(i.dataDir(), os.DirFS(template)); err != nil {
		return fmt.Errorf("copy template datadir: %w", err)
	}
	if i.opts.tls {
		files, err := writeTLSFiles(i.home.path)
		if err != nil {
			return fmt.Errorf("write certificates: %w", err)
		}
		i.tls = &files
	}
	if err := i.launchOnFreePort(); err != nil {
		return err
	}
	return i.prepare()
}

// launchOnFreePort tries several ports: another process may take one between our look and the server's bind.
func (i *Instance) launchOnFreePort() error {
	var err error
	for range portAttempts {
		if i.port, err = freePort(); err != nil {
			return err
		}
		if err = i.launchLocked(); err == nil || !i.portWasTaken() {
			return err
		}
	}
	return err
}

// launchLocked starts mariadbd and waits for it to accept logins.
func (i *Instance) launchLocked() error {
	p, err := startProcess(i.program.server, i.arguments(), i.LogFile())
	if err != nil {
		return fmt.Errorf("start mariadbd: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := i.waitReady(ctx, p); err != nil {
		p.kill()
		return fmt.Errorf("%w; its log ends:\n%s", err, i.logTail())
	}
	i.process = p
	return nil
}

func (i *Instance) arguments() []string {
	// --no-defaults must be the first argument.
	args := []string{"--no-defaults"}
	args = append(args, i.program.asUser()...)
	args = append(args,
		"--datadir="+i.dataDir(),
		"--tmpdir="+i.home.path, // a server that starts removes the temporary files of others from a shared one
		"--socket="+i.Socket(),
		"--bind-address=127.0.0.1",
		"--port="+strconv.Itoa(i.port),
		"--pid-file="+filepath.Join(i.home.path, "pid"),
		"--log-error="+i.LogFile(),
	)
	args = append(args, sizeFlags...)
	args = append(args, defaultFlags...)
	if i.tls != nil {
		args = append(args, "--ssl-ca="+i.tls.CA, "--ssl-cert="+i.tls.Cert, "--ssl-key="+i.tls.Key)
	}
	return append(args, i.opts.flags...)
}

// Addr returns the server's "127.0.0.1:PORT". It stays the same across Restart.
func (i *Instance) Addr() string { return "127.0.0.1:" + strconv.Itoa(i.port) }

// Socket returns the path of the server's unix socket.
func (i *Instance) Socket() string { return filepath.Join(i.home.path, "s.sock") }

// LogFile returns the path of the server's error log. Stop removes it.
func (i *Instance) LogFile() string { return filepath.Join(i.home.path, "error.log") }

// Version returns what `mariadbd --version` calls its version, for example "10.11.19-MariaDB-0+deb12u1".
func (i *Instance) Version() string { return i.program.version }

func (i *Instance) dataDir() string { return filepath.Join(i.home.path, "data") }

// DSN returns a go-sql-driver/mysql data source name for the administrator over TCP. db may be empty. Parameters can be
// appended after a "?".
func (i *Instance) DSN(db string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s", i.User, i.Password, i.Addr(), db)
}

// Pid returns the process id of the server, 0 when it is not running.
func (i *Instance) Pid() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.process == nil {
		return 0
	}
	return i.process.pid
}

// Kill ends the server with SIGKILL, as a crash would, and waits until it is gone. Restart brings it back with what it
// had committed.
func (i *Instance) Kill() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.process != nil {
		i.process.kill()
		i.process = nil
	}
}

// Restart stops the server if it runs and starts it again on the same port, socket and data.
func (i *Instance) Restart() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return errors.New("restart: server was stopped and its directory removed")
	}
	if i.process != nil {
		i.process.terminate(stopTimeout)
		i.process = nil
	}
	return i.launchLocked()
}

// Stop ends the server with SIGTERM, waits until it is gone and removes its directory. A second Stop does nothing.
func (i *Instance) Stop() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return nil
	}
	i.stopped = true
	if i.process != nil {
		i.process.terminate(stopTimeout)
		i.process = nil
	}
	return i.home.remove()
}
