package metrics

import "github.com/prometheus/client_golang/prometheus"

// family is one metric: its description and what kind it is.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType // of a histogram: Untyped
}

func counter(name, help string, labels ...string) family {
	return family{describe(name, help, labels), prometheus.CounterValue}
}

func gauge(name, help string, labels ...string) family {
	return family{describe(name, help, labels), prometheus.GaugeValue}
}

func histogram(name, help string, labels ...string) family {
	return family{describe(name, help, labels), prometheus.UntypedValue}
}

func describe(name, help string, labels []string) *prometheus.Desc {
	return prometheus.NewDesc("conntag_"+name, help, labels, nil)
}

// Callers.
var (
	holdSeconds = counter("hold_seconds_total",
		"Backend connection seconds held, open holds included. state: executing, sending, idle_in_transaction, pinned, preparing.",
		"pool", "caller", "state")
	holds = counter("holds_total",
		"Finished holds, each counted for the caller that was charged at its end.", "pool", "caller")
	holdDuration = histogram("hold_duration_seconds",
		"Length of finished holds, one observation for each caller's unbroken stretch of a hold. Its sum lags conntag_hold_seconds_total by what is still open.",
		"pool", "caller")
	callerConnections = gauge("caller_backend_connections",
		"Backend connections held now. state: as in conntag_hold_seconds_total.", "pool", "caller", "state")
	waitDuration = histogram("wait_duration_seconds",
		"Wait for a backend connection, one observation per acquire: 0 for those that did not queue, waits without success included.",
		"pool", "caller")
	waitSeconds = counter("wait_seconds_total",
		"Seconds waited for a backend connection, open waits included. Its rate is the mean queue length.", "pool", "caller")
	waiting      = gauge("waiting_requests", "Sessions that wait for a backend connection now.", "pool", "caller")
	waitTimeouts = counter("wait_timeouts_total",
		"Waits that reached the pool's wait timeout; the statement failed.", "pool", "caller")
	waitsAbandoned = counter("waits_abandoned_total",
		"Waits that ended without a connection for another reason than the timeout: the client left, the dial failed, the pool closed.", "pool", "caller")
	queries     = counter("queries_total", "Statements and prepared executions sent by clients.", "pool", "caller")
	errorsTotal = counter("errors_total",
		"Errors that clients were given, by class. A class appears with its first error.", "pool", "caller", "class")
	pins = counter("pins_total",
		"Times a lease was kept past a transaction's end, by reason. A reason appears with its first pin.",
		"pool", "caller", "reason")
)

// Pools.
var (
	inUseSeconds = counter("backend_in_use_seconds_total",
		"Time integral of backend connections in use, kept by the pool itself and not by attribution.", "pool")
	conservationError = gauge("hold_conservation_error_seconds",
		"Sum of hold seconds less the pool's integral at this scrape; 0 unless attribution leaks.", "pool")
	oldestHold  = gauge("oldest_hold_seconds", "Age of the oldest open hold; 0 without one.", "pool")
	connections = gauge("backend_connections",
		"Backend connections now. state: idle, in_use, dialing, closing.", "pool", "state")
	connectionsLimit = gauge("backend_connections_limit", "Configured upper limit of backend connections.", "pool")
	fullSeconds      = counter("pool_full_seconds_total",
		"Seconds with every backend connection in use; exact, so it sees bursts between scrapes.", "pool")
	connects = counter("backend_connects_total", "Finished attempts to connect to the backend. result: ok, error.",
		"pool", "result")
	closes       = counter("backend_closes_total", "Backend connections closed, by reason.", "pool", "reason")
	backendUp    = gauge("backend_up", "1 when the last dial or health check reached the backend.", "pool")
	backendBytes = counter("backend_bytes_total",
		"Bytes exchanged with the backend. direction: rx from it, tx to it.", "pool", "direction")
	callersTracked = gauge("callers_tracked", "Callers with an account in this pool.", "pool")
	callersLimit   = gauge("callers_limit",
		"Configured upper limit of callers made from tags and logins; configured callers come on top.", "pool")
	callerOverflow = counter("caller_overflow_total",
		"Look-ups of callers beyond the limit, booked to __other__.", "pool")
)

// The process.
var (
	clientConnections      = gauge("client_connections", "Client connections now.")
	clientConnectionsLimit = gauge("client_connections_limit", "Configured upper limit of client connections.")
	clientConnects         = counter("client_connects_total",
		"Client connections by how their login ended. result: ok, auth, tls, limit, protocol.", "result")
	clientBytes = counter("client_bytes_total",
		"Bytes exchanged with clients. direction: rx from them, tx to them.", "direction")
	sessionPanics = counter("session_panics_total", "Sessions ended by a bug in conntag; their client was disconnected.")
	buildInfo     = gauge("build_info", "Always 1; the labels say what runs.", "version", "revision", "goversion")
)

// families is what Describe tells; a pedantic registry in the tests compares it with what Collect sends.
var families = []family{
	holdSeconds, holds, holdDuration, callerConnections, waitDuration, waitSeconds, waiting, waitTimeouts,
	waitsAbandoned, queries, errorsTotal, pins,
	inUseSeconds, conservationError, oldestHold, connections, connectionsLimit, fullSeconds, connects, closes,
	backendUp, backendBytes, callersTracked, callersLimit, callerOverflow,
	clientConnections, clientConnectionsLimit, clientConnects, clientBytes, sessionPanics, buildInfo,
}
