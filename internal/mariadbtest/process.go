package mariadbtest

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one run of mariadbd. A goroutine waits for it from start to end.
type process struct {
	pid  int
	cmd  *exec.Cmd
	done chan struct{} // closed when the process is gone
}

// startProcess starts path with args, its output appended to logFile.
func startProcess(path string, args []string, logFile string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own copy
	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	p.pid = p.cmd.Process.Pid
	return p, nil
}

// run keeps its thread for as long as the process lives: the kernel sends the parent-death signal when the thread that
// forked ends, not when the whole parent does.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	_ = p.cmd.Wait() // how it ended is in its log
	close(p.done)
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it is gone already
	<-p.done
}

func (p *process) terminate(patience time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(patience):
		p.kill()
	}
}
