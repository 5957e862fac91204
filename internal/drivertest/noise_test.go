//go:build e2e

package drivertest

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
)

// disturbances are what the noisy clients do in turn. Each leaves a backend connection in a state that a script would
// notice if it ever saw it, and holds it for about a millisecond.
var disturbances = []string{
	"BEGIN", "INSERT INTO noise.t (v) VALUES (1)", "SELECT SLEEP(0.001)", "COMMIT",
	"SET SESSION sql_mode='ANSI,TRADITIONAL', time_zone='-11:00', group_concat_max_len=7",
	"SELECT 1/0, SLEEP(0.001)",
	"SET NAMES latin2", "USE information_schema",
	"SELECT SQL_CALC_FOUND_ROWS 1, SLEEP(0.001) FROM noise.t LIMIT 1",
	"SET autocommit=0", "UPDATE noise.t SET v=v+1 ORDER BY id DESC LIMIT 1", "SELECT SLEEP(0.001)", "ROLLBACK", "SET autocommit=1",
	"SET SESSION sql_mode=DEFAULT, time_zone=DEFAULT, group_concat_max_len=DEFAULT",
	"SET NAMES utf8mb4", "USE noise",
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SELECT SLEEP(0.001)", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
}

// noisy is the caller that the noisy clients are charged as.
const noisy = "noise"

// makeNoise lets a number of clients take the pool's connections in turn until the returned stop is called.
func makeNoise(t *testing.T, addr string, number int) (stop func()) {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/noise?connectionAttributes=conn_tag:%s", server.User, server.Password, addr, noisy))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for n := range number {
		clients.Go(func() {
			if err := disturb(ctx, db, n*len(disturbances)/number); err != nil && ctx.Err() == nil {
				t.Errorf("noisy client %d: %v", n, err)
			}
		})
	}
	return func() {
		cancel()
		clients.Wait()
		_ = db.Close()
	}
}

// disturb starts with the given disturbance, so that the clients differ.
func disturb(ctx context.Context, db *sql.DB, first int) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for _, q := range disturbances[first:] {
		if q == "COMMIT" || q == "ROLLBACK" {
			continue
		}
		if _, err := c.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	for {
		for _, q := range disturbances {
			if _, err := c.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
	}
}
