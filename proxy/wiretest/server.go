package wiretest

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conntag/conntag/proxy/wire"
)

// Server is the script of a backend. Its functions run on one goroutine a connection.
type Server struct {
	// Greeting is what clients are greeted with. Salt and connection id are chosen per connection; a zero Version,
	// Capabilities, Plugin or Status is a MySQL 8's.
	Greeting wire.Greeting
	// Greet writes something else than a greeting when it is set.
	Greet    func(*Peer) error
	Password string
	// Auth does the login when it is set; else [Peer.Authenticate] does.
	Auth func(*Peer, *wire.Login) error
	// Reply answers one command, whose first byte is the command's. An error ends the connection. COM_QUIT never
	// gets here.
	Reply func(p *Peer, command []byte) error
	// Wrap lets connections break on cue.
	Wrap func(net.Conn) net.Conn
}

// Peer is the server's end of one connection. Its Login is set once it is known.
type Peer struct {
	wire.Conn
	ID     uint32
	Salt   [wire.SaltLen]byte
	Login  *wire.Login
	server *Backend
}

// Backend is a running Server.
type Backend struct {
	script   Server
	listener net.Listener
	lastID   atomic.Uint32
	wg       sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	sha2   sha2State
}

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}

// mysql8 are the capabilities of a MySQL 8 without TLS and compression.
const mysql8 = ^wire.Capability(0) &^ (wire.SSL | wire.Compress | wire.ZstdCompression)

// Start runs the script on a loopback port until the test ends.
func Start(t TB, s Server) *Backend {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &Backend{script: s, listener: l, conns: map[net.Conn]struct{}{}}
	g := &b.script.Greeting
	if g.Version == "" {
		g.Version = "8.4.3"
	}
	if g.Capabilities == 0 {
		g.Capabilities = mysql8
	}
	if g.Plugin == "" {
		g.Plugin = "caching_sha2_password"
	}
	if g.Status == 0 {
		g.Status = wire.StatusAutocommit
	}
	b.wg.Go(b.accept)
	t.Cleanup(b.Close)
	return b
}

// Addr is where the backend listens.
func (b *Backend) Addr() string { return b.listener.Addr().String() }

// Connections is how many were accepted so far.
func (b *Backend) Connections() int { return int(b.lastID.Load()) }

// Close cuts all connections and waits until their goroutines have ended. A second Close does nothing.
func (b *Backend) Close() {
	b.mu.Lock()
	b.closed = true
	_ = b.listener.Close()
	for conn := range b.conns {
		_ = conn.Close()
	}
	b.mu.Unlock()
	b.wg.Wait()
}

func (b *Backend) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		if !b.keep(conn) {
			_ = conn.Close()
			return
		}
		b.wg.Go(func() {
			defer b.drop(conn)
			_ = b.serve(conn) // the peer sees how it ended
		})
	}
}

func (b *Backend) keep(conn net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.conns[conn] = struct{}{}
	return true
}

func (b *Backend) drop(conn net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, conn)
	_ = conn.Close()
}

var errQuit = errors.New("client quit")

func (b *Backend) serve(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if b.script.Wrap != nil {
		conn = b.script.Wrap(conn)
	}
	p := &Peer{Conn: wire.Conn{Conn: conn}, ID: b.lastID.Add(1), server: b}
	if err := p.login(); err != nil {
		return err
	}
	if p.Login != nil {
		if algorithm := p.Login.Capabilities.Compression(); algorithm != wire.NoCompression {
			p.Conn.Conn = wire.NewCompressedConn(conn, algorithm, p.Login.ZstdLevel, true)
		}
	}
	for {
		p.Begin()
		command, err := p.ReadPacket(maxPacket)
		if err != nil {
			return err
		}
		if len(command) > 0 && wire.Command(command[0]) == wire.ComQuit {
			return errQuit
		}
		if err := b.script.Reply(p, command); err != nil {
			return err
		}
	}
}
