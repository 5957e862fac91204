package proxy

import (
	"time"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/pool"
)

// Snapshot is everything that metrics and the admin API show of a server at one moment.
// Inside a pool all figures are of the same instant; between pools they may be microseconds apart.
type Snapshot struct {
	Pools                  []PoolSnapshot
	ClientConnections      int
	ClientConnectionsLimit int
	Connects               ConnectCounts
	BytesIn, BytesOut      uint64 // client side: from and to clients
	Panics                 uint64
	Started                time.Time
}

// ConnectCounts is how client connections ended their login.
type ConnectCounts struct {
	OK, Auth, TLS, Limit, Protocol uint64
}

// PoolSnapshot is one pool with its ledger, cut at the same instant.
type PoolSnapshot struct {
	Name, Address string
	Up            bool // the last dial or health check reached the backend
	Stat          pool.Stat
	Ledger        attribution.Snapshot
	// ConservationError is Σ held seconds of all callers less the pool's own integral; 0 unless attribution leaks.
	ConservationError        time.Duration
	BytesSent, BytesReceived uint64 // backend side
}

// SessionInfo is one client connection as `conntag show sessions` prints it.
type SessionInfo struct {
	ID         uint32
	User       string
	Client     string // address and port
	Schema     string
	Caller     string // of the lease held or awaited now; empty when there is none
	Phase      string // of the lease, "waiting" in the queue, "idle" without a lease
	PinReasons []string
	BackendID  uint32 // the backend's own connection id; 0 without a lease
	Since      time.Time
	HeldFor    time.Duration
	Statements uint64
}
