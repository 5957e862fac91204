package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/conntag/conntag/reservation"
)

// Claim implements reservation.Store.
func (s *Store) Claim(ctx context.Context, shopID, reservationID uint64) error {
	err := s.end(ctx, tagClaim, shopID, reservationID, reservation.Claimed)
	if err != nil {
		return fmt.Errorf("claim %d: %w", reservationID, err)
	}
	return nil
}

// Release implements reservation.Store. The units go back to the ledger; the next reserve that finds too few unit rows makes
// new ones from there, with new ids.
func (s *Store) Release(ctx context.Context, shopID, reservationID uint64) error {
	err := s.end(ctx, tagRelease, shopID, reservationID, reservation.Released)
	var ended *reservation.EndedError
	if errors.As(err, &ended) && ended.State == reservation.Expired {
		return nil // expiry gave the units back
	}
	if err != nil {
		return fmt.Errorf("release %d: %w", reservationID, err)
	}
	return nil
}

// end moves a reservation from reserved to state, once. The ledger row is the hot one: it is locked last, right before the
// commit.
func (s *Store) end(ctx context.Context, tag string, shopID, reservationID uint64, state reservation.State) error {
	return s.withConn(ctx, func(conn *sql.Conn) error {
		return s.transact(ctx, conn, tag, func(t *tx) error {
			was, err := t.state(ctx, shopID, reservationID, " FOR UPDATE")
			switch {
			case err != nil:
				return err
			case was == state:
				return nil
			case was != reservation.Reserved:
				return &reservation.EndedError{State: was}
			}
			lines, err := t.reservedLines(ctx, shopID, reservationID)
			if err != nil {
				return err
			}
			for _, text := range []string{
				fmt.Sprintf("UPDATE reservations SET state = '%s' WHERE shop_id = %d AND reservation_id = %d", state, shopID, reservationID),
				fmt.Sprintf("DELETE FROM reserved_quantities WHERE shop_id = %d AND reservation_id = %d", shopID, reservationID),
				chargeLedgerText(shopID, lines, state),
			} {
				if _, err := t.exec(ctx, text); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// state returns a reservation's state, or reservation.ErrNotFound.
func (t *tx) state(ctx context.Context, shopID, reservationID uint64, lock string) (reservation.State, error) {
	var state reservation.State
	err := t.conn.QueryRowContext(ctx, fmt.Sprintf("%sSELECT state FROM reservations WHERE shop_id = %d AND reservation_id = %d%s",
		t.tag, shopID, reservationID, lock)).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return "", reservation.ErrNotFound
	}
	return state, err
}

// reservedLines returns what a reservation holds, sorted as a normalized cart is.
func (t *tx) reservedLines(ctx context.Context, shopID, reservationID uint64) ([]reservation.Line, error) {
	rows, err := t.query(ctx, fmt.Sprintf("SELECT inventory_item_id, inventory_group_id, quantity FROM reserved_quantities "+
		"WHERE shop_id = %d AND reservation_id = %d ORDER BY inventory_item_id, inventory_group_id", shopID, reservationID))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	var lines []reservation.Line
	for rows.Next() {
		var l reservation.Line
		if err := rows.Scan(&l.ItemID, &l.GroupID, &l.Quantity); err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, rows.Err()
}
