//go:build !linux

package dashboards_test

import "syscall"

// dieWithParent has no parent-death signal to set here.
func dieWithParent() *syscall.SysProcAttr { return nil }
