// Package admin is the HTTP side of a running conntag: metrics, health, the read-only API behind
// `conntag show`, and profiles.
//
// New takes what it shows as small read interfaces, Start binds and serves, Close ends both:
//
//	GET /metrics            Prometheus text
//	GET /healthz            200 while the process serves
//	GET /readyz             200 when a backend answers, else 503 and why
//	GET /api/v1/callers     CallersReply; ?pool=NAME for one pool
//	GET /api/v1/pools       PoolsReply; ?pool=NAME for one pool
//	GET /api/v1/sessions    SessionsReply
//	GET /debug/pprof/       profiles of the Go runtime
//
// There is no login. It listens on loopback unless the configuration says otherwise, answers GET only, and
// refuses requests for a host name it does not know, so that a web page cannot reach it through a browser
// by pointing a name of its own at 127.0.0.1 (DNS rebinding).
//
// Client is the other end, used by the command line.
package admin
