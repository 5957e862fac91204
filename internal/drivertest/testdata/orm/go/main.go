// 1,000 transactions as GORM and sqlc make them over database/sql and go-sql-driver/mysql, with statements prepared once.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

const made = "INSERT INTO carts (owner, qty, made) VALUES (?, ?, UTC_TIMESTAMP(6))"

func main() {
	for pack := range 10 {
		db := open()
		got := make([][]any, 100)
		for n := range got {
			got[n] = transact(db, 100*pack+n)
		}
		say(fmt.Sprintf("transactions %d00 to %d99", pack, pack), got)
		must(db.Close())
	}
	var rows, qty, first, last, left int
	must(open().QueryRow("SELECT COUNT(*), SUM(qty), MIN(id), MAX(id), (SELECT SUM(qty) FROM stock) FROM carts").Scan(&rows, &qty, &first, &last, &left))
	say("what 1,000 transactions left", []int{rows, qty, first, last, left})
	say("done", "")
}

func open() *sql.DB {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = os.Getenv("DB_USER"), os.Getenv("DB_PASSWORD"), "tcp", os.Getenv("DB_HOST")+":"+os.Getenv("DB_PORT"), os.Getenv("DB_SCHEMA")
	c.ParseTime, c.Loc = true, time.UTC
	c.Params = map[string]string{"sql_mode": "'STRICT_TRANS_TABLES'", "time_zone": "'+00:00'"}
	connector, err := mysql.NewConnector(c)
	must(err)
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	var version string
	must(db.QueryRow("SELECT VERSION()").Scan(&version))
	return db
}

func transact(db *sql.DB, n int) []any {
	must(db.Ping())
	tx, err := db.Begin()
	must(err)
	item := n%10 + 1
	var left, last int64
	must(tx.QueryRow("SELECT /* conn_tag:go */ qty FROM stock WHERE id = ?", item).Scan(&left))
	r, err := tx.Exec("UPDATE stock SET qty = qty - ? WHERE id = ?", 1, item)
	must(err)
	touched, err := r.RowsAffected()
	must(err)
	r, err = tx.Exec(made, fmt.Sprint("owner ", n), 1)
	must(err)
	id, err := r.LastInsertId()
	must(err)
	must(tx.QueryRow("SELECT LAST_INSERT_ID()").Scan(&last))
	_, err = tx.Exec("SAVEPOINT s1")
	must(err)
	var owner string
	var when time.Time
	must(tx.QueryRow("SELECT owner, made FROM carts WHERE id = ?", id).Scan(&owner, &when))
	_, err = tx.Exec("RELEASE SAVEPOINT s1")
	must(err)
	must(tx.Commit())
	return []any{id, left, touched, last == id, owner, !when.IsZero()}
}

func say(check string, got any) {
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"check": check, "got": got}))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
