package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy/wire"
)

// Options is what a Server is made of.
type Options struct {
	Config      Config
	Users       []User
	Backend     BackendConfig
	Pool        pool.Config
	Attribution attribution.Config
	Log         *slog.Logger // nil: slog.Default
}

// Server accepts clients and runs their sessions over one pool of backend connections.
type Server struct {
	cfg         Config
	log         *slog.Logger
	tls         *tls.Config
	balancers   networks // whose PROXY headers are believed
	keys        loginKeys
	users       map[string]*credential
	first       *credential // the backend is looked at with the first user's login
	backend     *Backend
	pool        *backendPool
	ledger      *attribution.Ledger
	keysFor     []string // which tags name the caller
	waitTimeout time.Duration
	poolSize    int
	schemas     schemaCache

	ctx      context.Context // ends when sessions must
	cancel   context.CancelFunc
	listener net.Listener
	sessions sessionTable
	hangups  hangupWatch
	sweep    sweep
	probe    probe
	draining atomic.Bool
	closing  sync.Once
	connects connectCounters
	clients  trafficCounts
	panics   atomic.Uint64
	started  time.Time
}

type connectCounters struct{ ok, auth, tls, limit, protocol atomic.Uint64 }

// New builds a server; it opens nothing yet.
func New(o Options) (*Server, error) {
	s := &Server{cfg: o.Config, log: o.Log, users: map[string]*credential{}, started: time.Now()}
	if s.log == nil {
		s.log = slog.Default()
	}
	var err error
	if s.tls, err = o.Config.TLS.config(); err != nil {
		return nil, fmt.Errorf("proxy.tls: %w", err)
	}
	if s.balancers, err = parseNetworks(o.Config.ProxyProtocol); err != nil {
		return nil, fmt.Errorf("proxy.proxy_protocol: %w", err)
	}
	if s.backend, err = newBackend(o.Backend); err != nil {
		return nil, err
	}
	for _, u := range o.Users {
		cred, err := newCredential(u)
		if err != nil {
			return nil, fmt.Errorf("users: %s: %w", u.Name, err)
		}
		s.users[u.Name] = cred
		if s.first == nil {
			s.first = cred
		}
	}
	if s.first == nil {
		return nil, errors.New("users: at least one is needed; clients have nobody to log in as")
	}
	s.ledger = attribution.NewLedger(o.Attribution)
	s.keysFor = o.Attribution.Keys
	s.waitTimeout, s.poolSize = o.Pool.WaitTimeout, o.Pool.Size
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.sessions.byID = map[uint32]*Session{}
	s.hangups.start()
	s.sweep.start(s)
	s.pool = pool.New(o.Backend.Name, o.Pool, pool.Hooks[kind, *backendConn]{
		Dial:  s.dial,
		Close: (*backendConn).close,
		Alive: (*backendConn).alive,
		Now:   s.now,
	})
	return s, nil
}

// dial opens a backend connection for the pool.
func (s *Server) dial(ctx context.Context, k kind) (*backendConn, error) {
	b, err := s.backend.dial(ctx, k)
	if err != nil {
		s.log.Warn("backend dial", "address", s.backend.cfg.Address, "error", err)
		return nil, err
	}
	b.settings = s.freshSettings()
	b.stmts.limit = preparedPerBackend(s.backend.server.Load().maxPrepared, s.poolSize)
	return b, nil
}

func (s *Server) now() time.Duration { return time.Since(s.started) }

// Listen binds the client port.
func (s *Server) Listen() error {
	lc := listenConfig(s.cfg.Keepalive)
	l, err := lc.Listen(s.ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen for clients: %w", err)
	}
	s.listener = l
	return nil
}

// Addr is where clients connect to; valid after Listen.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve accepts clients until Shutdown; then it returns nil.
func (s *Server) Serve() error {
	for pause := time.Duration(0); ; {
		conn, err := s.listener.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(conn)
		case s.draining.Load() || errors.Is(err, net.ErrClosed):
			return nil
		default: // out of descriptors, most likely: existing sessions go on, and some will end
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.log.Error("accept", "error", err, "retry_in", pause)
			time.Sleep(pause)
		}
	}
}

// start runs a session on its own goroutine, which Shutdown awaits.
func (s *Server) start(conn net.Conn) {
	session := &Session{srv: s, client: newClientConn(conn, &s.clients), log: s.log, residue: newResidue()}
	session.view.since = time.Now()
	session.meter.Init(s.ledger, nil)
	if !s.sessions.add(session) {
		_ = conn.Close()
		return
	}
	go func() {
		defer s.sessions.remove(session)
		session.run()
	}()
}

// Shutdown drains: no new clients, sessions end at their next safe point; when ctx ends the rest is cut off. It
// returns ctx's error if that was needed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	if s.listener != nil {
		_ = s.listener.Close()
	}
	done := s.sessions.drain()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
		s.cancel()
		s.sessions.cut()
		err = errors.Join(err, s.pool.Close(context.WithoutCancel(ctx))) // who waits for a connection is told now
		<-done
	}
	s.cancel()
	err = errors.Join(err, s.pool.Close(context.WithoutCancel(ctx)))
	s.closing.Do(func() {
		s.hangups.close()
		s.sweep.close()
	})
	return err
}

func (s *Server) full() bool { return s.sessions.count() > s.cfg.MaxClientConnections }

// admit takes a place in the user's limit.
func (s *Server) admit(c *credential) *wire.ServerError {
	if n := c.open.Add(1); c.cfg.MaxConnections > 0 && n > int64(c.cfg.MaxConnections) {
		c.open.Add(-1)
		return &wire.ServerError{Code: mysql.ER_TOO_MANY_USER_CONNECTIONS, State: "42000",
			Message: fmt.Sprintf("User %s already has more than 'max_user_connections' active connections", c.cfg.Name)}
	}
	return nil
}

// serverInfo is what the backend is; it is asked once, by whoever needs it first.
func (s *Server) serverInfo() (*serverInfo, error) {
	if info := s.backend.server.Load(); info != nil {
		return info, nil
	}
	s.probe.mu.Lock()
	defer s.probe.mu.Unlock()
	if info := s.backend.server.Load(); info != nil {
		return info, nil
	}
	if time.Since(s.probe.failed) < time.Second { // who waited for this lock meanwhile need not try by themselves
		return nil, s.probe.err
	}
	b, err := s.dial(s.ctx, s.first.kind(0))
	if err != nil {
		s.probe.failed, s.probe.err = time.Now(), err
		return nil, err
	}
	b.close()
	return s.backend.server.Load(), nil
}

// probe is the first look at the backend: one at a time.
type probe struct {
	mu     sync.Mutex
	failed time.Time
	err    error
}

// Ready reports whether a backend answers.
func (s *Server) Ready(ctx context.Context) error {
	b, err := s.backend.dial(ctx, s.first.kind(0))
	if err != nil {
		return err
	}
	b.close()
	return nil
}

func (s *Server) maxPacket() int { return s.backend.server.Load().maxPacket }

func (s *Server) freshSettings() *settings { return s.backend.server.Load().fresh }

func (s *Server) modeOf(set *settings) sqlscan.Mode {
	if v, ok := set.get("sql_mode"); ok {
		return modeOf(v)
	}
	return modeOf(s.backend.server.Load().sqlMode)
}

// tagged is the account of the caller that the comments name; nil when none does.
func (s *Server) tagged(sql []byte, comments []sqlscan.Span) *attribution.Account {
	var scratch, clean [128]byte // on the stack: names are capped well below
	raw, ok := attribution.FindCaller(sql, comments, s.keysFor, scratch[:0])
	if !ok {
		return nil
	}
	name := attribution.CleanName(raw, clean[:0])
	if len(name) == 0 {
		return nil
	}
	return s.ledger.Account(name)
}

// fallback is who pays for a session's untagged statements: what the client calls itself, else its user.
func (s *Server) fallback(user string, attrs []wire.Attr) *attribution.Account {
	for _, key := range []string{"conn_tag", "program_name"} {
		for _, a := range attrs {
			if a.Name != key {
				continue
			}
			if name := attribution.CleanName([]byte(a.Value), nil); len(name) > 0 {
				return s.ledger.Account(name)
			}
		}
	}
	return s.ledger.Account(attribution.CleanName([]byte("user:"+user), nil))
}
