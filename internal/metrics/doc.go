// Package metrics shows a proxy's snapshots to Prometheus. It is the only package that knows Prometheus.
//
//	reg := metrics.NewRegistry(server, metrics.Options{Version: "1.0.0", CallersLimit: 200})
//	mux.Handle("/metrics", metrics.Handler(reg))
//
// Nothing is counted here: at each scrape the collector takes one snapshot and writes it down as it is, so the
// figures of one pool are of one instant and sum(conntag_hold_seconds_total) equals
// conntag_backend_in_use_seconds_total to the nanosecond.
package metrics
