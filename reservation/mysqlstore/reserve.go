package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/conntag/conntag/reservation"
)

// unit is a row of reservation_units within a shop.
type unit struct{ item, group, id uint64 }

// Reserve implements reservation.Store.
func (s *Store) Reserve(ctx context.Context, c reservation.Cart) error {
	err := s.withConn(ctx, func(conn *sql.Conn) error { return s.reserve(ctx, conn, c) })
	if err != nil {
		return fmt.Errorf("reserve %d: %w", c.ReservationID, err)
	}
	return nil
}

// reserve makes more unit rows from the ledger whenever they run short, in transactions of their own, and tries again. It gives
// up when a line asks for more than there is, or when nothing is left to make and others have locked what there is.
func (s *Store) reserve(ctx context.Context, conn *sql.Conn, c reservation.Cart) error {
	for force := false; ; force = true {
		short, err := s.tryReserve(ctx, conn, c)
		if err != nil || len(short) == 0 {
			return err
		}
		gone, made, err := s.replenish(ctx, conn, c.ShopID, short, force)
		switch {
		case err != nil:
			return err
		case len(gone) > 0:
			return &reservation.InsufficientError{Lines: gone}
		case force && made == 0:
			return &reservation.InsufficientError{Lines: short}
		}
	}
}

// errShort makes a transaction roll back without being an error of the caller.
var errShort = errors.New("units are short")

// tryReserve reserves the cart from the unit rows there are. When some lines are short it reserves nothing and returns them.
func (s *Store) tryReserve(ctx context.Context, conn *sql.Conn, c reservation.Cart) (short []reservation.Line, err error) {
	err = s.transact(ctx, conn, tagReserve, func(t *tx) error {
		// First, since it settles a repeated call before any unit is touched. Two calls with one id queue here.
		if err := t.open(ctx, c); err != nil {
			return err
		}
		units, err := t.lockUnits(ctx, c)
		if err != nil {
			return err
		}
		if short = shortLines(c.Lines, units); len(short) > 0 {
			return errShort
		}
		return t.moveUnits(ctx, c, units)
	})
	switch {
	case errors.Is(err, errShort):
		return short, nil
	case codeOf(err) == codeDuplicate:
		return nil, s.compareReserved(ctx, conn, c)
	}
	return nil, err
}

// open inserts the reservation. The server's clock decides when it expires.
func (t *tx) open(ctx context.Context, c reservation.Cart) error {
	_, err := t.exec(ctx, fmt.Sprintf("INSERT INTO reservations (shop_id, reservation_id, state, expires_at) "+
		"VALUES (%d, %d, 'reserved', UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND)", c.ShopID, c.ReservationID, c.TTL.Microseconds()))
	return err
}

// lockUnits locks up to the wanted number of free unit rows of each line, and waits for none.
func (t *tx) lockUnits(ctx context.Context, c reservation.Cart) ([]unit, error) {
	rows, err := t.query(ctx, lockUnitsText(c))
	if err != nil {
		return nil, fmt.Errorf("lock units: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	var units []unit
	for rows.Next() {
		var u unit
		if err := rows.Scan(&u.item, &u.group, &u.id); err != nil {
			return nil, err
		}
		units = append(units, u)
	}
	return units, rows.Err()
}

// shortLines returns the lines for which fewer units were had than wanted.
func shortLines(lines []reservation.Line, units []unit) []reservation.Line {
	type key struct{ item, group uint64 }
	had := make(map[key]int, len(lines))
	for _, u := range units {
		had[key{u.item, u.group}]++
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l reservation.Line) bool {
		return had[key{l.ItemID, l.GroupID}] >= l.Quantity
	})
}

// moveUnits deletes the locked units and writes down what they became.
func (t *tx) moveUnits(ctx context.Context, c reservation.Cart, units []unit) error {
	result, err := t.exec(ctx, deleteUnitsText(c.ShopID, units))
	if err != nil {
		return fmt.Errorf("delete units: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n != int64(len(units)) {
		return fmt.Errorf("delete units: %d of %d locked rows went (%v)", n, len(units), err)
	}
	if _, err := t.exec(ctx, insertReservedText(c)); err != nil {
		return fmt.Errorf("insert reserved quantities: %w", err)
	}
	return nil
}

// compareReserved answers a call whose id exists: nil when it was the same cart and still is reserved. The lines are read
// first: should the reservation end in between, its state tells.
func (s *Store) compareReserved(ctx context.Context, conn *sql.Conn, c reservation.Cart) error {
	t := &tx{conn: conn, tag: tagReserve}
	lines, err := t.reservedLines(ctx, c.ShopID, c.ReservationID)
	if err != nil {
		return err
	}
	state, err := t.state(ctx, c.ShopID, c.ReservationID, "")
	switch {
	case err != nil:
		return err
	case state != reservation.Reserved:
		return &reservation.EndedError{State: state}
	case !slices.Equal(lines, c.Lines):
		return reservation.ErrConflict
	}
	return nil
}
