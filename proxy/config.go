package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
)

// Config is what the client side listens on and bounds. Durations carry a unit in YAML ("10s").
type Config struct {
	Listen               string        `yaml:"listen"`
	MaxClientConnections int           `yaml:"max_client_connections"`
	HandshakeTimeout     time.Duration `yaml:"handshake_timeout"`
	DrainTimeout         time.Duration `yaml:"drain_timeout"`
	// Keepalive is after how much silence a client's machine is asked whether it is still there; after as much again
	// without an answer it is gone. 0 never asks.
	Keepalive time.Duration `yaml:"keepalive"`
	// ProxyProtocol are the networks of load balancers whose PROXY headers are believed.
	ProxyProtocol []string `yaml:"proxy_protocol"`
	// ServerVersion is what the greeting says; empty means the backend's own, since drivers behave by it.
	ServerVersion string    `yaml:"server_version"`
	TLS           ClientTLS `yaml:"tls"`
	// Compression is what clients may compress with, of zlib and zstd; empty means that they may not.
	Compression []string `yaml:"compression"`
}

// ClientTLS says whether clients may or must encrypt.
type ClientTLS struct {
	Mode     string `yaml:"mode"` // off, preferred or required
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// User is one login that clients may use, and the backend credentials that stand behind it.
type User struct {
	Name         string `yaml:"name"`
	Password     string `yaml:"password"`
	PasswordFile string `yaml:"password_file"`
	// AuthString is mysql.user's authentication_string, for operators who don't want the plain password
	// here: "*" and 40 hex digits (mysql_native_password) or "$A$005$…" (caching_sha2_password).
	AuthString string `yaml:"auth_string"`
	// AuthPlugin is the only plugin this user may log in with; empty means either of the two.
	AuthPlugin          string   `yaml:"auth_plugin"`
	Networks            []string `yaml:"networks"`
	BackendUser         string   `yaml:"backend_user"`
	BackendPassword     string   `yaml:"backend_password"`
	BackendPasswordFile string   `yaml:"backend_password_file"`
	DefaultSchema       string   `yaml:"default_schema"`
	MaxConnections      int      `yaml:"max_connections"` // 0 means no cap of its own
}

// BackendConfig is the database server behind the pool.
type BackendConfig struct {
	Name           string        `yaml:"name"`
	Address        string        `yaml:"address"` // host:port, or the path of a unix socket
	ConnectTimeout time.Duration `yaml:"connect_timeout"`
	TLS            BackendTLS    `yaml:"tls"`
	Compression    string        `yaml:"compression"` // off, zlib or zstd
}

// BackendTLS says how the backend's certificate is checked.
type BackendTLS struct {
	Mode       string `yaml:"mode"` // off, preferred, required, verify_ca or verify_identity
	CAFile     string `yaml:"ca_file"`
	CertFile   string `yaml:"cert_file"`
	KeyFile    string `yaml:"key_file"`
	ServerName string `yaml:"server_name"`
}

// DefaultConfig listens on loopback only and without TLS.
func DefaultConfig() Config {
	return Config{
		Listen:               "127.0.0.1:6033",
		MaxClientConnections: 10000,
		HandshakeTimeout:     10 * time.Second,
		DrainTimeout:         30 * time.Second,
		Keepalive:            30 * time.Second,
		TLS:                  ClientTLS{Mode: "off"},
		Compression:          []string{"zlib", "zstd"},
	}
}

// DefaultBackendConfig is a server on this machine.
func DefaultBackendConfig() BackendConfig {
	return BackendConfig{
		Name:           "main",
		Address:        "127.0.0.1:3306",
		ConnectTimeout: 5 * time.Second,
		TLS:            BackendTLS{Mode: "preferred"},
		Compression:    "off",
	}
}

// Ways to compress, as the configuration names them; off has no capability.
var (
	compressions      = map[string]wire.Capability{"zlib": wire.Compress, "zstd": wire.ZstdCompression}
	compressionNames  = []string{"zlib", "zstd"}
	backendCompresses = []string{"off", "zlib", "zstd"}
)

var (
	clientTLSModes  = []string{"off", "preferred", "required"}
	backendTLSModes = []string{"off", "preferred", "required", "verify_ca", "verify_identity"}
	authPlugins     = []string{"", mysql.AUTH_NATIVE_PASSWORD, mysql.AUTH_CACHING_SHA2_PASSWORD}
)

// Validate returns every problem; each starts with the field's path inside the section.
func (c Config) Validate() []error {
	var p problems
	p.hostPort("listen", c.Listen, "127.0.0.1:6033")
	p.check(c.MaxClientConnections > 0, "max_client_connections: must be at least 1, is %d; the default is 10000", c.MaxClientConnections)
	p.check(c.HandshakeTimeout > 0, "handshake_timeout: must be positive, is %s; write for example 10s", c.HandshakeTimeout)
	p.check(c.DrainTimeout > 0, "drain_timeout: must be positive, is %s; write for example 30s", c.DrainTimeout)
	p.check(c.Keepalive == 0 || c.Keepalive >= minKeepalive,
		"keepalive: must be %s or more, is %s; 0s never asks, or write for example 30s", minKeepalive, c.Keepalive)
	p.networks("proxy_protocol", c.ProxyProtocol)
	p.oneOf("tls.mode", c.TLS.Mode, clientTLSModes)
	if c.TLS.Mode == "preferred" || c.TLS.Mode == "required" {
		p.check(c.TLS.CertFile != "", "tls.cert_file: needed when tls.mode is %s", c.TLS.Mode)
		p.check(c.TLS.KeyFile != "", "tls.key_file: needed when tls.mode is %s", c.TLS.Mode)
	}
	for i, name := range c.Compression {
		p.oneOf(fmt.Sprintf("compression.%d", i), name, compressionNames)
		p.check(!slices.Contains(c.Compression[:i], name), "compression.%d: %q is there twice", i, name)
	}
	return p
}

// Validate returns every problem of the backend section.
func (c BackendConfig) Validate() []error {
	var p problems
	p.check(c.Name != "", "name: must not be empty; it is the pool label of all metrics")
	if !strings.HasPrefix(c.Address, "/") {
		p.hostPort("address", c.Address, "127.0.0.1:3306")
	}
	p.check(c.ConnectTimeout > 0, "connect_timeout: must be positive, is %s; write for example 5s", c.ConnectTimeout)
	p.oneOf("tls.mode", c.TLS.Mode, backendTLSModes)
	if strings.HasPrefix(c.TLS.Mode, "verify_") {
		p.check(c.TLS.CAFile != "", "tls.ca_file: needed when tls.mode is %s", c.TLS.Mode)
	}
	p.oneOf("compression", c.Compression, backendCompresses)
	p.check((c.TLS.CertFile == "") == (c.TLS.KeyFile == ""), "tls.key_file: cert_file and key_file must be given together")
	return p
}

// Validate returns every problem of one user.
func (u User) Validate() []error {
	var p problems
	p.check(u.Name != "", "name: must not be empty")
	p.oneOf("auth_plugin", u.AuthPlugin, authPlugins)
	p.check(u.Password == "" || u.AuthString == "", "auth_string: give either password or auth_string, not both")
	if u.AuthString != "" {
		if _, err := parseAuthString(u.AuthString); err != nil {
			p = append(p, fmt.Errorf("auth_string: %w", err))
		}
		p.check(u.BackendUser != "", "backend_user: needed with auth_string, since the plain password for the backend is not known")
	}
	p.networks("networks", u.Networks)
	p.check(u.MaxConnections >= 0, "max_connections: must not be negative, is %d", u.MaxConnections)
	return p
}

// problems collects what is wrong with a section.
type problems []error

func (p *problems) check(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Errorf(format, args...))
	}
}

func (p *problems) hostPort(path, addr, example string) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil && (port == "" || strings.ContainsAny(host, " /")) {
		err = errors.New("bad")
	}
	p.check(err == nil, "%s: %q is not host:port; write for example %s", path, addr, example)
}

func (p *problems) networks(path string, list []string) {
	for i, n := range list {
		if _, err := netip.ParsePrefix(n); err != nil {
			*p = append(*p, fmt.Errorf("%s.%d: %q is not a network; write for example 10.0.0.0/8", path, i, n))
		}
	}
}

func (p *problems) oneOf(path, value string, words []string) {
	p.check(slices.Contains(words, value), "%s: %q is unknown; one of: %s", path, value, strings.Join(words, ", "))
}
