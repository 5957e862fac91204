package wiretest_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

const (
	native = "mysql_native_password"
	sha2   = "caching_sha2_password"
)

func echo(p *wiretest.Peer, command []byte) error {
	if wire.Command(command[0]) == wire.ComQuery {
		return p.Rows([]string{"a", "b"}, []string{string(command[1:]), "b"})
	}
	return p.OK()
}

func refusal(err error) uint16 {
	var e *wire.ServerError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestPeersLogInWithEachOther(t *testing.T) {
	cases := []struct {
		server, client string
		first, second  []string
	}{
		{native, native, []string{"ok"}, []string{"ok"}},
		{sha2, sha2, []string{"full", "key", "ok"}, []string{"fast", "ok"}},
		{native, sha2, []string{"switch " + native, "ok"}, []string{"switch " + native, "ok"}},
		{sha2, native, []string{"switch " + sha2, "full", "key", "ok"}, []string{"switch " + sha2, "fast", "ok"}},
	}
	for _, c := range cases {
		t.Run(c.server+"<-"+c.client, func(t *testing.T) {
			b := wiretest.Start(t, wiretest.Server{Greeting: wire.Greeting{Plugin: c.server}, Password: "secret", Reply: echo})
			for _, want := range [][]string{c.first, c.second} {
				client, err := wiretest.Dial(b.Addr())
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				if err := client.Login(wiretest.Login{User: "u", Password: "secret", Plugin: c.client}); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(client.Trace, want) {
					t.Errorf("login went %q, want %q", client.Trace, want)
				}
				if got, err := client.Query("hello"); err != nil || got != "hello" {
					t.Errorf("got %q, %v", got, err)
				}
				if err := client.ChangeUser(wiretest.Login{User: "u", Password: "secret", Plugin: c.client}); err != nil {
					t.Errorf("change of user: %v", err)
				}
			}
			client, err := wiretest.Dial(b.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if code := refusal(client.Login(wiretest.Login{User: "u", Password: "wrong", Plugin: c.client})); code != 1045 {
				t.Errorf("wrong password: code %d, want 1045", code)
			}
		})
	}
}

// The peers agree with each other; a driver that is not ours says whether they speak MySQL.
func TestADriverUnderstandsTheScriptedServer(t *testing.T) {
	for _, plugin := range []string{native, sha2} {
		t.Run(plugin, func(t *testing.T) {
			b := wiretest.Start(t, wiretest.Server{Greeting: wire.Greeting{Plugin: plugin}, Password: "secret", Reply: echo})
			c := mysql.NewConfig()
			c.User, c.Passwd, c.Net, c.Addr = "u", "secret", "tcp", b.Addr()
			db, err := sql.Open("mysql", c.FormatDSN())
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var got, second string
			if err := db.QueryRowContext(context.Background(), "SELECT 1").Scan(&got, &second); err != nil || got != "SELECT 1" || second != "b" {
				t.Errorf("got %q, %q, %v", got, second, err)
			}
		})
	}
}

func TestServerGreetsWithARefusal(t *testing.T) {
	b := wiretest.Start(t, wiretest.Server{Greet: func(p *wiretest.Peer) error { return p.Err(1040, "Too many connections") }})
	if _, err := wiretest.Dial(b.Addr()); refusal(err) != 1040 {
		t.Errorf("got %v, want 1040", err)
	}
}

// faulty returns both ends of a connection, the first of which breaks on cue.
func faulty(t *testing.T) (*wiretest.Fault, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
	return &wiretest.Fault{Conn: a}, b
}

func TestFaultCutsAfterItsBytes(t *testing.T) {
	for _, after := range []int{0, 1, 3, 6} {
		f, peer := faulty(t)
		f.Piece = 2
		f.CutAfter(after, false)
		n, err := f.Write([]byte("secret"))
		if n != after || !errors.Is(err, wiretest.ErrCut) {
			t.Errorf("cut after %d: wrote %d, %v", after, n, err)
		}
		if got, err := io.ReadAll(peer); err != nil || string(got) != "secret"[:after] {
			t.Errorf("cut after %d: peer got %q, %v", after, got, err)
		}
	}
}

func TestFaultStallsUntilReleased(t *testing.T) {
	f, peer := faulty(t)
	released := make(chan struct{})
	f.StallAfter(3, released)
	done := make(chan error, 1)
	go func() {
		_, err := f.Write([]byte("secret"))
		done <- err
	}()
	got := make([]byte, 6)
	if _, err := io.ReadFull(peer, got[:3]); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		t.Fatalf("did not stall: %v", err)
	default:
	}
	close(released)
	if _, err := io.ReadFull(peer, got[3:]); err != nil || string(got) != "secret" {
		t.Fatalf("got %q, %v", got, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
