package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/reservation"
)

var server *mariadbtest.Instance

func TestMain(m *testing.M) {
	var err error
	if server, err = mariadbtest.Start(); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		log.Print(err)
	}
	os.Exit(code)
}

var databases atomic.Int32

// shop is a store on a database of its own.
type shop struct {
	*Store
	t *testing.T
}

func newShop(t *testing.T, cfg Config) *shop {
	t.Helper()
	name := fmt.Sprintf("shop%d", databases.Add(1))
	root, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	_ = root.Close()
	db, err := sql.Open("mysql", server.DSN(name))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(64)
	db.SetMaxIdleConns(64)
	t.Cleanup(func() { _ = db.Close() })
	s := &shop{Store: New(db, cfg), t: t}
	if err := s.CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) stock(item uint64, quantity int) {
	s.t.Helper()
	if err := s.Restock(s.t.Context(), 1, reservation.Line{ItemID: item, GroupID: 1, Quantity: quantity}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) number(query string) int {
	s.t.Helper()
	var n int
	if err := s.db.QueryRow(query).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (s *shop) onHand() int {
	return s.number("SELECT COALESCE(SUM(on_hand), 0) FROM inventory_ledger")
}
func (s *shop) reserved() int {
	return s.number("SELECT COALESCE(SUM(quantity), 0) FROM reserved_quantities")
}

// checkConserved compares, item by item, what the ledger says is there with what can be found.
func (s *shop) checkConserved() {
	s.t.Helper()
	const key = "shop_id, inventory_item_id, inventory_group_id"
	n := s.number(`SELECT COUNT(*) FROM inventory_ledger
		LEFT JOIN (SELECT ` + key + `, COUNT(*) AS n FROM reservation_units GROUP BY ` + key + `) u USING (` + key + `)
		LEFT JOIN (SELECT ` + key + `, SUM(quantity) AS n FROM reserved_quantities GROUP BY ` + key + `) r USING (` + key + `)
		WHERE on_hand <> unissued + COALESCE(u.n, 0) + COALESCE(r.n, 0) OR unissued < 0`)
	if n != 0 {
		s.t.Errorf("stock of %d items does not add up", n)
	}
}

// cart takes pairs of item and quantity.
func cart(id uint64, pairs ...int) reservation.Cart {
	c := reservation.Cart{ShopID: 1, ReservationID: id, TTL: time.Minute}
	for i := 0; i < len(pairs); i += 2 {
		c.Lines = append(c.Lines, reservation.Line{ItemID: uint64(pairs[i]), GroupID: 1, Quantity: pairs[i+1]})
	}
	return c.Normalize()
}

// eventually waits until condition holds. It looks less often than every 0.1 s: read more often, the server's
// information_schema.innodb_trx is never refreshed.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("10 s passed and still not: %s", what)
		}
	}
}
