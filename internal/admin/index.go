package admin

import "net/http"

// indexPage has no script and no style from elsewhere: the policy below allows none.
const indexPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>conntag</title>
<h1>conntag</h1>
<p>Who holds the database connections. This is the admin API of a running proxy; it only reads.</p>
<dl>
<dt><a href="/api/v1/callers">/api/v1/callers</a><dd>every caller: held, by phase, waited, errors, pins (<code>conntag show callers</code>)
<dt><a href="/api/v1/pools">/api/v1/pools</a><dd>every pool: connections, waiters, closes (<code>conntag show pools</code>)
<dt><a href="/api/v1/sessions">/api/v1/sessions</a><dd>every client connection (<code>conntag show sessions</code>)
<dt><a href="/metrics">/metrics</a><dd>the same figures for Prometheus
<dt><a href="/healthz">/healthz</a><dd>the process serves
<dt><a href="/readyz">/readyz</a><dd>a backend answers
<dt><a href="/debug/pprof/">/debug/pprof/</a><dd>profiles of the Go runtime
</dl>
</html>
`

func index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(indexPage)) // only a client that left can make it fail
}
