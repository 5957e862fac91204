package proxy_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// expectQuiet says that bad input left nothing behind: no session, no lease, no panic; and that others are served.
func expectQuiet(t testing.TB, h *house) {
	t.Helper()
	eventually(t, "all sessions ended", func() bool { return h.Snapshot().ClientConnections == 0 })
	s := h.Snapshot()
	if s.Panics != 0 || s.Pools[0].Stat.InUse != 0 || s.Pools[0].Stat.Waiting != 0 {
		t.Errorf("%d panics, %d leases, %d waiters", s.Panics, s.Pools[0].Stat.InUse, s.Pools[0].Stat.Waiting)
	}
	c := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
	if got := queryRaw(t, c, "SELECT 'well'"); got != "well" {
		t.Errorf("the next client got %q", got)
	}
}

// ending is how a connection ended: the code of an ERR packet, if one came, and then an end or a reset.
func ending(t testing.TB, c *wiretest.Client) (code uint16) {
	t.Helper()
	for {
		if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		var header [wire.HeaderLen]byte
		if _, err := io.ReadFull(c.Conn.Conn, header[:]); err != nil {
			if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
				t.Error("the connection was left open")
			}
			return code
		}
		p := make([]byte, wire.PayloadLen(header[:]))
		if _, err := io.ReadFull(c.Conn.Conn, p); err != nil {
			t.Errorf("half a packet came back: %v", err)
			return code
		}
		if len(p) > 0 && p[0] == wire.ErrHeader {
			code = wire.ErrCode(p)
		}
	}
}

func TestGarbageInsteadOfALoginIsRefused(t *testing.T) {
	h := loginHouse(t, loginUsers())
	login := wire.Login{Capabilities: wiretest.PlainCapabilities, User: "native-plain", Plugin: nativePlugin}
	old := wire.Login{Capabilities: wire.LongPassword, User: "native-plain"}
	sequence := func(seq byte, p []byte) []byte {
		framed, _ := wire.AppendPacket(nil, seq, p)
		return framed
	}
	cases := map[string]struct {
		text []byte
		code uint16 // 0: any, or none when the connection is reset before it is read
	}{
		"HTTP":              {[]byte("GET / HTTP/1.1\r\nHost: db\r\n\r\n"), 0},
		"TLS at once":       {[]byte("\x16\x03\x01\x00\xf4\x01\x00\x00\xf0\x03\x03"), 0},
		"SSH":               {[]byte("SSH-2.0-OpenSSH_9.2\r\n"), 0},
		"zeros":             {make([]byte, 4096), 0},
		"empty packet":      {sequence(1, nil), 1043},
		"one byte":          {sequence(1, []byte{0x8d}), 1043},
		"no user":           {sequence(1, login.Append(nil)[:32]), 1043},
		"endless user":      {sequence(1, append(login.Append(nil)[:32], strings.Repeat("u", 4000)...)), 1043},
		"lying response":    {sequence(1, append(login.Append(nil)[:32], "u\x00\xffshort"...)), 1043},
		"before 4.1":        {sequence(1, old.Append(nil)), 1043},
		"number 0":          {sequence(0, login.Append(nil)), 1043},
		"number 2":          {sequence(2, login.Append(nil)), 1043},
		"too long":          {[]byte{0, 0, 2, 1}, 1043},
		"16 MiB, continued": {[]byte{0xff, 0xff, 0xff, 1}, 1043},
		"TLS, not offered":  {sequence(1, login.AppendSSLRequest(nil)), 1043},
	}
	for name, c := range cases {
		client := h.raw(t)
		if _, err := client.Write(c.text); err != nil {
			t.Fatal(err)
		}
		if code := ending(t, client); code != c.code && c.code != 0 {
			t.Errorf("%s: code %d, want %d", name, code, c.code)
		}
	}
	eventually(t, "all are counted", func() bool {
		return h.Snapshot().Connects == proxy.ConnectCounts{Protocol: uint64(len(cases))}
	})
	expectQuiet(t, h)
}

// cutEverywhere runs act again and again on connections that break after 0, 1, 2, … bytes, until act is done first.
// It returns how many bytes act sends.
func cutEverywhere(t *testing.T, h *house, start func(*wiretest.Client) error, act func(*wiretest.Client) error) int {
	t.Helper()
	for n := 0; ; n++ {
		conn, err := net.Dial("tcp", h.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fault := &wiretest.Fault{Conn: conn, Piece: 1 + n%7}
		c, err := wiretest.NewClient(fault)
		if err != nil {
			t.Fatal(err)
		}
		if err := start(c); err != nil {
			t.Fatal(err)
		}
		fault.CutAfter(n, n%2 == 0)
		err = act(c)
		_ = c.Close()
		switch {
		case err == nil:
			return n
		case !errors.Is(err, wiretest.ErrCut) && !errors.Is(err, net.ErrClosed):
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestConnectionMayBreakAtEveryByteOfALogin(t *testing.T) {
	cert := newCertificate(t)
	h := loginHouse(t, loginUsers(), func(o *options) {
		o.Config.TLS = proxy.ClientTLS{Mode: "preferred", CertFile: cert.certFile, KeyFile: cert.keyFile}
	})
	for name, login := range map[string]wiretest.Login{
		"native":   {User: "native-plain", Plugin: nativePlugin, Schema: "mysql", Attrs: []wire.Attr{{Name: "program_name", Value: "cut"}}},
		"switched": {User: "native-hash", Plugin: sha2Plugin},
		"whole":    {User: "sha2-hash", Plugin: sha2Plugin},
	} {
		t.Run(name, func(t *testing.T) {
			login.Password = loginSecret
			sent := cutEverywhere(t, h, func(*wiretest.Client) error { return nil }, func(c *wiretest.Client) error { return c.Login(login) })
			if sent < 60 {
				t.Errorf("a login of %d bytes", sent)
			}
			expectQuiet(t, h)
		})
	}
	t.Run("TLS", func(t *testing.T) {
		login := wiretest.Login{User: "native-plain", Password: loginSecret, TLS: cert.client}
		for n := 0; n < 700; n += 13 {
			conn, err := net.Dial("tcp", h.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			fault := &wiretest.Fault{Conn: conn}
			c, err := wiretest.NewClient(fault)
			if err != nil {
				t.Fatal(err)
			}
			fault.CutAfter(n, n%2 == 0)
			_ = c.Login(login) // the cut shows as one of TLS's own errors
			_ = c.Close()
		}
		expectQuiet(t, h)
	})
}

func TestConnectionMayBreakAtEveryByteOfACommand(t *testing.T) {
	h := loginHouse(t, loginUsers())
	direct := open(t, server.DSN(""))
	exec(t, direct, "CREATE DATABASE IF NOT EXISTS cuts")
	exec(t, direct, "CREATE TABLE cuts.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB")
	t.Cleanup(func() { exec(t, direct, "DROP DATABASE cuts") })
	const insert = "INSERT INTO cuts.t(v) VALUES (1)"
	for name, begin := range map[string]string{"at rest": "DO 1", "in a transaction": "BEGIN", "pinned": "CREATE TEMPORARY TABLE cuts.x (id INT)"} {
		t.Run(name, func(t *testing.T) {
			sent := cutEverywhere(t, h, func(c *wiretest.Client) error {
				if err := c.Login(wiretest.Login{User: "native-plain", Password: loginSecret}); err != nil {
					return err
				}
				_, err := c.Query(begin)
				return err
			}, func(c *wiretest.Client) error {
				_, err := c.Query(insert)
				return err
			})
			if want := wire.HeaderLen + 1 + len(insert) + 1; sent != want { // one more is never reached
				t.Errorf("done after %d bytes, want %d", sent, want)
			}
			expectQuiet(t, h)
		})
	}
}

func TestHandshakeTimeoutEndsSlowClients(t *testing.T) {
	cert := newCertificate(t)
	h := loginHouse(t, loginUsers(), func(o *options) {
		o.Config.HandshakeTimeout = 150 * time.Millisecond
		o.Config.TLS = proxy.ClientTLS{Mode: "preferred", CertFile: cert.certFile, KeyFile: cert.keyFile}
	})
	login := wire.Login{Capabilities: wiretest.PlainCapabilities, User: "sha2-hash", Plugin: sha2Plugin, AuthResponse: make([]byte, 32)}
	var framed, half []byte
	framed, _ = wire.AppendPacket(nil, 1, login.Append(nil))
	half = framed[:len(framed)/2]
	ssl, _ := wire.AppendPacket(nil, 1, login.AppendSSLRequest(nil))
	for name, text := range map[string][]byte{
		"silent":                   nil,
		"half a header":            half[:2],
		"half a login":             half,
		"silent in TLS":            ssl,
		"silent before the secret": framed,
	} {
		c := h.raw(t)
		if _, err := c.Write(text); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ending(t, c)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: ended after %s", name, took)
		}
	}
	// Byte by byte does not help: the time is for the whole login.
	c := h.raw(t)
	drip := make(chan struct{})
	go func() {
		defer close(drip)
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for _, b := range framed {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			<-pace.C
		}
	}()
	ending(t, c)
	_ = c.Close()
	<-drip
	expectQuiet(t, h)
	// Who is in has all the time of the world; who came later and says nothing has not.
	patient := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
	ending(t, h.raw(t))
	queryRaw(t, patient, "DO 1")
}

func TestUnknownCommandsAreAnsweredAndTheConnectionLives(t *testing.T) {
	h := loginHouse(t, loginUsers())
	c := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
	known := map[wire.Command]bool{wire.ComQuit: true}
	for _, k := range []wire.Command{wire.ComInitDB, wire.ComQuery, wire.ComFieldList, wire.ComCreateDB, wire.ComDropDB, wire.ComRefresh,
		wire.ComStatistics, wire.ComProcessInfo, wire.ComProcessKill, wire.ComDebug, wire.ComPing, wire.ComChangeUser, wire.ComStmtPrepare,
		wire.ComStmtExecute, wire.ComStmtSendLongData, wire.ComStmtClose, wire.ComStmtReset, wire.ComSetOption, wire.ComStmtFetch, wire.ComResetConnection} {
		known[k] = true
	}
	for code := range 256 {
		if command := wire.Command(code); !known[command] {
			if err := c.Send(command, "whatever"); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Reply(wire.ShapeOK); refusal(err) != 1047 {
				t.Fatalf("command %#x: got %v, want 1047", code, err)
			}
		}
	}
	queryRaw(t, c, "DO 1")
	_ = c.Close()
	expectQuiet(t, h)
}

func TestShortArgumentsDoNoHarm(t *testing.T) {
	h := loginHouse(t, loginUsers())
	c := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
	if err := c.Send(wire.ComStmtPrepare, "SELECT ?, ?"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reply(wire.ShapePrepare); err != nil {
		t.Fatal(err)
	}
	const full = "\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x08\x00\x08\x00\x01\x02\x03"
	for _, command := range []wire.Command{wire.ComStmtExecute, wire.ComStmtFetch, wire.ComStmtReset, wire.ComSetOption, wire.ComProcessKill,
		wire.ComInitDB, wire.ComQuery, wire.ComStmtPrepare, wire.ComFieldList, wire.ComRefresh, wire.ComCreateDB, wire.ComDropDB,
		wire.ComStmtSendLongData, wire.ComStmtClose} {
		for n := range len(full) {
			if command == wire.ComRefresh && n > 0 || command == wire.ComProcessKill && n > 3 {
				break // a whole argument flushes who knows what, or kills this very session
			}
			if err := c.Send(command, full[:n]); err != nil {
				t.Fatal(err)
			}
			if shape := command.Shape(); shape != wire.ShapeNone {
				if _, err := c.Reply(shape); err != nil && refusal(err) == 0 {
					t.Fatalf("command %#x with %d bytes: %v", command, n, err)
				}
			}
		}
		queryRaw(t, c, "DO 1")
	}
	_ = c.Close()
	expectQuiet(t, h)
}

func TestLostStepEndsTheSessionWithAWord(t *testing.T) {
	h := loginHouse(t, loginUsers())
	for name, c := range map[string]struct {
		text []byte
		code uint16
	}{
		"number 1":                     {[]byte{1, 0, 0, 1, byte(wire.ComPing)}, 1156},
		"number 255":                   {[]byte{1, 0, 0, 255, byte(wire.ComPing)}, 1156},
		"a second command in its wake": {[]byte{1, 0, 0, 0, byte(wire.ComPing), 1, 0, 0, 1, byte(wire.ComPing)}, 1156},
	} {
		for _, begin := range []string{"DO 1", "BEGIN"} {
			client := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
			queryRaw(t, client, begin)
			if _, err := client.Write(c.text); err != nil {
				t.Fatal(err)
			}
			if code := ending(t, client); code != c.code {
				t.Errorf("%s after %s: code %d, want %d", name, begin, code, c.code)
			}
		}
	}
	expectQuiet(t, h)
}

func TestPacketOverMaxAllowedPacketIsRefusedAtItsHeader(t *testing.T) {
	own := mariadbtest.Run(t, mariadbtest.WithFlags("--max-allowed-packet=1M"))
	h := loginHouse(t, loginUsers(), func(o *options) { o.Backend.Address = own.Addr() })
	login := wiretest.Login{User: "native-plain", Password: loginSecret}
	c := h.loggedIn(t, login)
	longest := "SELECT LENGTH('" + strings.Repeat("x", 1<<20-1-len("SELECT LENGTH('')")-1) + "')"
	if _, err := c.Query(longest); err != nil { // servers take one byte less than their limit
		t.Errorf("a packet of the greatest length: %v", err)
	}
	_ = c.Close()
	for name, header := range map[string][]byte{
		"one byte over": {0, 0, 16, 0, byte(wire.ComQuery)},
		"16 MiB":        {0xff, 0xff, 0xff, 0, byte(wire.ComQuery)},
	} {
		c := h.loggedIn(t, login)
		queryRaw(t, c, "BEGIN")
		if _, err := c.Write(header); err != nil {
			t.Fatal(err)
		}
		if code := ending(t, c); code != 1153 {
			t.Errorf("%s: code %d, want 1153", name, code)
		}
	}
	expectQuiet(t, h)
}

// A command of several packets is over the limit only in sum.
func TestContinuedPacketOverMaxAllowedPacketIsRefused(t *testing.T) {
	own := mariadbtest.Run(t, mariadbtest.WithFlags("--max-allowed-packet=17M"))
	h := loginHouse(t, loginUsers(), func(o *options) { o.Backend.Address = own.Addr() })
	c := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
	text, _ := wire.AppendPacket(nil, 0, append([]byte{byte(wire.ComQuery)}, make([]byte, wire.MaxPayload-1)...))
	wire.PutHeader(text[wire.HeaderLen+wire.MaxPayload:], 17<<20-wire.MaxPayload, 1) // in place of the empty packet
	if _, err := c.Write(text); err != nil {
		t.Fatal(err)
	}
	if code := ending(t, c); code != 1153 {
		t.Errorf("code %d, want 1153", code)
	}
	expectQuiet(t, h)
}
