package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/conntag/conntag/proxy"
)

// readyTimeout bounds /readyz: a backend that takes longer does not serve clients either.
const readyTimeout = 2 * time.Second

type handlers struct {
	src Source
	now func() time.Time
}

// routes is the whole URL space. Everything but the profiles has a deadline for its reply.
func (h *handlers) routes(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", index)
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", h.healthz)
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.HandleFunc("GET /api/v1/callers", h.callers)
	mux.HandleFunc("GET /api/v1/pools", h.pools)
	mux.HandleFunc("GET /api/v1/sessions", h.sessions)
	mux.HandleFunc("/", notFound)

	outer := http.NewServeMux()
	outer.HandleFunc("GET /debug/pprof/", pprof.Index)
	outer.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	outer.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	outer.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	outer.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	outer.Handle("/", withDeadline(mux))
	return outer
}

// withDeadline keeps a client that does not read from holding a reply for ever. It is not the server's
// WriteTimeout, since a profile takes as long as it is asked to.
func withDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Unsupported only by writers that are not a real connection.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(replyTimeout))
		next.ServeHTTP(w, r)
	})
}

func (h *handlers) healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, Status{Status: "ok"})
}

func (h *handlers) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := h.src.Ready(ctx); err != nil {
		writeError(w, http.StatusServiceUnavailable, "not ready: "+err.Error(),
			"check backend.address and that the database runs; GET /api/v1/pools shows its pool")
		return
	}
	writeJSON(w, http.StatusOK, Status{Status: "ready"})
}

func (h *handlers) callers(w http.ResponseWriter, r *http.Request) {
	if s, ok := h.snapshot(w, r); ok {
		writeJSON(w, http.StatusOK, callersReply(h.now(), s))
	}
}

func (h *handlers) pools(w http.ResponseWriter, r *http.Request) {
	if s, ok := h.snapshot(w, r); ok {
		writeJSON(w, http.StatusOK, poolsReply(h.now(), s))
	}
}

func (h *handlers) sessions(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, sessionsReply(h.now(), h.src.Sessions()))
}

// snapshot is cut to ?pool=NAME when that is given; an unknown pool has been answered when ok is false.
func (h *handlers) snapshot(w http.ResponseWriter, r *http.Request) (s proxy.Snapshot, ok bool) {
	s = h.src.Snapshot()
	name := r.URL.Query().Get("pool")
	if name == "" {
		return s, true
	}
	for _, p := range s.Pools {
		if p.Name == name {
			s.Pools = []proxy.PoolSnapshot{p}
			return s, true
		}
	}
	writeError(w, http.StatusNotFound, "no pool has that name", "GET /api/v1/pools lists the pools")
	return s, false
}

func notFound(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		writeError(w, http.StatusMethodNotAllowed, "this API only reads", "use GET")
		return
	}
	writeError(w, http.StatusNotFound, "there is nothing at this path", "GET / lists what there is")
}

func writeError(w http.ResponseWriter, code int, what, todo string) {
	writeJSON(w, code, Error{Error: what, Do: todo})
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // only a client that left can make it fail: all our types encode
}
