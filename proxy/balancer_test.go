package proxy_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wiretest"
)

// balanced dials the proxy as a load balancer does: its header is there before anybody has greeted.
func balanced(t testing.TB, h *house, header string) *wiretest.Client {
	t.Helper()
	conn, err := net.Dial("tcp", h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(header)); err != nil {
		t.Fatal(err)
	}
	c, err := wiretest.NewClient(conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// directLogin is a login that works with and without the proxy.
func directLogin() wiretest.Login {
	return wiretest.Login{User: mariadbtest.User, Password: mariadbtest.Password}
}

const (
	headerV1    = "PROXY TCP4 203.0.113.7 10.0.0.1 4711 3306\r\n"
	headerV2    = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0f\xcb\x00\x71\x07\x0a\x00\x00\x01\x12\x67\x0c\xea\x04\x00\x00"
	headerLocal = "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
)

func TestBalancersSayWhereTheirClientsAre(t *testing.T) {
	cert := newCertificate(t)
	for _, networks := range [][]string{nil, {"127.0.0.0/8"}, {"10.0.0.0/8"}} {
		h := newHouse(t, 1, func(o *options) {
			o.Config.TLS = proxy.ClientTLS{Mode: "preferred", CertFile: cert.certFile, KeyFile: cert.keyFile}
			o.Config.ProxyProtocol = networks
			o.Users = append(o.Users, o.Users[0])
			o.Users[1].Name, o.Users[1].BackendUser, o.Users[1].BackendPassword = "remote", o.Users[0].Name, o.Users[0].Password
			o.Users[1].Networks = []string{"203.0.113.0/24"}
		})
		believed := len(networks) == 1 && networks[0] == "127.0.0.0/8"
		for _, secure := range []bool{false, true} {
			for _, header := range []string{"", headerV1, headerV2, headerLocal, "PROXY UNKNOWN\r\n"} {
				login := wiretest.Login{User: "remote", Password: mariadbtest.Password}
				if secure {
					login.TLS = cert.client
				}
				remote := header == headerV1 || header == headerV2
				err := balanced(t, h, header).Login(login)
				switch {
				case header != "" && !believed:
					if err == nil { // how it ends is a race between our refusal and the client's login
						t.Errorf("networks %v: header %q is taken", networks, header)
					}
					continue
				case remote != (err == nil) || !remote && refusal(err) != 1045:
					t.Errorf("networks %v, header %q: user remote got %v", networks, header, err)
				case !remote && !strings.Contains(err.Error(), "'remote'@'127.0.0.1'"):
					t.Errorf("networks %v, header %q: %v does not name the client's own address", networks, header, err)
				}
				err = balanced(t, h, header).Login(wiretest.Login{User: "remote", Password: "wrong"})
				if remote && !strings.Contains(err.Error(), "'remote'@'203.0.113.7'") {
					t.Errorf("header %q: %v does not name the client's address", header, err)
				}
				expectClientFrom(t, h, header, remote)
			}
		}
	}
}

// expectClientFrom logs in over a balancer's connection and looks where the session is shown to come from.
func expectClientFrom(t testing.TB, h *house, header string, remote bool) {
	t.Helper()
	c := balanced(t, h, header)
	want := c.LocalAddr().String()
	if remote {
		want = "203.0.113.7:4711"
	}
	if err := c.Login(directLogin()); err != nil {
		t.Fatal(err)
	}
	if got := queryRaw(t, c, "SELECT 7"); got != "7" {
		t.Errorf("got %q", got)
	}
	for _, s := range h.Sessions() {
		if s.User != mariadbtest.User {
			continue
		}
		if _, err := netip.ParseAddrPort(s.Client); err != nil || s.Client != want {
			t.Errorf("header %q: session from %q, want %q", header, s.Client, want)
		}
	}
	_ = c.Close()
	eventually(t, "it is gone", func() bool {
		for _, s := range h.Sessions() {
			if s.User == mariadbtest.User {
				return false
			}
		}
		return true
	})
}

func TestHeadersOfBalancersThatMakeNoSenseAreRefused(t *testing.T) {
	h := newHouse(t, 1, func(o *options) { o.Config.ProxyProtocol = []string{"127.0.0.1/32"} })
	for _, header := range []string{"PROXY TCP4 1.2.3.4\r\n", headerV1 + headerV1, headerV2 + headerV1, "PROXY " + strings.Repeat("x", 200),
		"\r\n\r\n\x00\r\nQUIT\n\x31\x11\x00\x00"} {
		if err := balanced(t, h, header).Login(directLogin()); err == nil {
			t.Errorf("%q is taken", header)
		}
	}
	eventually(t, "all are counted", func() bool { return h.Snapshot().Connects == proxy.ConnectCounts{Protocol: 5} })
	// A health check says that it is one, and leaves.
	_ = balanced(t, h, headerLocal).Close()
	eventually(t, "all are gone", func() bool { return h.Snapshot().ClientConnections == 0 })
	if err := balanced(t, h, "").Login(directLogin()); err != nil {
		t.Errorf("a client without a balancer: %v", err)
	}
}
