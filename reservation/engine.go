package reservation

import (
	"context"
	"errors"
)

// Store keeps stock and reservations. Its methods are atomic and safe to repeat, as the Engine's are.
type Store interface {
	// Reserve takes all lines of a normalized cart or none.
	Reserve(ctx context.Context, c Cart) error
	// Claim turns a reservation into a sale.
	Claim(ctx context.Context, shopID, reservationID uint64) error
	// Release gives the units of a reservation back.
	Release(ctx context.Context, shopID, reservationID uint64) error
}

// Engine checks what is asked and passes it on to a store. It holds no state of its own.
type Engine struct {
	store Store
	cfg   Config
}

// New returns an engine over store. The error lists everything that is wrong with cfg.
func New(store Store, cfg Config) (*Engine, error) {
	if errs := cfg.Validate(); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &Engine{store: store, cfg: cfg}, nil
}

// Reserve takes every line of the cart, or none of them and says which were short (ErrInsufficient). Repeated with the
// same id and lines it returns nil again and takes nothing more. Other errors: ErrInvalid, ErrConflict, ErrEnded.
func (e *Engine) Reserve(ctx context.Context, c Cart) error {
	if err := c.validate(e.cfg); err != nil {
		return err
	}
	c = c.Normalize()
	if c.TTL == 0 {
		c.TTL = e.cfg.TTL
	}
	return e.store.Reserve(ctx, c)
}

// Claim sells what was reserved. Claiming twice sells once and returns nil both times. A reservation past its time that
// has not been expired yet can be claimed: its units are still there. Errors: ErrNotFound, ErrEnded.
func (e *Engine) Claim(ctx context.Context, shopID, reservationID uint64) error {
	return e.store.Claim(ctx, shopID, reservationID)
}

// Release gives back what was reserved. Releasing twice, or after expiry, gives back once and returns nil. Errors:
// ErrNotFound, ErrEnded.
func (e *Engine) Release(ctx context.Context, shopID, reservationID uint64) error {
	return e.store.Release(ctx, shopID, reservationID)
}
