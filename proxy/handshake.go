package proxy

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy/wire"
)

// offered are the capabilities that work through the proxy; of these the greeting offers what the backend has. TLS,
// compression and query attributes are the proxy's own affair.
const offered = wire.LongPassword | wire.FoundRows | wire.LongFlag | wire.ConnectWithDB | wire.ODBC | wire.LocalFiles |
	wire.IgnoreSpace | wire.Protocol41 | wire.IgnoreSigpipe | wire.Transactions | wire.Reserved | wire.SecureConnection |
	wire.MultiStatements | wire.MultiResults | wire.PSMultiResults | wire.PluginAuth | wire.ConnectAttrs | wire.PluginAuthLenenc |
	wire.SessionTrack | wire.DeprecateEOF

// greet does the client's side of the login, up to the OK.
func (s *Session) greet() error {
	if err := s.client.SetDeadline(time.Now().Add(s.srv.cfg.HandshakeTimeout)); err != nil {
		return clientError(err)
	}
	c := &wire.Conn{Conn: s.client.Conn}
	if s.srv.full() {
		return s.refuseLogin(c, errTooManyClients)
	}
	info, err := s.srv.serverInfo()
	if err != nil {
		return s.refuseLogin(c, s.acquireError(&pool.DialError{Pool: s.srv.backend.cfg.Name, Err: err}))
	}
	greeting := s.greeting(info)
	login, err := s.readLogin(c, greeting)
	if err != nil {
		return err
	}
	cred, err := s.srv.authenticate(c, s.authRequest(login, greeting))
	if e := asServerError(err); e != nil {
		return s.refuseLogin(c, e)
	}
	if err != nil {
		return err
	}
	if e := s.enter(cred, login, info); e != nil {
		return s.refuseLogin(c, e)
	}
	s.login.salt = greeting.Salt
	if login.Capabilities.Has(wire.IgnoreSpace) { // a way to say sql_mode that no reset or change of user repeats
		s.state.setVariable("sql_mode", strings.TrimSuffix("IGNORE_SPACE,"+info.sqlMode, ","))
	}
	if err := c.WritePacket(s.loginOK(info)); err != nil {
		return clientError(err)
	}
	s.client.compress(login)
	s.srv.connects.ok.Add(1)
	return clientError(s.client.SetDeadline(time.Time{}))
}

func (s *Session) greeting(info *serverInfo) *wire.Greeting {
	g := &wire.Greeting{
		Version:      info.version,
		ConnectionID: s.id,
		Salt:         newSalt(),
		Capabilities: info.capabilities&offered | wire.QueryAttributes,
		Collation:    info.collation,
		Status:       wire.StatusAutocommit,
		Plugin:       info.plugin,
	}
	if v := s.srv.cfg.ServerVersion; v != "" {
		g.Version = v
	}
	if g.Plugin != mysql.AUTH_CACHING_SHA2_PASSWORD {
		g.Plugin = mysql.AUTH_NATIVE_PASSWORD
	}
	if s.srv.tls != nil {
		g.Capabilities |= wire.SSL
	}
	for _, name := range s.srv.cfg.Compression {
		g.Capabilities |= compressions[name]
	}
	return g
}

// readLogin sends the greeting and reads the answer, under TLS if the client asks for it.
func (s *Session) readLogin(c *wire.Conn, g *wire.Greeting) (*wire.Login, error) {
	if err := c.WritePacket(g.Append(nil)); err != nil {
		return nil, clientError(err)
	}
	p, err := s.readFirst(c)
	if err != nil {
		return nil, s.badLogin(c, err)
	}
	if s.srv.tls != nil && wire.IsSSLRequest(p) {
		secure := tls.Server(c.Conn, s.srv.tls)
		if err := secure.Handshake(); err != nil {
			return nil, clientError(errors.Join(errTLS, err))
		}
		c.Conn = secure
		s.client.secure(secure)
		if p, err = c.ReadPacket(maxLoginPacket); err != nil {
			return nil, s.badLogin(c, err)
		}
	}
	if s.srv.cfg.TLS.Mode == "required" && !s.client.encrypted {
		return nil, s.refuseLogin(c, errSecureTransport)
	}
	login, err := wire.ParseLogin(p, g.Capabilities)
	if err != nil {
		return nil, s.badLogin(c, err)
	}
	if login.Compresses {
		return nil, s.refuseLogin(c, errCompression)
	}
	return login, nil
}

var errTLS = errors.New("TLS handshake")

// badLogin answers what is no login, as far as the client still listens.
func (s *Session) badLogin(c *wire.Conn, err error) error {
	if !gone(err) {
		_ = c.WritePacket(errBadHandshake.Append(nil))
	}
	return clientError(err)
}

// refuseLogin says why and ends the session.
func (s *Session) refuseLogin(c *wire.Conn, e *wire.ServerError) error {
	p := e.Append(nil)
	if c.Seq == 0 {
		p = e.AppendBare(nil)
	}
	if err := c.WritePacket(p); err != nil {
		return clientError(err)
	}
	return e
}

// endLogin counts a login that failed by what was wrong.
func (s *Session) endLogin(err error) {
	counts := &s.srv.connects
	e := asServerError(err)
	switch {
	case e != nil && (e.Code == mysql.ER_CON_COUNT_ERROR || e.Code == mysql.ER_TOO_MANY_USER_CONNECTIONS):
		counts.limit.Add(1)
	case e != nil && e != errSecureTransport:
		counts.auth.Add(1)
	case e != nil || errors.Is(err, errTLS):
		counts.tls.Add(1)
	default:
		counts.protocol.Add(1)
	}
	s.log.Info("login refused", "session", s.id, "client", s.client.RemoteAddr().String(), "error", err)
}

func (s *Session) authRequest(login *wire.Login, g *wire.Greeting) authRequest {
	req := authRequest{user: login.User, plugin: login.Plugin, response: login.AuthResponse, salt: g.Salt, secure: s.client.encrypted}
	req.host = "localhost"
	if tcp, ok := s.client.RemoteAddr().(*net.TCPAddr); ok {
		req.from = tcp.AddrPort().Addr()
		req.host = req.from.Unmap().String()
	}
	return req
}

// enter sets the session up for its user: state, attribution, and a first look at the schema it asked for, since a
// server refuses a login to an unknown one at once.
func (s *Session) enter(cred *credential, login *wire.Login, info *serverInfo) *wire.ServerError {
	if e := info.refuse(login.Collation); e != nil {
		return e
	}
	if e := s.srv.admit(cred); e != nil {
		return e
	}
	s.leaveUser()
	s.login = loginState{user: cred, caps: login.Capabilities, kind: cred.kind(login.Capabilities), settings: info.loginSettings(login.Collation)}
	s.login.fallback = s.srv.fallback(cred.cfg.Name, login.Attrs)
	s.meter.Init(s.srv.ledger, s.login.fallback)
	s.view.user.Store(&cred.cfg.Name)
	s.clear()
	schema := login.Schema
	if schema == "" {
		schema = cred.cfg.DefaultSchema
	}
	s.setSchema(schema)
	if schema == "" || s.srv.schemas.known(cred.cfg.Name, schema) {
		return nil
	}
	s.meter.Statement(nil, s.srv.now())
	if _, err := s.acquire(); err != nil {
		return s.acquireError(err)
	}
	s.srv.schemas.note(cred.cfg.Name, schema)
	s.rest()
	return nil
}

// leaveUser gives back the place that the session took in its user's limit.
func (s *Session) leaveUser() {
	if s.login.user != nil {
		s.login.user.open.Add(-1)
	}
}

// loginOK ends a login; a client that tracks is told its schema.
func (s *Session) loginOK(info *serverInfo) []byte {
	ok := wire.OK{Status: s.state.status}
	if s.login.caps.Has(wire.SessionTrack) && info.trackers.schema && s.state.schema != "" {
		ok.State = wire.AppendTrack(nil, wire.TrackSchema, s.state.schema)
	}
	return ok.AppendOK(nil)
}
