// Package proxy puts many MySQL clients onto a bounded pool of backend connections and accounts for who holds them.
//
// A session's life:
//
//	Server.Serve      accepts; each client gets a Session on one goroutine
//	Session.greet     the login: greeting in the backend's name, authentication, the user's limits, the first schema
//	Session.serve     one command after another; between them the session holds no buffer
//	  readCommand       waits without a buffer, then reads one command whole
//	  dispatch          by command byte; for SQL, sqlscan finds tags, first word and whether state may be touched
//	  acquire           a lease if there is none; what its last session left there is read off, and what differs in session state replayed
//	  suit              what only some statements can tell apart: LAST_INSERT_ID(), ROW_COUNT(), trackers
//	  exchange          command out; the reply is passed on as bytes, its end found by wire.Reply
//	  settle            the one transition of session state: trackers' word first, then the statement's effects, then questions
//	  rest              at a safe point the lease goes back; a client slow to take its last bytes holds nothing up
//	Session.end       where errors end, by their side
//	Session.close     gives the lease back, reset if anything is left on it
//
// Every change of phase or caller on the way is told to the session's attribution.Meter, which is also the pool's
// Holder: waits and holds are charged from the same clock readings as the pool's own integral.
//
// DESIGN.md says why things are as they are.
package proxy
