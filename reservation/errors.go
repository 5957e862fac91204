package reservation

import (
	"errors"
	"fmt"
)

var (
	// ErrInsufficient is returned by Reserve when a line asks for more than is free. Units in carts that are being
	// reserved at the same instant count as taken. Nothing of the cart is reserved. The error is an *InsufficientError.
	ErrInsufficient = errors.New("insufficient stock")
	// ErrNotFound is returned by Claim and Release for an id that was never reserved.
	ErrNotFound = errors.New("no such reservation")
	// ErrEnded is returned when a reservation has already ended another way: Claim of a released or expired one, Release
	// of a claimed one, Reserve with the id of one that has ended. The error is an *EndedError.
	ErrEnded = errors.New("reservation has ended")
	// ErrConflict is returned by Reserve when the id is in use for a cart with other lines.
	ErrConflict = errors.New("reservation id is in use for another cart")
	// ErrInvalid is returned by Reserve for a cart that no store could hold, such as one without lines.
	ErrInvalid = errors.New("invalid cart")
)

// InsufficientError names the lines that could not be had, in the order of the cart.
type InsufficientError struct{ Lines []Line }

func (e *InsufficientError) Error() string {
	l := e.Lines[0]
	if len(e.Lines) == 1 {
		return fmt.Sprintf("%v: item %d in group %d, wanted %d", ErrInsufficient, l.ItemID, l.GroupID, l.Quantity)
	}
	return fmt.Sprintf("%v: item %d in group %d, wanted %d, and %d more lines", ErrInsufficient, l.ItemID, l.GroupID, l.Quantity, len(e.Lines)-1)
}

// Is makes errors.Is(err, ErrInsufficient) hold.
func (e *InsufficientError) Is(target error) bool { return target == ErrInsufficient }

// EndedError tells how the reservation ended.
type EndedError struct{ State State }

func (e *EndedError) Error() string { return fmt.Sprintf("%v: %s", ErrEnded, e.State) }

// Is makes errors.Is(err, ErrEnded) hold.
func (e *EndedError) Is(target error) bool { return target == ErrEnded }
