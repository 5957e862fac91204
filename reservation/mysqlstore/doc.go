// Package mysqlstore keeps stock and reservations in MySQL 8 or MariaDB 10.6 and later.
//
//	db, err := sql.Open("mysql", dsn)
//	store := mysqlstore.New(db, mysqlstore.DefaultConfig())
//	err = store.CreateTables(ctx)
//	err = store.Restock(ctx, 1, reservation.Line{ItemID: 7, GroupID: 1, Quantity: 100})
//
// Every statement begins with a comment such as /* conn_tag:reservation_reserve */. It comes first because servers cut long
// statements at the end when they report a deadlock. DESIGN.md tells why the tables and the order of locks are as they are.
package mysqlstore
