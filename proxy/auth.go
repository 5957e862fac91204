package proxy

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"hash/fnv"
	"io"
	"net/netip"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
)

// maxLoginPacket bounds what a client may send before it is known.
const maxLoginPacket = 64 << 10

// authRequest is a client's claim to be somebody.
type authRequest struct {
	user     string
	plugin   string // "" is mysql_native_password, from clients without plugins
	response []byte
	salt     [wire.SaltLen]byte
	secure   bool // under TLS: the password itself may be sent
	from     netip.Addr
	host     string // as the error names it
	hopeless bool   // refused whatever the password
}

// authenticate runs the exchange and returns the user. A user that does not exist, or may not come from there, goes
// through the same exchange as one that does and gives a wrong password, so that the answer tells nothing more.
func (s *Server) authenticate(c *wire.Conn, req authRequest) (*credential, error) {
	cred := s.users[req.user]
	req.hopeless = cred == nil || !cred.allows(req.from)
	if cred == nil {
		cred = s.decoy(req.user)
	}
	if req.plugin == "" {
		req.plugin = mysql.AUTH_NATIVE_PASSWORD
	}
	if err := req.settlePlugin(c, cred); err != nil {
		return nil, err
	}
	valid, err := s.verify(c, cred, &req)
	if err != nil {
		return nil, err
	}
	if !valid {
		return nil, accessDenied(&req)
	}
	return cred, nil
}

// decoy is the user in whose way a stranger is asked for its password: always the same one for a name, or the plugins
// that are asked for would tell strangers from users.
func (s *Server) decoy(stranger string) (chosen *credential) {
	var highest uint64
	for name, cred := range s.users {
		h := fnv.New64a()
		_, _ = io.WriteString(h, stranger+"\x00"+name) // a hash takes everything
		if rank := h.Sum64(); chosen == nil || rank > highest {
			chosen, highest = cred, rank
		}
	}
	return chosen
}

func accessDenied(req *authRequest) *wire.ServerError {
	with := "NO"
	if len(req.response) > 0 {
		with = "YES"
	}
	return &wire.ServerError{Code: mysql.ER_ACCESS_DENIED_ERROR, State: "28000",
		Message: fmt.Sprintf("Access denied for user '%s'@'%s' (using password: %s)", req.user, req.host, with)}
}

// settlePlugin makes the client start over when it came with another plugin than its user's.
func (req *authRequest) settlePlugin(c *wire.Conn, cred *credential) error {
	want := cred.plugin()
	if want == "" {
		want = req.plugin
		if want != mysql.AUTH_NATIVE_PASSWORD && want != mysql.AUTH_CACHING_SHA2_PASSWORD {
			want = mysql.AUTH_NATIVE_PASSWORD
		}
	}
	if want == req.plugin {
		return nil
	}
	req.plugin, req.salt = want, newSalt()
	if err := c.WritePacket(wire.AppendAuthSwitch(nil, req.plugin, req.salt)); err != nil {
		return clientError(err)
	}
	response, err := c.ReadPacket(maxLoginPacket)
	if err != nil {
		return clientError(err)
	}
	req.response = append([]byte(nil), response...)
	return nil
}

func (s *Server) verify(c *wire.Conn, cred *credential, req *authRequest) (bool, error) {
	if req.plugin == mysql.AUTH_NATIVE_PASSWORD {
		return cred.secret.checkNative(req.salt[:], req.response) && !req.hopeless, nil
	}
	if len(req.response) == 1 && req.response[0] == 0 { // how some clients spell "no password"
		req.response = nil
	}
	valid, known := cred.secret.checkFast(req.salt[:], req.response)
	valid = valid && !req.hopeless
	switch {
	case known && valid && len(req.response) > 0:
		if err := c.WritePacket(wire.AppendAuthMore(nil, wire.Sha2FastOK)); err != nil {
			return false, clientError(err)
		}
		return true, nil
	case known || len(req.response) == 0:
		return valid, nil
	}
	password, err := s.askPassword(c, req)
	if err != nil {
		return false, err
	}
	return cred.secret.checkWhole(password) && !req.hopeless, nil
}

// askPassword has the client send its password: as it is under TLS, else encrypted with our public key.
func (s *Server) askPassword(c *wire.Conn, req *authRequest) (string, error) {
	if err := c.WritePacket(wire.AppendAuthMore(nil, wire.Sha2FullNeeded)); err != nil {
		return "", clientError(err)
	}
	answer, err := c.ReadPacket(maxLoginPacket)
	if err != nil {
		return "", clientError(err)
	}
	if req.secure {
		return cString(answer), nil
	}
	key, err := s.loginKey()
	if err != nil {
		return "", err
	}
	if len(answer) == 1 && answer[0] == wire.Sha2WantPublicKey {
		if err := c.WritePacket(wire.AppendAuthMore(nil, key.public...)); err != nil {
			return "", clientError(err)
		}
		if answer, err = c.ReadPacket(maxLoginPacket); err != nil {
			return "", clientError(err)
		}
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, key.private, answer, nil)
	if err != nil {
		return "", nil // a wrong key is a wrong password
	}
	for i := range plain {
		plain[i] ^= req.salt[i%wire.SaltLen]
	}
	return cString(plain), nil
}

// cString cuts a text at its first NUL.
func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// newSalt is random without NUL and '$', which old clients take for an end.
func newSalt() (salt [wire.SaltLen]byte) {
	_, _ = rand.Read(salt[:]) // crypto/rand.Read never fails
	for i, b := range salt {
		b &= 0x7f
		if b == 0 || b == '$' {
			b++
		}
		salt[i] = b
	}
	return salt
}

// rsaKey is the key pair under which passwords travel without TLS.
type rsaKey struct {
	private *rsa.PrivateKey
	public  []byte // PEM
}

// loginKeys makes the pair when first wanted: it costs a noticeable fraction of a second.
type loginKeys struct {
	once sync.Once
	key  rsaKey
	err  error
}

func (s *Server) loginKey() (*rsaKey, error) {
	k := &s.keys
	k.once.Do(func() {
		if k.key.private, k.err = rsa.GenerateKey(rand.Reader, 2048); k.err != nil {
			return
		}
		der, err := x509.MarshalPKIXPublicKey(&k.key.private.PublicKey)
		k.key.public = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		k.err = err
	})
	return &k.key, k.err
}
