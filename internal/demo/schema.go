package demo

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/conntag/conntag/reservation"
	"github.com/conntag/conntag/reservation/mysqlstore"
)

// Sizes of the shop. Carts belong to one client each, so that callers wait for connections and not for each other's rows.
const (
	shopID         = 1
	products       = 200
	cartsPerClient = 20
	linesPerCart   = 3
	stockPerItem   = 1_000_000 // more than the longest run can sell
	stockGroup     = 1
	rowsPerInsert  = 500
)

var tables = []string{
	`CREATE TABLE products (id INT UNSIGNED PRIMARY KEY, title VARCHAR(80) NOT NULL, price_cents INT NOT NULL)`,
	`CREATE TABLE carts (id INT UNSIGNED PRIMARY KEY, state ENUM('open', 'paid') NOT NULL DEFAULT 'open',
		updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6))`,
	`CREATE TABLE cart_lines (cart_id INT UNSIGNED, product_id INT UNSIGNED, quantity INT NOT NULL, PRIMARY KEY (cart_id, product_id))`,
	`CREATE TABLE orders (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, cart_id INT UNSIGNED NOT NULL, total_cents INT NOT NULL)`,
	`CREATE TABLE order_lines (order_id INT UNSIGNED, product_id INT UNSIGNED, quantity INT NOT NULL, PRIMARY KEY (order_id, product_id))`,
	`CREATE TABLE payments (cart_id INT UNSIGNED PRIMARY KEY, state ENUM('authorized', 'captured') NOT NULL, amount_cents INT NOT NULL)`,
}

// createShop creates and fills the tables for a number of clients. db is not behind the proxy: its ledger starts with the
// run.
func createShop(ctx context.Context, db *sql.DB, clients int) error {
	for _, t := range tables {
		if _, err := db.ExecContext(ctx, t); err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
	}
	store := mysqlstore.New(db, mysqlstore.DefaultConfig())
	if err := store.CreateTables(ctx); err != nil {
		return err
	}
	var titles, carts, lines, payments []string
	for p := 1; p <= products; p++ {
		titles = append(titles, fmt.Sprintf("(%d, 'Product %[1]d', %d)", p, 500+37*p))
	}
	for c := 1; c <= clients*cartsPerClient; c++ {
		carts = append(carts, fmt.Sprintf("(%d)", c))
		for l := range linesPerCart {
			lines = append(lines, fmt.Sprintf("(%d, %d, 1)", c, productOf(c, l)))
		}
		payments = append(payments, fmt.Sprintf("(%d, 'authorized', 1000)", c))
	}
	for _, f := range []struct {
		into string
		rows []string
	}{
		{"products (id, title, price_cents)", titles},
		{"carts (id)", carts},
		{"cart_lines (cart_id, product_id, quantity)", lines},
		{"payments (cart_id, state, amount_cents)", payments},
	} {
		if err := insertRows(ctx, db, f.into, f.rows); err != nil {
			return err
		}
	}
	for p := 1; p <= products; p++ {
		if err := store.Restock(ctx, shopID, reservation.Line{ItemID: uint64(p), GroupID: stockGroup, Quantity: stockPerItem}); err != nil {
			return err
		}
	}
	return nil
}

// productOf is the product on line l of a cart, different for each of its lines.
func productOf(cart, l int) int { return 1 + (7*cart+l)%products }

func insertRows(ctx context.Context, db *sql.DB, into string, rows []string) error {
	for len(rows) > 0 {
		n := min(rowsPerInsert, len(rows))
		if _, err := db.ExecContext(ctx, "INSERT INTO "+into+" VALUES "+strings.Join(rows[:n], ", ")); err != nil {
			return fmt.Errorf("fill %s: %w", into, err)
		}
		rows = rows[n:]
	}
	return nil
}
