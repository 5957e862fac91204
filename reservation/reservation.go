package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// State of a reservation. It starts as Reserved and ends in one of the others.
type State string

// The states, as stores and APIs spell them.
const (
	Reserved State = "reserved"
	Claimed  State = "claimed"
	Released State = "released"
	Expired  State = "expired"
)

// Line asks for a quantity of one item from one inventory group (a place or a channel that has stock of its own).
type Line struct {
	ItemID, GroupID uint64
	Quantity        int // units, at least 1
}

// Cart is what is reserved in one go.
type Cart struct {
	ShopID        uint64
	ReservationID uint64 // chosen by the caller, unique within the shop
	Lines         []Line
	TTL           time.Duration // until it may expire; 0 takes Config.TTL
}

// Normalize returns the cart with lines of the same item and group merged and all sorted: the order in which stores lock,
// and the form in which two carts can be compared. The receiver's lines are not changed.
func (c Cart) Normalize() Cart {
	lines := slices.Clone(c.Lines)
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.ItemID, b.ItemID), cmp.Compare(a.GroupID, b.GroupID))
	})
	merged := lines[:0]
	for _, l := range lines {
		if n := len(merged); n > 0 && merged[n-1].ItemID == l.ItemID && merged[n-1].GroupID == l.GroupID {
			merged[n-1].Quantity += l.Quantity
			continue
		}
		merged = append(merged, l)
	}
	c.Lines = merged
	return c
}

// validate checks the lines as they came and as they are merged: a merge can hide a negative quantity, or exceed the limit.
func (c Cart) validate(cfg Config) error {
	if c.TTL < 0 {
		return fmt.Errorf("%w: negative time to live %s", ErrInvalid, c.TTL)
	}
	if len(c.Lines) == 0 {
		return fmt.Errorf("%w: it has no lines", ErrInvalid)
	}
	if err := validateQuantities(c.Lines, cfg.MaxQuantity); err != nil {
		return err
	}
	merged := c.Normalize().Lines
	if len(merged) > cfg.MaxLines {
		return fmt.Errorf("%w: %d lines, at most %d are allowed", ErrInvalid, len(merged), cfg.MaxLines)
	}
	return validateQuantities(merged, cfg.MaxQuantity)
}

func validateQuantities(lines []Line, most int) error {
	for _, l := range lines {
		if l.Quantity < 1 || l.Quantity > most {
			return fmt.Errorf("%w: quantity %d of item %d, must be 1 to %d", ErrInvalid, l.Quantity, l.ItemID, most)
		}
	}
	return nil
}
