package demo

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/conntag/conntag/reservation"
	"github.com/conntag/conntag/reservation/mysqlstore"
)

// client is one of an application's workers.
type client struct {
	db       *sql.DB
	number   int // from 1
	visits   uint64
	reserver *reservation.Engine
}

// caller is one kind of client. Of every 40 clients, weight are of this kind.
type caller struct {
	name   string
	weight int
	think  time.Duration // between two visits, on average
	visit  func(*client, context.Context) error
}

var callers = []caller{
	{"checkout_completion", 18, 10 * time.Millisecond, (*client).completeCheckout},
	{"cart_update", 5, 40 * time.Millisecond, (*client).updateCart},
	{"order_create", 4, 40 * time.Millisecond, (*client).createOrder},
	{"payment_capture", 3, 40 * time.Millisecond, (*client).capturePayment},
	{"reservation_reserve", 4, 40 * time.Millisecond, (*client).reserveStock},
	{"storefront_read", 5, 20 * time.Millisecond, (*client).showProduct},
	{"untagged report", 1, 100 * time.Millisecond, (*client).reportOrders},
}

// A call to a payment provider. The longest stays below 100 ms, a bound of the ledger's histograms: above it the p95 of
// holds would be estimated between 100 and 250 ms, which is far off.
const (
	shortestPayment = 60 * time.Millisecond
	longestPayment  = 95 * time.Millisecond
)

// completeCheckout is the mistake that the demo is about: its transaction, and so its connection, stays open while
// another service is asked.
func (c *client) completeCheckout(ctx context.Context) error {
	return c.transact(ctx, func(tx *sql.Tx) error {
		cart := c.cart()
		var state string
		if err := tx.QueryRowContext(ctx, "/* conn_tag:checkout_completion */ SELECT state FROM carts WHERE id = ? FOR UPDATE", cart).Scan(&state); err != nil {
			return err
		}
		var total int
		if err := tx.QueryRowContext(ctx, "/* conn_tag:checkout_completion */ SELECT SUM(l.quantity * p.price_cents) FROM cart_lines l "+
			"JOIN products p ON p.id = l.product_id WHERE l.cart_id = ?", cart).Scan(&total); err != nil {
			return err
		}
		if err := pay(ctx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "/* conn_tag:checkout_completion */ INSERT INTO payments (cart_id, state, amount_cents) "+
			"VALUES (?, 'authorized', ?) ON DUPLICATE KEY UPDATE state = 'authorized', amount_cents = VALUES(amount_cents)", cart, total); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "/* conn_tag:checkout_completion */ UPDATE carts SET state = 'paid' WHERE id = ?", cart)
		return err
	})
}

// pay pretends to call a payment provider: it takes as long.
func pay(ctx context.Context) error {
	return pause(ctx, shortestPayment+rand.N(longestPayment-shortestPayment))
}

func (c *client) updateCart(ctx context.Context) error {
	return c.transact(ctx, func(tx *sql.Tx) error {
		cart := c.cart()
		if _, err := tx.ExecContext(ctx, "/* conn_tag:cart_update */ INSERT INTO cart_lines (cart_id, product_id, quantity) VALUES (?, ?, 1) "+
			"ON DUPLICATE KEY UPDATE quantity = quantity % 9 + 1", cart, productOf(cart, rand.IntN(linesPerCart))); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "/* conn_tag:cart_update */ UPDATE carts SET state = 'open', updated_at = NOW(6) WHERE id = ?", cart)
		return err
	})
}

func (c *client) createOrder(ctx context.Context) error {
	return c.transact(ctx, func(tx *sql.Tx) error {
		cart := c.cart()
		result, err := tx.ExecContext(ctx, "/* conn_tag:order_create */ INSERT INTO orders (cart_id, total_cents) SELECT l.cart_id, "+
			"SUM(l.quantity * p.price_cents) FROM cart_lines l JOIN products p ON p.id = l.product_id WHERE l.cart_id = ? GROUP BY l.cart_id", cart)
		if err != nil {
			return err
		}
		order, err := result.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "/* conn_tag:order_create */ INSERT INTO order_lines (order_id, product_id, quantity) "+
			"SELECT ?, product_id, quantity FROM cart_lines WHERE cart_id = ?", order, cart)
		return err
	})
}

func (c *client) capturePayment(ctx context.Context) error {
	return c.transact(ctx, func(tx *sql.Tx) error {
		cart := c.cart()
		var amount int
		if err := tx.QueryRowContext(ctx, "/* conn_tag:payment_capture */ SELECT amount_cents FROM payments WHERE cart_id = ? FOR UPDATE", cart).Scan(&amount); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "/* conn_tag:payment_capture */ UPDATE payments SET state = 'captured', amount_cents = ? WHERE cart_id = ?", amount, cart)
		return err
	})
}

// reserveStock reserves a cart and sells it; every fourth buyer leaves, and the stock goes back.
func (c *client) reserveStock(ctx context.Context) error {
	cart := c.cart()
	c.visits++
	order := reservation.Cart{ShopID: shopID, ReservationID: uint64(c.number)<<32 | c.visits}
	for l := range 2 {
		order.Lines = append(order.Lines, reservation.Line{ItemID: uint64(productOf(cart, l)), GroupID: stockGroup, Quantity: 1})
	}
	if err := c.reserver.Reserve(ctx, order); err != nil {
		return err
	}
	if c.visits%4 == 0 {
		return c.reserver.Release(ctx, shopID, order.ReservationID)
	}
	return c.reserver.Claim(ctx, shopID, order.ReservationID)
}

func (c *client) showProduct(ctx context.Context) error {
	rows, err := c.db.QueryContext(ctx, "/* conn_tag:storefront_read */ SELECT id, title, price_cents FROM products WHERE id BETWEEN ? AND ? + 9", c.cart()%products, c.cart()%products)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	for rows.Next() {
		var id, price int
		var title string
		if err := rows.Scan(&id, &title, &price); err != nil {
			return err
		}
	}
	return rows.Err()
}

// reportOrders is by somebody who does not tag.
func (c *client) reportOrders(ctx context.Context) error {
	var orders int
	var total sql.NullInt64
	return c.db.QueryRowContext(ctx, "SELECT COUNT(*), SUM(total_cents) FROM (SELECT total_cents FROM orders ORDER BY id DESC LIMIT 500) latest").Scan(&orders, &total)
}

// cart is one of the client's own.
func (c *client) cart() int { return (c.number-1)*cartsPerClient + 1 + rand.IntN(cartsPerClient) }

// transact runs f in a transaction, whose BEGIN and COMMIT database/sql sends without a tag.
func (c *client) transact(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // the first error tells more
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// newReserver is what a service that uses package reservation builds once.
func newReserver(db *sql.DB) (*reservation.Engine, error) {
	return reservation.New(mysqlstore.New(db, mysqlstore.DefaultConfig()), reservation.DefaultConfig())
}
