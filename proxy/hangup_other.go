//go:build !linux

package proxy

import "golang.org/x/sys/unix"

// peerClosed is what poll reports once the peer sends no more; elsewhere than on Linux a half-closed connection counts, too.
const peerClosed = unix.POLLHUP
