//go:build !linux

package mariadbtest

import "syscall"

// dieWithParent has no parent-death signal to set here: a server outlives a parent that crashes.
func dieWithParent() *syscall.SysProcAttr { return nil }
