package mariadbtest

import "syscall"

// dieWithParent ends the server when the thread that started it ends. The server's directory is swept by the next Start.
// The server leaves our process group, so that a Ctrl-C meant for us does not stop it before we do.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
