package invisible

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

// Middle is what stands between the clients of a case and their server, and is judged.
type Middle interface {
	Addr() string
	// Sessions are the clients that hold a backend connection or wait for one, and those that don't.
	Sessions() []proxy.SessionInfo
	Snapshot() proxy.Snapshot
	Close() error
}

// Opener starts a Middle of at most size backend connections in front of the server at addr.
type Opener func(addr string, size int) (Middle, error)

// conntag is the proxy, in this process.
type conntag struct {
	*proxy.Server
	served chan error
}

// Conntag is the Opener of what this package is for.
func Conntag(addr string, size int) (Middle, error) {
	o := proxy.Options{
		Config:      proxy.DefaultConfig(),
		Users:       []proxy.User{{Name: mariadbtest.User, Password: mariadbtest.Password}},
		Backend:     proxy.DefaultBackendConfig(),
		Pool:        pool.DefaultConfig(),
		Attribution: attribution.DefaultConfig(),
		Log:         slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	o.Config.Listen, o.Backend.Address = "127.0.0.1:0", addr
	o.Pool.Size, o.Pool.WaitTimeout = size, patience/2
	s, err := proxy.New(o)
	if err != nil {
		return nil, err
	}
	if err := s.Listen(); err != nil {
		return nil, err
	}
	c := conntag{s, make(chan error, 1)}
	go func() { c.served <- s.Serve() }()
	return c, nil
}

func (c conntag) Addr() string { return c.Server.Addr().String() }

func (c conntag) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := c.Shutdown(ctx)
	return errors.Join(err, <-c.served)
}

// resting are the phases in which a session waits for its client, so that what it holds will stay.
func resting(s proxy.SessionInfo) bool {
	switch s.Phase {
	case "idle", attribution.IdleInTransaction.String(), attribution.Pinned.String():
		return true
	}
	return false
}

// settled returns the sessions once all of them wait for their clients.
func settled(m Middle) ([]proxy.SessionInfo, error) {
	for end := time.Now().Add(patience); ; {
		list := m.Sessions()
		done := true
		for _, s := range list {
			done = done && resting(s)
		}
		if done {
			return list, nil
		}
		if time.Now().After(end) {
			return nil, errors.New("a session does not come to rest though its client has its answer")
		}
		time.Sleep(10 * time.Microsecond)
	}
}

// awaitEnd waits until a session is gone.
func awaitEnd(m Middle, id uint32) error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Microsecond) {
		gone := !slices.ContainsFunc(m.Sessions(), func(s proxy.SessionInfo) bool { return s.ID == id })
		if gone {
			return nil
		}
		if time.Now().After(end) {
			return errors.New("a session does not end though its client has said goodbye")
		}
	}
}
