// Package wiretest holds scripted peers of the MySQL protocol on real sockets, as httptest does for HTTP.
//
// A backend that greets as a MySQL 8 and knows one query:
//
//	b := wiretest.Start(t, wiretest.Server{
//		Greeting: wire.Greeting{Version: "8.4.0", Plugin: "caching_sha2_password"},
//		Password: "secret",
//		Reply: func(p *wiretest.Peer, command []byte) error { return p.Rows([]string{"answer"}, []string{"42"}) },
//	})
//	connect to b.Addr()
//
// A client that does what a driver would not:
//
//	c, err := wiretest.Dial(addr)         // the greeting is in c.Greeting
//	err = c.Login(wiretest.Login{User: "app", Password: "secret", Plugin: "mysql_native_password"})
//	err = c.Send(wire.ComQuery, "SELECT 1")
//	packets, err := c.Reply(wire.ShapeResults)
//
// [Fault] is a connection that breaks on cue, for either peer. The package is for tests only.
package wiretest
