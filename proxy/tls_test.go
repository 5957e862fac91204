package proxy_test

import (
	"crypto/tls"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// tlsHouse is a house whose clients may encrypt, in the given mode.
func tlsHouse(t testing.TB, mode string) (*house, *tls.Config) {
	t.Helper()
	cert := newCertificate(t)
	return loginHouse(t, loginUsers(), func(o *options) {
		o.Config.TLS = proxy.ClientTLS{Mode: mode, CertFile: cert.certFile, KeyFile: cert.keyFile}
	}), cert.client
}

func TestTLSIsOfferedOnlyWhenConfigured(t *testing.T) {
	for _, mode := range []string{"off", "preferred", "required"} {
		h, _ := tlsHouse(t, mode)
		if got := h.raw(t).Greeting.Capabilities.Has(wire.SSL); got != (mode != "off") {
			t.Errorf("%s: offered %v", mode, got)
		}
	}
}

func TestWholePasswordTravelsPlainUnderTLSOnly(t *testing.T) {
	h, secure := tlsHouse(t, "preferred")
	login := wiretest.Login{User: "sha2-hash", Password: loginSecret, Plugin: sha2Plugin}
	login.Password, login.TLS = "wrong", secure
	c := h.raw(t)
	if err := c.Login(login); refusal(err) != 1045 || strings.Join(c.Trace, " ") != "full err 1045" {
		t.Errorf("wrong password under TLS: %v, %q", err, c.Trace)
	}
	login.TLS = nil
	c = h.raw(t)
	if err := c.Login(login); refusal(err) != 1045 || strings.Join(c.Trace, " ") != "full key err 1045" {
		t.Errorf("wrong password without TLS: %v, %q", err, c.Trace)
	}
	login.Password, login.TLS = loginSecret, secure
	c = h.loggedIn(t, login)
	if strings.Join(c.Trace, " ") != "full ok" {
		t.Errorf("went %q", c.Trace)
	}
	if got := queryRaw(t, c, "SELECT 'over TLS'"); got != "over TLS" {
		t.Errorf("got %q", got)
	}
}

// A client that sends its password unencrypted where it should ask for a key gets nowhere, and is not believed.
func TestPlainPasswordWithoutTLSIsRefused(t *testing.T) {
	h := loginHouse(t, loginUsers())
	c := h.raw(t)
	l := wire.Login{Capabilities: wiretest.PlainCapabilities, User: "sha2-hash", Plugin: sha2Plugin, AuthResponse: make([]byte, 32)}
	if err := c.WritePacket(l.Append(nil)); err != nil {
		t.Fatal(err)
	}
	if p, err := c.Next(); err != nil || len(p) != 2 || p[1] != wire.Sha2FullNeeded {
		t.Fatalf("got %x, %v", p, err)
	}
	if err := c.WritePacket([]byte(loginSecret + "\x00")); err != nil {
		t.Fatal(err)
	}
	if p, err := c.Next(); err != nil || wire.ErrCode(p) != 1045 {
		t.Errorf("got %x, %v; want 1045", p, err)
	}
}

func TestBadTLSHandshakesAreCountedAsSuch(t *testing.T) {
	h, _ := tlsHouse(t, "required")
	err := h.raw(t).Login(wiretest.Login{User: "native-plain", Password: loginSecret, TLS: &tls.Config{ServerName: "127.0.0.1"}}) // trusts nobody
	if unknown := (*tls.CertificateVerificationError)(nil); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	if err := h.raw(t).Login(wiretest.Login{User: "native-plain", Password: loginSecret}); refusal(err) != 3159 {
		t.Errorf("without TLS: got %v, want 3159", err)
	}
	eventually(t, "both are counted", func() bool { return h.Snapshot().Connects == proxy.ConnectCounts{TLS: 2} })
}

func TestLongLivedTLSSessionsWork(t *testing.T) {
	h, secure := tlsHouse(t, "required")
	c := h.loggedIn(t, wiretest.Login{User: "native-hash", Password: loginSecret, TLS: secure})
	for _, n := range []int{1, 1000, 16384, 70000, 1 << 20, 17 << 20} {
		q := "SELECT LENGTH('" + strings.Repeat("x", n) + "')"
		if err := c.Send(wire.ComQuery, q); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Reply(wire.ShapeResults); err != nil {
			t.Errorf("%d bytes out: %v", n, err)
		}
		if err := c.Send(wire.ComQuery, "SELECT REPEAT('x', "+strconv.Itoa(n)+")"); err != nil {
			t.Fatal(err)
		}
		packets, err := c.Reply(wire.ShapeResults)
		if err != nil || len(packets) != 5 || len(packets[3]) < n {
			t.Errorf("%d bytes in: %d packets, %v", n, len(packets), err)
		}
	}
	queryRaw(t, c, "BEGIN")
	queryRaw(t, c, "COMMIT")
}

// TestBackendTLSModes connects to a server with a certificate for 127.0.0.1 and localhost, and to one without TLS.
func TestBackendTLSModes(t *testing.T) {
	secure := mariadbtest.Run(t, mariadbtest.WithTLS(), mariadbtest.WithSQL(
		"CREATE USER needs_tls IDENTIFIED BY 'x' REQUIRE SSL", "CREATE USER needs_cert IDENTIFIED BY 'x' REQUIRE X509"))
	files := secure.TLSFiles()
	wrongCA := newCertificate(t).certFile
	cases := map[string]struct {
		tls    proxy.BackendTLS
		plain  bool   // the server without TLS
		user   string // "" is the administrator
		cipher bool
		code   uint16
	}{
		"off":                              {tls: proxy.BackendTLS{Mode: "off"}},
		"off, account wants TLS":           {tls: proxy.BackendTLS{Mode: "off"}, user: "needs_tls", code: 1045},
		"preferred":                        {tls: proxy.BackendTLS{Mode: "preferred"}, cipher: true},
		"preferred, account wants TLS":     {tls: proxy.BackendTLS{Mode: "preferred"}, user: "needs_tls", cipher: true},
		"preferred, none there":            {tls: proxy.BackendTLS{Mode: "preferred"}, plain: true},
		"required":                         {tls: proxy.BackendTLS{Mode: "required"}, cipher: true},
		"required, wrong CA":               {tls: proxy.BackendTLS{Mode: "required", CAFile: wrongCA}, cipher: true},
		"required, none there":             {tls: proxy.BackendTLS{Mode: "required"}, plain: true, code: 1429},
		"verify_ca":                        {tls: proxy.BackendTLS{Mode: "verify_ca", CAFile: files.CA}, cipher: true},
		"verify_ca, other name":            {tls: proxy.BackendTLS{Mode: "verify_ca", CAFile: files.CA, ServerName: "db.example"}, cipher: true},
		"verify_ca, wrong CA":              {tls: proxy.BackendTLS{Mode: "verify_ca", CAFile: wrongCA}, code: 1429},
		"verify_ca, none there":            {tls: proxy.BackendTLS{Mode: "verify_ca", CAFile: files.CA}, plain: true, code: 1429},
		"verify_identity":                  {tls: proxy.BackendTLS{Mode: "verify_identity", CAFile: files.CA}, cipher: true},
		"verify_identity, given name":      {tls: proxy.BackendTLS{Mode: "verify_identity", CAFile: files.CA, ServerName: "localhost"}, cipher: true},
		"verify_identity, wrong name":      {tls: proxy.BackendTLS{Mode: "verify_identity", CAFile: files.CA, ServerName: "db.example"}, code: 1429},
		"verify_identity, wrong CA":        {tls: proxy.BackendTLS{Mode: "verify_identity", CAFile: wrongCA}, code: 1429},
		"client certificate is wanted":     {tls: proxy.BackendTLS{Mode: "required"}, user: "needs_cert", code: 1045},
		"client certificate is shown":      {tls: proxy.BackendTLS{Mode: "verify_ca", CAFile: files.CA, CertFile: files.ClientCert, KeyFile: files.ClientKey}, user: "needs_cert", cipher: true},
		"client certificate, not verified": {tls: proxy.BackendTLS{Mode: "preferred", CertFile: files.ClientCert, KeyFile: files.ClientKey}, user: "needs_cert", cipher: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			users := loginUsers()[:1]
			if c.user != "" {
				users[0].BackendUser, users[0].BackendPassword = c.user, "x"
			}
			h := loginHouse(t, users, func(o *options) {
				if o.Backend.TLS = c.tls; !c.plain {
					o.Backend.Address = secure.Addr()
				}
			})
			client, err := wiretest.Dial(h.Addr().String())
			if refusal(err) != c.code || c.code == 0 && err != nil {
				t.Fatalf("got %v, want code %d", err, c.code)
			}
			if err != nil {
				return
			}
			defer client.Close()
			if err := client.Login(wiretest.Login{User: users[0].Name, Password: loginSecret}); err != nil {
				t.Fatal(err)
			}
			cipher, err := client.Query("SELECT VARIABLE_VALUE FROM information_schema.session_status WHERE VARIABLE_NAME='Ssl_cipher'")
			if err != nil || (cipher != "") != c.cipher {
				t.Errorf("cipher %q, %v", cipher, err)
			}
			// Over TLS a connection is not looked at but asked whether it lives, and resets like any other.
			queryRaw(t, client, "SET @v=1")
			if err := client.Send(wire.ComResetConnection, ""); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Reply(wire.ShapeOK); err != nil {
				t.Error(err)
			}
			if got := queryRaw(t, client, "SELECT IFNULL(@v,'none')"); got != "none" {
				t.Errorf("after a reset @v is %q", got)
			}
		})
	}
}

func TestDeadTLSBackendsAreReplacedBeforeUse(t *testing.T) {
	own := mariadbtest.Run(t, mariadbtest.WithTLS())
	h := loginHouse(t, loginUsers(), func(o *options) {
		o.Backend.Address, o.Backend.TLS.Mode, o.Pool.LivenessAfter = own.Addr(), "required", 1
	})
	c := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret})
	const backend = backendIDSQL
	id := queryRaw(t, c, backend)
	exec(t, open(t, own.DSN("")), "KILL "+id)
	if again := queryRaw(t, c, backend); again == id {
		t.Errorf("still on the backend connection %s", id)
	}
}

func TestBadTLSFilesAreFoundBeforeServing(t *testing.T) {
	cert := newCertificate(t)
	good := proxy.Options{Config: proxy.DefaultConfig(), Backend: proxy.DefaultBackendConfig(), Users: loginUsers()}
	for what, bend := range map[string]func(*proxy.Options){
		"load certificate": func(o *proxy.Options) {
			o.Config.TLS = proxy.ClientTLS{Mode: "required", CertFile: "none", KeyFile: "none"}
		},
		"private key": func(o *proxy.Options) {
			o.Config.TLS = proxy.ClientTLS{Mode: "preferred", CertFile: cert.certFile, KeyFile: cert.certFile}
		},
		"read CA":            func(o *proxy.Options) { o.Backend.TLS = proxy.BackendTLS{Mode: "verify_ca", CAFile: "none"} },
		"no PEM certificate": func(o *proxy.Options) { o.Backend.TLS = proxy.BackendTLS{Mode: "verify_ca", CAFile: cert.keyFile} },
		"load client certificate": func(o *proxy.Options) {
			o.Backend.TLS = proxy.BackendTLS{Mode: "required", CertFile: "none", KeyFile: "none"}
		},
	} {
		o := good
		bend(&o)
		if _, err := proxy.New(o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want it to say %q", err, what)
		}
	}
}
