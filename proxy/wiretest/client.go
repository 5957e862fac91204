package wiretest

import (
	"bytes"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
)

// patience bounds every read and write of a peer: a test that waits longer has found a bug.
const patience = 20 * time.Second

// maxPacket is more than any test sends in one packet.
const maxPacket = 256 << 20

// PlainCapabilities are what a client claims when it has no reason to claim anything else.
const PlainCapabilities = wire.LongPassword | wire.LongFlag | wire.Protocol41 | wire.Transactions | wire.SecureConnection |
	wire.PluginAuth | wire.MultiResults

// Client is one raw client connection. It is not for concurrent use.
type Client struct {
	wire.Conn
	Greeting *wire.Greeting
	// Trace is what the server said during the logins, one word a packet: "switch PLUGIN", "fast", "full", "key", "ok",
	// or "err CODE".
	Trace []string
	// File is what LOCAL INFILE gets, packet by packet.
	File   [][]byte
	modern bool // logged in with DeprecateEOF
}

// Login is what a client says of itself.
type Login struct {
	User, Password string
	Schema         string
	Plugin         string          // "" is the greeting's
	Capabilities   wire.Capability // 0 is PlainCapabilities; what the other fields need is added
	Collation      byte            // 0 is utf8mb4_general_ci
	Attrs          []wire.Attr
	ZstdLevel      byte        // goes with wire.ZstdCompression
	TLS            *tls.Config // nil: no TLS
	// KeyUnasked sends the password encrypted with this key instead of asking for the server's.
	KeyUnasked *rsa.PublicKey
}

// Dial connects and reads the greeting. An ERR packet in its place comes back as *wire.ServerError.
func Dial(addr string) (*Client, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return NewClient(conn)
}

// NewClient reads the greeting on conn, which it closes when there is none.
func NewClient(conn net.Conn) (*Client, error) {
	c := &Client{Conn: wire.Conn{Conn: conn}}
	p, err := c.Next()
	if err == nil {
		c.Greeting, err = wire.ParseGreeting(p)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// Next reads one packet; it is valid until the next call.
func (c *Client) Next() ([]byte, error) {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	return c.ReadPacket(maxPacket)
}

// Login logs in. A refusal is a *wire.ServerError.
func (c *Client) Login(l Login) error {
	if l.Plugin == "" {
		l.Plugin = c.Greeting.Plugin
	}
	w := l.wire(c.Greeting)
	c.modern = w.Capabilities.Has(wire.DeprecateEOF)
	if l.TLS != nil {
		if err := c.WritePacket(w.AppendSSLRequest(nil)); err != nil {
			return err
		}
		secure := tls.Client(c.Conn.Conn, l.TLS)
		if err := secure.Handshake(); err != nil {
			return err
		}
		c.Conn.Conn = secure
	}
	if err := c.WritePacket(w.Append(nil)); err != nil {
		return err
	}
	if err := c.finish(l, c.Greeting.Salt[:]); err != nil {
		return err
	}
	if algorithm := w.Capabilities.Compression(); algorithm != wire.NoCompression {
		c.Conn.Conn = wire.NewCompressedConn(c.Conn.Conn, algorithm, w.ZstdLevel, false)
	}
	return nil
}

// wire is the login packet. Its bytes are all there is of it, so Fault can cut it anywhere.
func (l *Login) wire(g *wire.Greeting) *wire.Login {
	w := &wire.Login{Capabilities: l.Capabilities, MaxPacket: 1 << 24, Collation: l.Collation, User: l.User,
		AuthResponse: scramble(l.Plugin, l.Password, g.Salt[:]), Schema: l.Schema, Plugin: l.Plugin, Attrs: l.Attrs, ZstdLevel: l.ZstdLevel}
	if w.Capabilities == 0 {
		w.Capabilities = PlainCapabilities
	}
	if w.Collation == 0 {
		w.Collation = 45
	}
	for bit, wanted := range map[wire.Capability]bool{
		wire.ConnectWithDB: l.Schema != "", wire.ConnectAttrs: len(l.Attrs) > 0, wire.SSL: l.TLS != nil,
	} {
		if wanted {
			w.Capabilities |= bit
		}
	}
	return w
}

// scramble proves the password in the plugin's way; a plugin that we don't know gets some bytes.
func scramble(plugin, password string, salt []byte) []byte {
	switch plugin {
	case mysql.AUTH_NATIVE_PASSWORD:
		return mysql.CalcNativePassword(salt, []byte(password))
	case mysql.AUTH_CACHING_SHA2_PASSWORD:
		return mysql.CalcCachingSha2Password(salt, []byte(password))
	}
	return []byte("unknown")
}

// finish answers the server's steps until it says OK or ERR.
func (c *Client) finish(l Login, salt []byte) error {
	for {
		p, err := c.Next()
		if err != nil {
			return err
		}
		step, more := wire.ParseAuthStep(p)
		switch {
		case len(p) == 0:
			return fmt.Errorf("%w: an empty packet during a login", wire.ErrMalformed)
		case p[0] == wire.ErrHeader:
			refused := wire.ParseErr(p)
			c.note(fmt.Sprintf("err %d", refused.Code))
			return refused
		case p[0] == wire.OKHeader:
			c.note("ok")
			return nil
		case !more:
			return fmt.Errorf("%w: packet %#x during a login", wire.ErrMalformed, p[0])
		case step.Plugin != "":
			c.note("switch " + step.Plugin)
			l.Plugin, salt = step.Plugin, bytes.Clone(step.Data)
			err = c.WritePacket(scramble(l.Plugin, l.Password, salt))
		case bytes.Equal(step.Data, []byte{wire.Sha2FastOK}):
			c.note("fast")
		case bytes.Equal(step.Data, []byte{wire.Sha2FullNeeded}):
			c.note("full")
			err = c.sendPassword(l, salt)
		default:
			return fmt.Errorf("%w: step with %d bytes of data", wire.ErrMalformed, len(step.Data))
		}
		if err != nil {
			return err
		}
	}
}

func (c *Client) note(step string) { c.Trace = append(c.Trace, step) }

// sendPassword sends the whole password: as it is under TLS, else encrypted.
func (c *Client) sendPassword(l Login, salt []byte) error {
	if l.TLS != nil {
		return c.WritePacket(append([]byte(l.Password), 0))
	}
	key := l.KeyUnasked
	if key == nil {
		if err := c.WritePacket([]byte{wire.Sha2WantPublicKey}); err != nil {
			return err
		}
		p, err := c.Next()
		if err != nil {
			return err
		}
		step, _ := wire.ParseAuthStep(p)
		if key, err = parseKey(step.Data); err != nil {
			return err
		}
		c.note("key")
	}
	secret, err := mysql.EncryptPassword(l.Password, salt, key)
	if err != nil {
		return err
	}
	return c.WritePacket(secret)
}

func parseKey(text []byte) (*rsa.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%w: no PEM block where the public key should be", wire.ErrMalformed)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%w: the public key is a %T", wire.ErrMalformed, key)
	}
	return public, nil
}

// ChangeUser sends COM_CHANGE_USER and logs in anew. A refusal is a *wire.ServerError.
func (c *Client) ChangeUser(l Login) error {
	p := append([]byte(l.User), 0)
	response := scramble(l.Plugin, l.Password, c.Greeting.Salt[:])
	p = append(append(p, byte(len(response))), response...)
	p = append(append(p, l.Schema...), 0)
	p = binary.LittleEndian.AppendUint16(p, uint16(max(l.Collation, 45)))
	p = append(append(p, l.Plugin...), 0)
	var attrs []byte
	for _, a := range l.Attrs {
		attrs = wire.AppendLenString(wire.AppendLenString(attrs, a.Name), a.Value)
	}
	if len(attrs) > 0 {
		p = wire.AppendLenString(p, string(attrs))
	}
	if err := c.Send(wire.ComChangeUser, string(p)); err != nil {
		return err
	}
	return c.finish(l, c.Greeting.Salt[:])
}

// Send sends a command.
func (c *Client) Send(command wire.Command, argument string) error {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	c.Begin()
	return c.WritePacket(append([]byte{byte(command)}, argument...))
}

// Reply reads one reply and returns its packets' payloads. An ERR packet is the last of them, and comes back as
// *wire.ServerError too.
func (c *Client) Reply(shape wire.Shape) (packets [][]byte, err error) {
	if c.modern {
		return c.modernReply(shape)
	}
	r := wire.NewReply(shape, c.Seq, false)
	var pending []byte
	for !r.Done() {
		seq := c.Seq
		p, err := c.Next()
		if err != nil {
			return packets, err
		}
		packets = append(packets, bytes.Clone(p))
		pending, _ = wire.AppendPacket(pending, seq, p)
		for len(pending) > 0 && !r.Done() {
			n, ev := r.Next(pending)
			pending = pending[n:]
			switch ev {
			case wire.EventBad:
				return packets, fmt.Errorf("%w: packet %x in a reply", wire.ErrMalformed, p)
			case wire.EventInfile:
				if err := c.sendFile(); err != nil {
					return packets, err
				}
				r.Resume(c.Seq)
			}
			if ev == wire.EventMore {
				break
			}
		}
	}
	if r.Failed != 0 {
		return packets, wire.ParseErr(packets[len(packets)-1])
	}
	return packets, nil
}

// Query runs a statement and returns the first column of its first row, "" without one.
func (c *Client) Query(sql string) (string, error) {
	if err := c.Send(wire.ComQuery, sql); err != nil {
		return "", err
	}
	packets, err := c.Reply(wire.ShapeResults)
	if err != nil || packets[0][0] == wire.OKHeader {
		return "", err
	}
	first := 1 + int(packets[0][0]) // behind the count and the definitions
	if !c.modern {
		first++ // and their EOF
	}
	row := packets[first]
	if n := int(row[0]); n < len(row) && n < 251 {
		return string(row[1 : 1+n]), nil
	}
	return "", nil
}
