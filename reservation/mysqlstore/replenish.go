package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/conntag/conntag/reservation"
)

// replenish makes unit rows from the ledger for lines that were short, each in a short transaction. It returns the lines for
// which there still are too few rows, and how many rows it made. Of many callers that find an item dry at once, the
// ledger's row lock lets one make units; the others then see them.
//
// It brings an item up to the target. Rows that other transactions hold locked count towards it; force makes as many as
// the line wants on top.
func (s *Store) replenish(ctx context.Context, conn *sql.Conn, shopID uint64, lines []reservation.Line, force bool) (gone []reservation.Line, made int, err error) {
	for _, l := range lines {
		var there, n int
		err := s.transact(ctx, conn, tagReserve, func(t *tx) error {
			var err error
			there, n, err = t.makeUnits(ctx, shopID, l, s.cfg.UnitsTarget, force)
			return err
		})
		if err != nil {
			return nil, made, fmt.Errorf("replenish item %d: %w", l.ItemID, err)
		}
		if there+n < l.Quantity {
			gone = append(gone, l)
		}
		made += n
	}
	return gone, made, nil
}

// makeUnits returns how many unit rows of the line's item there were and how many it made.
func (t *tx) makeUnits(ctx context.Context, shopID uint64, l reservation.Line, target int, force bool) (there, made int, err error) {
	key := keyText(shopID, l)
	var unissued int
	var nextID uint64
	err = t.conn.QueryRowContext(ctx, t.tag+"SELECT unissued, next_unit_id FROM inventory_ledger WHERE "+key+" FOR UPDATE").
		Scan(&unissued, &nextID)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if err := t.conn.QueryRowContext(ctx, t.tag+"SELECT COUNT(*) FROM reservation_units WHERE "+key).Scan(&there); err != nil {
		return 0, 0, err
	}
	made = max(target, l.Quantity) - there
	if force {
		made = max(made, l.Quantity)
	}
	if made = min(made, unissued); made <= 0 {
		return there, 0, nil
	}
	if _, err := t.exec(ctx, insertUnitsText(shopID, l, nextID, made)); err != nil {
		return there, 0, err
	}
	_, err = t.exec(ctx, fmt.Sprintf("UPDATE inventory_ledger SET unissued = unissued - %d, next_unit_id = next_unit_id + %[1]d WHERE %s", made, key))
	return there, made, err
}
