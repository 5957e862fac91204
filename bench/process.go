package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// stopPatience is how long a process may take to end by itself.
const stopPatience = 5 * time.Second

// process is a child that dies with us.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process is gone; err is set then
	err  error
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
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
	p.err = p.cmd.Wait()
	close(p.done)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// wait waits for the process to end by itself; when ctx ends first, it is killed.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		_ = p.cmd.Process.Kill() // an error means that it is gone already
		<-p.done
		return context.Cause(ctx)
	}
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // as above
	ctx, cancel := context.WithTimeoutCause(context.Background(), stopPatience, errors.New("did not end"))
	defer cancel()
	_ = p.wait(ctx)
}
