package admin

import "time"

// Every reply says when it was taken. Seconds are floats, counters run since the start of the proxy,
// and names in maps are the words of the metrics' labels.

// CallersReply answers GET /api/v1/callers.
type CallersReply struct {
	At      time.Time `json:"at"`
	Since   time.Time `json:"since"`   // start of the proxy, from which all counters run
	Callers []Caller  `json:"callers"` // by pool, then by seconds held, most first
}

// Caller is one caller's account in one pool.
type Caller struct {
	Pool string `json:"pool"`
	Name string `json:"name"`

	HeldSeconds       float64          `json:"held_seconds"`        // backend connection seconds, open holds included
	HeldShare         float64          `json:"held_share"`          // of all seconds held in this pool; over its callers 1, or all 0 when nothing was held
	Phases            map[string]Phase `json:"phases"`              // how the held seconds were spent
	BackendConns      int              `json:"backend_connections"` // held now
	OldestHoldSeconds float64          `json:"oldest_hold_seconds"` // age of its oldest open hold; 0 without one
	Holds             uint64           `json:"holds"`
	HoldP50Seconds    float64          `json:"hold_p50_seconds"` // of finished holds, from a histogram: an estimate
	HoldP99Seconds    float64          `json:"hold_p99_seconds"`

	WaitedSeconds  float64 `json:"waited_seconds"` // for a backend connection, open waits included
	Waiting        int     `json:"waiting"`        // now
	Waits          uint64  `json:"waits"`
	WaitP50Seconds float64 `json:"wait_p50_seconds"`
	WaitP99Seconds float64 `json:"wait_p99_seconds"`
	WaitTimeouts   uint64  `json:"wait_timeouts"`
	WaitsAbandoned uint64  `json:"waits_abandoned"` // ended without a connection for another reason than the timeout

	BytesFromClient uint64 `json:"bytes_from_client"`
	BytesToClient   uint64 `json:"bytes_to_client"`

	Statements uint64            `json:"statements"`
	Errors     map[string]uint64 `json:"errors"` // by class; only those that happened
	Pins       map[string]uint64 `json:"pins"`   // by reason; only those that happened
}

// Phase is one phase's part of a caller's held time.
type Phase struct {
	Seconds      float64 `json:"seconds"`
	Share        float64 `json:"share"`               // of all seconds held in the pool: over its callers and phases 1
	BackendConns int     `json:"backend_connections"` // in this phase now
}

// PoolsReply answers GET /api/v1/pools.
type PoolsReply struct {
	At    time.Time `json:"at"`
	Since time.Time `json:"since"`
	Pools []Pool    `json:"pools"`
}

// Pool is one backend and its connections.
type Pool struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Up      bool   `json:"up"` // the last dial or health check reached the backend

	Limit   int `json:"limit"` // backend connections at most
	Idle    int `json:"idle"`
	InUse   int `json:"in_use"`
	Dialing int `json:"dialing"`
	Closing int `json:"closing"`
	Waiting int `json:"waiting"`

	InUseSeconds float64 `json:"in_use_seconds"` // integral of connections in use
	FullSeconds  float64 `json:"full_seconds"`   // with every connection in use
	HeldSeconds  float64 `json:"held_seconds"`   // sum over the callers
	// ConservationErrorSeconds is held less in-use seconds: 0 unless the attribution leaks.
	ConservationErrorSeconds float64 `json:"conservation_error_seconds"`
	OldestHoldSeconds        float64 `json:"oldest_hold_seconds"`
	OldestHoldCaller         string  `json:"oldest_hold_caller"`

	Acquires       uint64            `json:"acquires"`
	Waits          uint64            `json:"waits"`
	WaitTimeouts   uint64            `json:"wait_timeouts"`
	WaitsAbandoned uint64            `json:"waits_abandoned"` // ended without a connection for another reason than the timeout
	WaitErrors     uint64            `json:"wait_errors"`     // of those, because no connection could be made
	Dials          uint64            `json:"dials"`
	DialErrors     uint64            `json:"dial_errors"`
	Closes         map[string]uint64 `json:"closes"` // by reason; only those that happened

	Callers       int    `json:"callers"`
	CallersFolded uint64 `json:"callers_folded"` // times a caller over the limit was booked to __other__
	BytesSent     uint64 `json:"bytes_sent"`
	BytesReceived uint64 `json:"bytes_received"`
}

// SessionsReply answers GET /api/v1/sessions.
type SessionsReply struct {
	At       time.Time `json:"at"`
	Sessions []Session `json:"sessions"` // by id
}

// Session is one client connection.
type Session struct {
	ID             uint32    `json:"id"`
	User           string    `json:"user"`
	Client         string    `json:"client"` // address and port
	Schema         string    `json:"schema"`
	Caller         string    `json:"caller"`      // of the lease held or awaited; empty without one
	Phase          string    `json:"phase"`       // a phase of the lease, "waiting" or "idle"
	PinReasons     []string  `json:"pin_reasons"` // why the lease is kept; empty when it is not pinned
	BackendID      uint32    `json:"backend_id"`  // the backend's own connection id; 0 without a lease
	Since          time.Time `json:"since"`       // connected
	HeldForSeconds float64   `json:"held_for_seconds"`
	Statements     uint64    `json:"statements"`
}

// Status is the answer of /healthz and /readyz.
type Status struct {
	Status string `json:"status"`
}

// Error is the body of every answer that is not 200.
type Error struct {
	Error string `json:"error"` // what is wrong
	Do    string `json:"do"`    // what to do about it
}
