package pool

import (
	"errors"
	"fmt"
)

var (
	// ErrWaitTimeout says that nothing came free within Config.WaitTimeout. The session may try again.
	ErrWaitTimeout = errors.New("pool: wait timed out")
	// ErrClosed says that the pool was closed before the call, or while it waited.
	ErrClosed = errors.New("pool: closed")
)

// DialError ends the wait of the first waiter whose kind could not be dialed. The slot is free again, and the next
// waiter gets a dial of its own.
type DialError struct {
	Pool string
	Err  error // what Hooks.Dial returned
}

func (e *DialError) Error() string { return fmt.Sprintf("dial backend of pool %s: %v", e.Pool, e.Err) }

// Unwrap returns what Hooks.Dial returned.
func (e *DialError) Unwrap() error { return e.Err }
