// Package wire is the MySQL client/server protocol as bytes: packets, the messages of the login, and where a
// reply ends. Nothing here does more I/O than one packet, and nothing knows sessions, pools or callers.
//
// A login reads and writes whole packets with [Conn]. After it, replies are not read packet by packet: [Reply]
// walks the headers inside a buffer that was read from the backend and says which bytes may be passed on as they
// are, and which packet (OK, EOF, ERR, …) wants a look. Row contents are never decoded.
//
// Source of all layouts: dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html and, for MariaDB,
// mariadb.com/kb/en/clientserver-protocol.
package wire
