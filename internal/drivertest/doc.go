// Package drivertest holds the end-to-end tests with other people's clients: drivers of many languages and the programs
// that come with MariaDB. Each runs the same script once directly against MariaDB and once through a proxy whose two
// backend connections keep changing hands, and the two transcripts must be equal.
//
// The tests need the tag e2e and the drivers, which `make e2e` installs:
//
//	go test -tags e2e -run TestE2E ./internal/drivertest
//
// A script in testdata is told where to connect by DB_HOST, DB_PORT, DB_USER, DB_PASSWORD and DB_SCHEMA, and finds in
// DB_OTHER a second schema, in DB_FILE a file for LOAD DATA LOCAL, in DB_CA the certificate to trust when it is to use TLS
// and in DB_STYLE which of several ways to use the driver. It prints one line per check,
//
//	{"check": "affected rows", "got": [1, 2]}
//
// or, where the driver refused something that it must not, {"check": "…", "broke": "why"}, and at the end the check
// "done" with the driver's version. Connection ids and times have no place in a transcript.
//
// The scripts in testdata/orm print transcripts, too: each makes 1,000 ordinary transactions, which must pin nothing.
// README.md's table of drivers is what these tests print at their end; they fail when it says anything else, versions and
// shares aside.
package drivertest
