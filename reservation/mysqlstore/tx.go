package mysqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"
)

// A tag goes in front of every statement, those that begin and end a transaction included. database/sql's own BeginTx would
// send those without a tag.
const (
	tagSchema  = "/* conn_tag:reservation_schema */ "
	tagRestock = "/* conn_tag:reservation_restock */ "
	tagReserve = "/* conn_tag:reservation_reserve */ "
	tagClaim   = "/* conn_tag:reservation_claim */ "
	tagRelease = "/* conn_tag:reservation_release */ "
)

const rollbackTimeout = 5 * time.Second

// tx runs tagged statements on one connection. Values are put into the text: all are numbers, and a text without
// parameters takes one round trip whatever the DSN says about interpolateParams.
type tx struct {
	conn *sql.Conn
	tag  string
}

func (t *tx) exec(ctx context.Context, text string) (sql.Result, error) {
	return t.conn.ExecContext(ctx, t.tag+text)
}

func (t *tx) query(ctx context.Context, text string) (*sql.Rows, error) {
	return t.conn.QueryContext(ctx, t.tag+text)
}

// begin starts a transaction at READ COMMITTED, for that transaction only. At REPEATABLE READ the locking reads would lock
// gaps, and block or deadlock with the inserts of a replenish.
func (t *tx) begin(ctx context.Context) error {
	if _, err := t.exec(ctx, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"); err != nil {
		return err
	}
	_, err := t.exec(ctx, "START TRANSACTION")
	return err
}

// transact runs f in a transaction on conn, again when it loses a deadlock or a lock wait.
func (s *Store) transact(ctx context.Context, conn *sql.Conn, tag string, f func(*tx) error) error {
	t := &tx{conn: conn, tag: tag}
	return s.retry(ctx, func() error {
		if err := t.begin(ctx); err != nil {
			t.rollback(ctx)
			return fmt.Errorf("begin: %w", err)
		}
		if err := f(t); err != nil {
			t.rollback(ctx)
			return err
		}
		// On Galera a commit can lose a deadlock too.
		if _, err := t.exec(ctx, "COMMIT"); err != nil {
			t.rollback(ctx)
			return fmt.Errorf("commit: %w", err)
		}
		return nil
	})
}

// rollback is sent after every error: a deadlock has ended the transaction already, but a lock wait timeout leaves it
// open with its locks. A connection that cannot even roll back is thrown away, which makes the server do it.
func (t *tx) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, err := t.exec(ctx, "ROLLBACK"); err != nil {
		_ = t.conn.Raw(func(any) error { return driver.ErrBadConn }) // returns that very error
	}
}

// withConn lends f one connection, so that a call never waits for a second one while it holds a first.
func (s *Store) withConn(ctx context.Context, f func(*sql.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("get connection: %w", err)
	}
	defer func() { _ = conn.Close() }() // gives it back; a broken one was reported by the statement that met it
	return f(conn)
}
