package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/conntag/conntag/proxy"
)

// Source is what the API shows; *proxy.Server is one.
type Source interface {
	Snapshot() proxy.Snapshot
	Sessions() []proxy.SessionInfo
	// Ready is nil when a backend answers.
	Ready(ctx context.Context) error
}

const (
	headerTimeout = 5 * time.Second  // for a request's header, so that a silent client holds nothing
	idleTimeout   = 2 * time.Minute  // longer than any usual scrape interval
	replyTimeout  = 30 * time.Second // for a whole reply; profiles are exempt
)

// Server serves the admin API. Make one with New.
type Server struct {
	cfg  Config
	http *http.Server
	log  *slog.Logger

	listener net.Listener
	served   chan struct{} // closed when the goroutine of Start has ended; nil before
}

// New wires the handlers; nothing listens yet. metrics answers /metrics.
func New(cfg Config, src Source, metrics http.Handler, log *slog.Logger) *Server {
	h := &handlers{src: src, now: time.Now}
	return &Server{
		cfg: cfg,
		log: log,
		http: &http.Server{
			Handler:           checkHost(cfg.AllowedHosts, h.routes(metrics)),
			ReadHeaderTimeout: headerTimeout,
			IdleTimeout:       idleTimeout,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		},
	}
}

// Start binds and begins to serve; it returns when requests are accepted. Call it once.
func (s *Server) Start() error {
	ln, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen for the admin API (admin.listen): %w", err)
	}
	s.listener = ln
	s.served = make(chan struct{})
	go s.serve()
	if !isLoopback(ln.Addr()) {
		s.log.Warn("the admin API has no login and is reachable from other machines", "listen", ln.Addr().String())
	}
	return nil
}

func (s *Server) serve() {
	defer close(s.served)
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		s.log.Error("the admin API stopped", "error", err)
	}
}

// Addr is where the API listens, with the real port when port 0 was asked for; nil before Start.
func (s *Server) Addr() net.Addr {
	if s.listener == nil {
		return nil
	}
	return s.listener.Addr()
}

// Close stops accepting, lets running requests end until ctx does, then cuts them, and waits for the
// serving goroutine. It may be called again, and before Start.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close() // the shutdown's own error is the one to report
	}
	if s.served != nil {
		<-s.served
	}
	if err != nil {
		return fmt.Errorf("close the admin API: %w", err)
	}
	return nil
}
