package proxy

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
)

// changeUser is COM_CHANGE_USER: a login over again on an open connection. Until the new user is known to be right,
// nothing of the old session changes: MariaDB lets it go on after a refusal, MySQL closes the connection.
func (s *Session) changeUser(cmd command) error {
	s.begin(nil)
	p, err := wire.ParseChangeUser(cmd.payload[1:], s.login.caps)
	if err != nil {
		return clientError(err)
	}
	info, err := s.srv.serverInfo()
	if err != nil {
		return err
	}
	c := &wire.Conn{Conn: s.client.stream(), Seq: cmd.nextSeq}
	cred, err := s.changedUser(c, p)
	switch e := asServerError(err); {
	case e != nil && info.isMariaDB():
		return clientError(c.WritePacket(e.Append(nil)))
	case e != nil:
		return s.refuseLogin(c, e)
	case err != nil:
		return err
	}
	if s.lease.Valid() {
		s.returnLease()
	}
	salt := s.login.salt
	s.meter.Close()
	login := &wire.Login{Capabilities: s.login.caps, User: p.User, Schema: p.Schema, Collation: byte(p.Collation), Attrs: p.Attrs}
	if e := s.enter(cred, login, info); e != nil {
		return s.refuseLogin(c, e)
	}
	s.login.salt = salt
	return clientError(c.WritePacket(s.loginOK(info)))
}

// changedUser has the client prove anew who it is, with the plugin that it named. The salt is the greeting's, as servers
// repeat it here: MariaDB's C client scrambles with that one whatever it is sent.
func (s *Session) changedUser(c *wire.Conn, p *wire.ChangeUser) (*credential, error) {
	req := s.authRequest(&wire.Login{User: p.User, Plugin: p.Plugin}, &wire.Greeting{Salt: s.login.salt})
	if req.plugin == "" {
		req.plugin = mysql.AUTH_NATIVE_PASSWORD
	}
	if err := c.WritePacket(wire.AppendAuthSwitch(nil, req.plugin, req.salt)); err != nil {
		return nil, clientError(err)
	}
	response, err := c.ReadPacket(maxLoginPacket)
	if err != nil {
		return nil, clientError(err)
	}
	req.response = bytes.Clone(response)
	return s.srv.authenticate(c, req)
}
