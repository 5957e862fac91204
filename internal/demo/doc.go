// Package demo shows conntag at work: a private throwaway MariaDB, the proxy with a small pool over it, and a checkout's
// callers that share the pool, one of which holds connections during a call to another service.
//
//	err := demo.Run(ctx, demo.Options{Duration: 30 * time.Second, Clients: 40, Stdout: os.Stdout, Stderr: os.Stderr})
//
// While it runs it shows a table of who holds the connections, at the end a verdict. Table and verdict are read off the
// proxy's ledger and know nothing of the workload: over another workload they would say something else.
package demo
