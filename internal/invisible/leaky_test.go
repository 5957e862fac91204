package invisible

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wire"
)

// relay stands where conntag would and has one goroutine per client.
type relay struct {
	net.Listener
	group sync.WaitGroup
}

func (r *relay) Addr() string                  { return r.Listener.Addr().String() }
func (r *relay) Sessions() []proxy.SessionInfo { return nil }
func (r *relay) Snapshot() proxy.Snapshot      { return proxy.Snapshot{} }

func (r *relay) serve(one func(net.Conn)) {
	r.group.Go(func() {
		for {
			conn, err := r.Accept()
			if err != nil {
				return
			}
			r.group.Go(func() {
				one(conn)
				_ = conn.Close()
			})
		}
	})
}

func (r *relay) Close() error {
	err := r.Listener.Close()
	r.group.Wait()
	return err
}

func listen(serve func(*relay)) (Middle, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{Listener: l}
	serve(r)
	return r, nil
}

// plain gives every client a connection of its own and looks at nothing: nobody can tell it from a server.
func plain(addr string, _ int) (Middle, error) {
	return listen(func(r *relay) {
		r.serve(func(client net.Conn) {
			backend, err := net.Dial("tcp", addr)
			if err != nil {
				return
			}
			r.group.Go(func() {
				_, _ = io.Copy(client, backend)
				_ = client.Close()
			})
			_, _ = io.Copy(backend, client)
			_ = backend.Close()
		})
	})
}

// leaky lets all clients use one backend connection as it is.
type leaky struct {
	Middle
	mu      sync.Mutex // guards backend
	backend *client
}

func newLeaky(addr string, _ int) (Middle, error) {
	backend, _, err := dial(addr, Login{Collation: 45, Multi: true})
	if err != nil {
		return nil, err
	}
	l := &leaky{backend: backend}
	l.Middle, err = listen(func(r *relay) { r.serve(l.one) })
	return l, err
}

func (l *leaky) Close() error {
	err := l.Middle.Close()
	l.backend.close()
	return err
}

func (l *leaky) one(conn net.Conn) {
	c := &wire.Conn{Conn: conn}
	login, err := l.greet(c)
	if err != nil {
		return
	}
	if login.Schema != "" {
		l.mu.Lock()
		l.backend.do(Op{Verb: InitDB, Text: login.Schema})
		l.mu.Unlock()
	}
	ok := wire.OK{Status: wire.StatusAutocommit}
	for err = c.WritePacket(ok.AppendOK(nil)); err == nil; {
		c.Seq = 0
		var command []byte
		if command, err = c.ReadPacket(1 << 20); err == nil {
			err = l.pass(conn, command)
		}
	}
}

func (l *leaky) greet(c *wire.Conn) (*wire.Login, error) {
	g := wire.Greeting{Version: "5.5.5-10.11.0-MariaDB", Capabilities: ^(wire.SSL | wire.Compress | wire.DeprecateEOF), Plugin: mysql.AUTH_NATIVE_PASSWORD}
	if err := c.WritePacket(g.Append(nil)); err != nil {
		return nil, err
	}
	p, err := c.ReadPacket(1 << 20)
	if err != nil {
		return nil, err
	}
	return wire.ParseLogin(p, g.Capabilities)
}

// pass sends a command on and its reply back.
func (l *leaky) pass(conn net.Conn, command []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wire.Command(command[0]) == wire.ComQuit {
		return io.EOF
	}
	l.backend.seq = 0
	if err := l.backend.write(command); err != nil {
		return err
	}
	r := wire.NewReply(wire.Command(command[0]).Shape(), 1, false)
	var pending []byte
	for !r.Done() {
		n, ev := r.Next(pending)
		if _, err := conn.Write(pending[:n]); err != nil {
			return err
		}
		pending = bytes.Clone(pending[n:])
		switch ev {
		case wire.EventBad, wire.EventInfile:
			return errors.New("not for this relay")
		case wire.EventMore:
			seq := l.backend.seq
			p, err := l.backend.next()
			if err != nil {
				return err
			}
			pending, _ = wire.AppendPacket(pending, seq, p)
		}
	}
	return nil
}

// relayStage judges another relay on the servers of the shared stage.
func relayStage(open Opener) *Stage {
	return &Stage{direct: stage.direct, behind: stage.behind, open: open}
}

func everything() (names []string) {
	for _, e := range Exclusions {
		names = append(names, e.Name)
	}
	return names
}

func TestAPlainRelayCannotBeTold(t *testing.T) {
	s := relayStage(plain)
	for seed := range uint64(60) {
		g, err := NewGenerator(seed, everything()...)
		if err != nil {
			t.Fatal(err)
		}
		mode := S1
		if seed%2 == 1 {
			mode = Free
		}
		r, err := s.Play(g.Draw(mode, 30))
		if err != nil {
			t.Fatal(err)
		}
		if r.Difference != nil {
			t.Errorf("seed %d: %v", seed, r.Difference)
		}
	}
}

// plainSteps leaves out what the leaky relay can't pass on at all.
func plainSteps(c Case) Case {
	for i := range c.Logins {
		c.Logins[i].Track = false
	}
	var steps []Step
	for _, s := range c.Steps {
		if s.Op.Verb != ChangeUser && !bytes.Contains([]byte(s.Op.Text), []byte("LOAD DATA")) {
			steps = append(steps, s)
		}
	}
	c.Steps = steps
	return c
}

func TestALeakyRelayIsFoundAndShrunkToAFewSteps(t *testing.T) {
	s := relayStage(newLeaky)
	found := 0
	for seed := range uint64(10) {
		g, err := NewGenerator(seed)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Play(plainSteps(g.Draw(S1, 40)))
		if err != nil {
			t.Fatal(err)
		}
		if r.Difference == nil {
			continue
		}
		found++
		small, d, err := s.Shrink(r.Played, r.Difference)
		if err != nil {
			t.Fatal(err)
		}
		if len(small.Steps) > 6 {
			t.Errorf("seed %d: %d steps are left:\n%s%s", seed, len(small.Steps), small, d)
		}
	}
	if found < 8 {
		t.Errorf("%d of 10 sequences showed the leak, want 8 at least", found)
	}
}
