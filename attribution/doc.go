// Package attribution keeps, for one backend pool, who held its connections, who waited for them, and in which phase.
//
// A Ledger is a bounded table of accounts, one per caller. Every session owns a Meter, which the pool tells when a wait
// or a hold begins and ends, and which the session tells when a statement begins and when the phase changes:
//
//	ledger := attribution.NewLedger(attribution.DefaultConfig())
//	var meter attribution.Meter
//	meter.Init(ledger, ledger.Account([]byte("user:shop")))
//
//	meter.Statement(ledger.Account(name), now) // name is a cleaned tag; a nil account means untagged
//	meter.Granted(now)                         // by the pool, under its lock
//	meter.Enter(attribution.Executing, now)
//	meter.Returned(now)                        // by the pool, under its lock
//	meter.Close()                              // when the session ends
//
// Ledger.Cut, called under the pool's lock, copies everything as of one instant. At that instant the sum of all held
// seconds is exactly the pool's integral of leased connections; DESIGN.md says why.
//
// Times are durations since a start shared with the pool (monotonic), and are read by the caller once per event.
// Nothing on the path of a statement allocates.
package attribution
