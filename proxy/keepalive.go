package proxy

import (
	"net"
	"time"
)

// minKeepalive is what the system's unit, a second, leaves room for.
const minKeepalive = 3 * time.Second

// keepaliveProbes is how often a silent client is asked.
const keepaliveProbes = 3

// listenConfig has the system ask silent clients whether they are there: a machine that lost its power or its network
// says no goodbye, and holds locks. A client that is not there is found dead after twice after.
//
// TCP_USER_TIMEOUT would find dead clients in the middle of a result as well, but Linux counts a client that is alive
// and slow to read as dead by it, too.
func listenConfig(after time.Duration) net.ListenConfig {
	if after == 0 {
		return net.ListenConfig{KeepAlive: -1}
	}
	return net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: after, Interval: after / keepaliveProbes, Count: keepaliveProbes,
	}}
}
