// Package mariadbtest runs private throwaway MariaDB servers from Debian's packages.
//
// In a test:
//
//	db := mariadbtest.Run(t, mariadbtest.WithDatabase("shop"))
//	conn, err := sql.Open("mysql", db.DSN("shop"))
//
// Outside of tests, or for one server shared by a package's TestMain:
//
//	db, err := mariadbtest.Start(mariadbtest.WithFlags("--thread-handling=pool-of-threads"))
//	defer db.Stop()
//
// A server listens on a free loopback port and on a socket in its own directory, on tmpfs where there is room. It is a
// copy of a template datadir that is built once per MariaDB version and kept in the user's cache directory, so a start
// takes some 0.4 s. It dies with the process that started it. System services and their files are never touched.
//
// Every server has the user "conntag" (password "conntag") with all privileges over TCP and the socket, and "root"
// without a password on loopback.
package mariadbtest
