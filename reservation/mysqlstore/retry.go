package mysqlstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Server error numbers.
const (
	codeDuplicate   = 1062
	codeLockTimeout = 1205
	codeDeadlock    = 1213
)

const (
	firstPause   = time.Millisecond
	longestPause = 50 * time.Millisecond
)

// retry runs f until it succeeds, fails for another reason than a lost deadlock or lock wait, or the retries are used up.
// The pause doubles and is jittered: two transactions that met once should not meet again in step.
func (s *Store) retry(ctx context.Context, f func() error) error {
	pause := firstPause
	for attempt := 0; ; attempt++ {
		err := f()
		if !lostLock(err) || attempt == s.cfg.Retries {
			return err
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(ctx.Err(), err)
		}
		pause = min(2*pause, longestPause)
	}
}

func lostLock(err error) bool {
	code := codeOf(err)
	return code == codeDeadlock || code == codeLockTimeout
}

// codeOf returns the server's error number, 0 when the error is not the server's.
func codeOf(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}
