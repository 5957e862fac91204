package demo

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	stopGrace    = 5 * time.Second        // for visits under way at the end, then they are cut
	startSpread  = time.Second            // logins and first visits are not all at once
	afterAnError = 100 * time.Millisecond // a client that fails does not spin
)

// workload is the clients that run. Each caller has a database/sql pool of its own, as an application has, and a client
// connection for each of its clients: none of them waits before it reaches the proxy.
type workload struct {
	dbs    []*sql.DB
	ctx    context.Context // ends when visits are cut
	cut    context.CancelFunc
	ending chan struct{} // closed when no visit may begin any more
	done   sync.WaitGroup

	mu     sync.Mutex // guards what follows
	failed int
	first  error
}

// startWorkload starts clients through the proxy at dsn. Stop ends them.
func startWorkload(dsn *mysql.Config, clients int) (*workload, error) {
	w := &workload{ending: make(chan struct{})}
	w.ctx, w.cut = context.WithCancel(context.Background())
	number := 0
	for i, n := range shareOut(clients) {
		db, err := openDB(dsn, n)
		if err != nil {
			w.stop()
			return nil, err
		}
		w.dbs = append(w.dbs, db)
		reserver, err := newReserver(db)
		if err != nil {
			w.stop()
			return nil, err
		}
		for range n {
			number++
			c := &client{db: db, number: number, reserver: reserver}
			w.done.Go(func() { w.run(c, &callers[i]) })
		}
	}
	return w, nil
}

func openDB(dsn *mysql.Config, conns int) (*sql.DB, error) {
	connector, err := mysql.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// shareOut gives each caller one client, then each further client to the caller that is furthest below its weight.
func shareOut(clients int) []int {
	n := make([]int, len(callers))
	for i := range n {
		n[i] = 1
	}
	for range clients - len(callers) {
		next := 0
		for i, k := range callers {
			if (2*n[i]+1)*callers[next].weight < (2*n[next]+1)*k.weight { // Webster's method
				next = i
			}
		}
		n[next]++
	}
	return n
}

func (w *workload) run(c *client, k *caller) {
	for think := rand.N(startSpread); w.think(think); think = k.think/2 + rand.N(k.think) {
		if err := k.visit(c, w.ctx); err != nil && w.ctx.Err() == nil {
			w.fail(fmt.Errorf("%s: %w", k.name, err))
			w.think(afterAnError)
		}
	}
}

// think waits for d. It is false when no further visit may begin.
func (w *workload) think(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.ending:
		return false
	}
}

// stop lets visits end, cuts those that take too long, and closes the client connections. The callers' statements are then
// all charged.
func (w *workload) stop() {
	close(w.ending)
	timer := time.AfterFunc(stopGrace, w.cut)
	w.done.Wait()
	timer.Stop()
	w.cut()
	for _, db := range w.dbs {
		_ = db.Close() // nothing is left to be lost
	}
}

func (w *workload) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	if w.first == nil {
		w.first = err
	}
}

// failures is how many visits failed, and the first that did.
func (w *workload) failures() (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed, w.first
}

// pause waits for d, or returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
