package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/conntag/conntag/proxy"
)

// cutter is a relay to the server that cuts a connection when a marked command passes.
type cutter struct {
	net.Listener
	to    string
	mark  []byte
	after bool // when the server has answered, else as soon as the command is sent
	cuts  int
	mu    sync.Mutex
	work  sync.WaitGroup
}

func newCutter(t testing.TB, to, mark string, after bool) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, to: to, mark: []byte(mark), after: after}
	c.work.Go(c.accept)
	return c
}

func (c *cutter) accept() {
	for {
		conn, err := c.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.to)
		if err != nil {
			_ = conn.Close()
			continue
		}
		marked := make(chan struct{})
		c.work.Go(func() { c.forward(conn, server, marked) })
		c.work.Go(func() { c.back(conn, server, marked) })
	}
}

func (c *cutter) forward(conn, server net.Conn, marked chan struct{}) {
	defer conn.Close()
	defer server.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		hit := bytes.Contains(buf[:n], c.mark)
		if hit {
			c.mu.Lock()
			c.cuts++
			c.mu.Unlock()
			close(marked)
		}
		if _, err := server.Write(buf[:n]); err != nil || hit && !c.after {
			return
		}
	}
}

// back passes replies on, but not the one to the marked command.
func (c *cutter) back(conn, server net.Conn, marked chan struct{}) {
	defer conn.Close()
	defer server.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-marked:
			return
		default:
		}
		if _, err := conn.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A command that may have run is never sent again, and never called a success: its outcome is not known.
func TestCommandWhoseBackendIsLostIsNeverRepeatedNorCalledASuccess(t *testing.T) {
	for name, run := range map[string]func(c execer, t testing.TB) error{
		"COMMIT": func(c execer, t testing.TB) error {
			exec(t, c, "BEGIN")
			exec(t, c, "INSERT INTO t VALUES (1)")
			_, err := c.ExecContext(context.Background(), "COMMIT /* here */")
			return err
		},
		"one statement": func(c execer, t testing.TB) error {
			_, err := c.ExecContext(context.Background(), "INSERT INTO t VALUES (1) /* here */")
			return err
		},
		"prepared": func(c execer, t testing.TB) error {
			_, err := c.ExecContext(context.Background(), "INSERT INTO t VALUES (?)", []byte("77777"))
			return err
		},
		"implicit COMMIT": func(c execer, t testing.TB) error {
			exec(t, c, "SET autocommit=0")
			exec(t, c, "INSERT INTO t VALUES (1)")
			_, err := c.ExecContext(context.Background(), "SET autocommit=1 /* here */")
			return err
		},
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, answered %v", name, after), func(t *testing.T) {
				mark := "/* here */"
				if name == "prepared" {
					mark = "77777"
				}
				relay := newCutter(t, server.Addr(), mark, after)
				h := newHouse(t, 2, func(o *options) {
					o.Backend = proxy.BackendConfig{Name: "main", Address: relay.Addr().String(), ConnectTimeout: o.Backend.ConnectTimeout}
				})
				t.Cleanup(func() { relay.work.Wait() })
				t.Cleanup(func() { _ = relay.Close() })
				direct := open(t, server.DSN(h.schema))
				exec(t, direct, "CREATE TABLE t (v INT)")
				c := h.client(t)
				err := run(c, t)
				if err == nil {
					t.Error("a success that nobody reported")
				}
				if code := errorCode(err); code != 0 && code != 1158 && code != 1053 {
					t.Errorf("got %v", err)
				}
				expectAtRest(t, h)
				eventually(t, "the server is done with it", func() bool {
					return h.running(t, direct, "%T INTO t%") == "0" && h.running(t, direct, "%COMMIT%") == "0"
				})
				rows := value(t, direct, "SELECT COUNT(*) FROM t")
				if rows != "1" && (after || rows != "0") {
					t.Errorf("%s rows", rows)
				}
				relay.mu.Lock()
				defer relay.mu.Unlock()
				if relay.cuts != 1 {
					t.Errorf("the command was sent %d times", relay.cuts)
				}
			})
		}
	}
}
