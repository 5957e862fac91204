package dashboards_test

import "syscall"

// dieWithParent ends Prometheus when the thread that started it ends, so that a crashed test leaves nothing behind.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
