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
	raw      syscall.RawConn      // nil under TLS and compression
	socket   syscall.RawConn      // the plain socket, also under those
	zip      *wire.CompressedConn // Conn itself; nil: not compressed
	id       uint32               // the server's own connection id
	schema   string
	settings *settings
	multi    bool // COM_SET_OPTION: several statements in one text
	stmts    preparedCache
	trace         // what the last session's statements left
	soiled   bool // a text that assigns user variables was prepared here, so that they exist
	ids      *backendIDs
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

// Write sends one command, whole: each begins the numbers of compressed frames anew.
func (b *backendConn) Write(p []byte) (int, error) {
	if b.zip != nil {
		b.zip.Begin()
	}
	return b.send(p)
}

// continueCommand sends what belongs to the command before: a file's content.
func (b *backendConn) continueCommand(p []byte) error {
	_, err := b.send(p)
	return err
}

func (b *backendConn) send(p []byte) (int, error) {
	n, err := b.Conn.Write(p)
	b.counts.sent.Add(uint64(n))
	return n, backendError(err)
}

// reply starts following a reply whose first packet has the number seq.
func (b *backendConn) reply(shape wire.Shape, seq byte) wire.Reply {
	r := wire.NewReply(shape, seq, true)
	r.Renumber = b.zip != nil // in frames, packets' own numbers mean nothing
	return r
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
	_ = b.capture() // a dead connection can't say: its session makes do with what was reported
	_ = b.Conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = b.Write(simpleCommand(wire.ComQuit))
	_ = b.Conn.Close()
	b.ids.remove(b.id)
}

// Backend dials one database server and knows what it is.
type Backend struct {
	cfg    BackendConfig
	tls    *tls.Config
	server atomic.Pointer[serverInfo]
	up     atomic.Bool
	ids    backendIDs
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
		b.ids.add(conn.id)
		return conn, nil
	case errors.As(err, &refused):
		return nil, backendError(&wire.ServerError{Code: refused.Code, State: refused.State, Message: refused.Message})
	}
	b.up.Store(false)
	return nil, backendError(fmt.Errorf("connect to %s: %w", b.cfg.Address, err))
}

var errNoTracking = errors.New("server does not track session state; MariaDB 10.2, MySQL 5.7 or later is needed")

var errNoServerTLS = errors.New("server does not offer TLS")

// noCompressionError says that backend.compression asks for what the server can't do.
type noCompressionError string

func (e noCompressionError) Error() string {
	return fmt.Sprintf("server does not offer compression with %s, which backend.compression asks for", string(e))
}

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
	c, err := client.ConnectWithDialer(ctx, "", b.cfg.Address, k.user, k.password, "", dialer, loginOptions(k, tlsConfig, b.compression()))
	greeting, greetingErr := tap.greeting()
	if greetingErr == nil && !greeting.Capabilities.Has(b.compression()) {
		if c != nil {
			_ = c.Close()
		}
		return nil, noCompressionError(b.cfg.Compression)
	}
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
	conn = &backendConn{Conn: tap.Conn, id: c.GetConnectionID(), ids: &b.ids, counts: &b.counts, trace: trace{insertIDKnown: true}}
	if tlsConfig != nil {
		conn.Conn = c.Conn.Conn
	}
	if algorithm := b.compression().Compression(); algorithm != wire.NoCompression {
		conn.compress(c, algorithm)
	} else if sc, ok := tap.Conn.(syscall.Conn); ok && tlsConfig == nil {
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
	conn.socket = socketOf(tap.Conn)
	return conn, conn.SetDeadline(time.Time{})
}

// compression is the capability that backend.compression asks for; 0 for off.
func (b *Backend) compression() wire.Capability { return compressions[b.cfg.Compression] }

// compress goes on in compressed frames, c's own first queries included: it would read ahead into frames that are ours.
func (b *backendConn) compress(c *client.Conn, algorithm wire.Compression) {
	b.zip = wire.NewCompressedConn(b.Conn, algorithm, wire.DefaultZstdLevel, false)
	b.Conn = b.zip
	c.Compression = mysql.MYSQL_COMPRESS_NONE
	c.Conn.Conn = b // whose every Write is a command
}

// loginOptions are the choices at login. DeprecateEOF and query attributes stay off: the relay speaks without them.
func loginOptions(k kind, tlsConfig *tls.Config, compression wire.Capability) client.Option {
	return func(c *client.Conn) error {
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
		for bit := wire.Capability(1); bit != 0; bit <<= 1 {
			if k.caps&kindCaps&bit != 0 || bit == wire.SessionTrack || bit == compression {
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
