package main

import "syscall"

// dieWithParent ends the child when we are killed. It leaves our process group, so that a Ctrl-C stops us first.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
