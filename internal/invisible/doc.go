// Package invisible judges whether conntag can be seen: it plays drawn sequences of commands over direct connections and
// through the proxy, and compares, byte for byte, what each client was told.
//
//	stage, err := invisible.Raise(invisible.Conntag)      // two private MariaDB servers with the same data
//	g, err := invisible.NewGenerator(seed)
//	result, err := stage.Play(g.Draw(invisible.S1, 30))   // result.Difference is nil if nobody could tell
//	c, d, err := stage.Shrink(result.Played, result.Difference)
//
// The direct side has one connection per client on one server, the other side a pool smaller than the number of clients
// on the second. In mode [S1] the pool is one connection and clients take turns; in [S2] it is three, and noise sessions
// make every statement that is not pinned land on another connection than the one before. Both are functions of the
// seed: the steps go one after another, the same on both sides. In [Free] the clients run at once, on data of their own.
//
// What is known to differ stands in [Exclusions]: the generator leaves it out, or the comparison does not look at it.
// Whoever mends one deletes its entry; until then its cases in testdata must show it.
//
// A case is a text file (see [Parse]); testdata holds those that once told conntag from a server.
package invisible
