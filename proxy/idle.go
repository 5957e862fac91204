package proxy

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/proxy/wire"
)

var (
	errBackendLeft = errors.New("backend closed the connection that the session held at rest")
	errIdleTooLong = errors.New("client was idle for longer than wait_timeout")
)

// woken looks why the wait for the client's next command was cut short. nil means: go on waiting.
func (s *Session) woken() error {
	switch {
	case s.lease.Valid():
		if hungUp(s.lease.Conn().socket) {
			return s.backendLeft()
		}
		// The server drains, but this session is not at a safe point yet.
	case s.view.expired.Load() == s.view.moves.Load():
		return clientError(errIdleTooLong)
	}
	return clientError(s.client.SetReadDeadline(time.Time{}))
}

// backendLeft ends a session whose backend connection was closed while it held it at rest: wait_timeout,
// idle_transaction_timeout or KILL on the server, or its end. A direct client would see its connection closed now, not
// only at its next command; MySQL says why in an ERR packet before, MariaDB closes silently.
func (s *Session) backendLeft() error {
	b := s.lease.Conn()
	var last [512]byte
	_ = b.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // it is all there already, or never will be
	n, _ := b.Read(last[:])
	s.meter.Error(attribution.Gone)
	s.dropLease()
	if said := last[:n]; n > wire.HeaderLen && n == wire.HeaderLen+wire.PayloadLen(said) && said[wire.HeaderLen] == wire.ErrHeader {
		_, _ = s.client.Write(bytes.Clone(said))
	}
	return backendError(errBackendLeft)
}

// noteWaitTimeout shows the sweep how long the client may be idle, when that has changed.
func (s *Session) noteWaitTimeout(name string) {
	if name == "wait_timeout" {
		s.setWaitTimeout()
	}
}

// setWaitTimeout takes the session's own wait_timeout, or else the server's.
func (s *Session) setWaitTimeout() {
	limit := s.srv.backend.server.Load().waitTimeout
	if v, ok := s.state.settings.get("wait_timeout"); ok {
		if seconds, err := strconv.ParseUint(v, 10, 32); err == nil {
			limit = time.Duration(seconds) * time.Second
		}
	}
	s.view.waitTimeout.Store(int64(limit))
}
