package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
)

// kindCaps are the capabilities that are fixed at login and change answers: clients that differ in one of them
// never share a backend connection.
const kindCaps = wire.FoundRows | wire.LocalFiles | wire.MultiResults | wire.PSMultiResults

// kind is what a backend connection can't change after its login. A connection without a default schema is a kind
// of its own as well: the protocol can choose a schema but not unchoose it.
type kind struct {
	user     string
	password string
	caps     wire.Capability
	bare     bool
}

// trackers makes the server report every change of session state in its OK packets. COM_RESET_CONNECTION undoes
// it. Variables: all of them, since the default list lacks sql_mode and the isolation level.
const trackers = "SET SESSION session_track_system_variables='*',session_track_schema=ON,session_track_state_change=ON"

// backendConn is one connection to the database server and what is known of its session state. It belongs to the
// session whose lease it is; at rest to the pool.
type backendConn struct {
	net.Conn
	raw      syscall.RawConn // nil under TLS
	id       uint32          // the server's own connection id
	schema   string
	settings *settings
	multi    bool // COM_SET_OPTION: several statements in one text
	stmts    preparedCache
	lastID   lastID
	counts   *trafficCounts
	role     roles
	// tellsNext is set while the server also reports with what the next transaction will begin.
	tellsNext bool
	call      call
}

// trafficCounts are the bytes of all connections of one side.
type trafficCounts struct{ sent, received atomic.Uint64 }

func (b *backendConn) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	b.counts.received.Add(uint64(n))
	return n, backendError(err)
}

func (b *backendConn) Write(p []byte) (int, error) {
	n, err := b.Conn.Write(p)
	b.counts.sent.Add(uint64(n))
	return n, backendError(err)
}

// alive reports whether a connection at rest is still open and silent: one non-blocking look, no round trip. A
// server that times a connection out or shuts down leaves an end or an ERR packet to be read.
func (b *backendConn) alive() bool {
	if b.raw == nil {
		return b.exec(internalTimeout, simpleCommand(wire.ComPing)) == nil
	}
	quiet := false
	err := b.raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && quiet
}

// close says goodbye, as far as the peer still listens.
func (b *backendConn) close() {
	if b.lastID.owner != nil {
		_ = b.captureInsertID() // a dead connection can't say: its session keeps the last id that was reported
	}
	_ = b.Conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = b.Conn.Write(simpleCommand(wire.ComQuit))
	_ = b.Conn.Close()
}

// Backend dials one database server and knows what it is.
type Backend struct {
	cfg    BackendConfig
	tls    *tls.Config
	server atomic.Pointer[serverInfo]
	up     atomic.Bool
	counts trafficCounts
}

func newBackend(cfg BackendConfig) (*Backend, error) {
	tlsConfig, err := cfg.TLS.config(cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("backend.tls: %w", err)
	}
	return &Backend{cfg: cfg, tls: tlsConfig}, nil
}

// dial logs in and turns the trackers on. A refusal by the server itself is a *wire.ServerError.
func (b *Backend) dial(ctx context.Context, k kind) (*backendConn, error) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.ConnectTimeout)
	defer cancel()
	conn, err := b.login(ctx, k, b.tls)
	if errors.Is(err, errNoServerTLS) && b.cfg.TLS.Mode == "preferred" {
		conn, err = b.login(ctx, k, nil)
	}
	var refused *mysql.MyError
	switch {
	case err == nil:
		b.up.Store(true)
		return conn, nil
	case errors.As(err, &refused):
		return nil, backendError(&wire.ServerError{Code: refused.Code, State: refused.State, Message: refused.Message})
	}
	b.up.Store(false)
	return nil, backendError(fmt.Errorf("connect to %s: %w", b.cfg.Address, err))
}

var errNoTracking = errors.New("server does not track session state; MariaDB 10.2, MySQL 5.7 or later is needed")

var errNoServerTLS = errors.New("server does not offer TLS")

func (b *Backend) login(ctx context.Context, k kind, tlsConfig *tls.Config) (conn *backendConn, err error) {
	defer func() { // go-mysql indexes into the greeting without asking how long it is
		if p := recover(); p != nil {
			conn, err = nil, fmt.Errorf("%w: %v", wire.ErrMalformed, p)
		}
	}()
	var tap greetingTap
	dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		deadline, _ := ctx.Deadline()
		tap.Conn = conn
		return &tap, conn.SetDeadline(deadline)
	}
	c, err := client.ConnectWithDialer(ctx, "", b.cfg.Address, k.user, k.password, "", dialer, loginOptions(k, tlsConfig))
	greeting, greetingErr := tap.greeting()
	if err != nil {
		if tlsConfig != nil && greetingErr == nil && !greeting.Capabilities.Has(wire.SSL) {
			return nil, errNoServerTLS
		}
		return nil, err
	}
	if greetingErr == nil && !greeting.Capabilities.Has(wire.SessionTrack) {
		_ = c.Close()
		return nil, errNoTracking
	}
	conn = &backendConn{Conn: tap.Conn, id: c.GetConnectionID(), counts: &b.counts, lastID: lastID{known: true}}
	if tlsConfig != nil {
		conn.Conn = c.Conn.Conn
	} else if sc, ok := tap.Conn.(syscall.Conn); ok {
		conn.raw, err = sc.SyscallConn()
		conn.call.try = conn.tryCall
	}
	if err == nil && b.server.Load() == nil {
		var info *serverInfo
		if info, err = readServerInfo(c, greeting); err == nil {
			b.server.Store(info)
		}
	}
	if err == nil {
		err = conn.exec(internalTimeout, queryCommand(trackers))
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return conn, conn.SetDeadline(time.Time{})
}

// loginOptions are the choices at login. DeprecateEOF and query attributes stay off: the relay speaks without them.
func loginOptions(k kind, tlsConfig *tls.Config) client.Option {
	return func(c *client.Conn) error {
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
		for bit := wire.Capability(1); bit != 0; bit <<= 1 {
			if k.caps&kindCaps&bit != 0 || bit == wire.SessionTrack {
				if err := c.SetCapability(uint32(bit)); err != nil {
					return err
				}
			}
		}
		c.SetAttributes(map[string]string{"program_name": "conntag"})
		if tlsConfig != nil {
			c.SetTLSConfig(tlsConfig)
		}
		return c.SetCollation(baselineCollation)
	}
}

// greetingTap keeps the server's first packet, which go-mysql does not hand out: our own greeting repeats it.
type greetingTap struct {
	net.Conn
	seen []byte
}

func (t *greetingTap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if len(t.seen) < wire.HeaderLen || len(t.seen) < wire.HeaderLen+wire.PayloadLen(t.seen) {
		t.seen = append(t.seen, p[:n]...)
	}
	return n, err
}

func (t *greetingTap) greeting() (*wire.Greeting, error) {
	if len(t.seen) < wire.HeaderLen || len(t.seen) < wire.HeaderLen+wire.PayloadLen(t.seen) {
		return nil, wire.ErrMalformed
	}
	return wire.ParseGreeting(t.seen[wire.HeaderLen : wire.HeaderLen+wire.PayloadLen(t.seen)])
}
