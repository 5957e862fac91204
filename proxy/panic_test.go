package proxy_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// trap is a log handler that panics at one message, in the goroutine of the session that logs it.
type trap struct {
	slog.Handler
	message string
	mu      sync.Mutex
	logged  []string
}

func (h *trap) Enabled(context.Context, slog.Level) bool { return true }

func (h *trap) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	h.logged = append(h.logged, r.Message)
	h.mu.Unlock()
	if r.Message == h.message {
		panic("trapped at " + r.Message)
	}
	return nil
}

func TestPanicInOneSessionEndsOnlyThatSession(t *testing.T) {
	h := &trap{message: "login refused"}
	house := newHouse(t, 1, func(o *options) { o.Log = slog.New(h) })
	other := house.client(t)
	exec(t, other, "DO 1")
	_, err := open(t, house.dsn(func(c *mysql.Config) { c.Passwd = "wrong" })).Conn(context.Background())
	if errorCode(err) != 1045 {
		t.Errorf("got %v, want 1045", err)
	}
	eventually(t, "the panic is counted", func() bool { return house.Snapshot().Panics == 1 })
	eventually(t, "its session is gone", func() bool { return house.Snapshot().ClientConnections == 1 })
	exec(t, other, "DO 1")
	h.mu.Lock()
	defer h.mu.Unlock()
	if all := strings.Join(h.logged, ","); !strings.Contains(all, "session panicked") {
		t.Errorf("logged %s", all)
	}
}
