package proxy

import "golang.org/x/sys/unix"

// peerClosed is what poll reports once the peer sends no more.
const peerClosed = unix.POLLRDHUP
