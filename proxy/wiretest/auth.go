package wiretest

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
)

// sha2State is what a caching_sha2_password server keeps: its key pair, and which users need no whole password now.
type sha2State struct {
	once   sync.Once
	key    *rsa.PrivateKey
	err    error
	mu     sync.Mutex
	cached map[string]bool
}

var errRefused = errors.New("login refused")

// login greets and authenticates.
func (p *Peer) login() error {
	s := &p.server.script
	if s.Greet != nil {
		return s.Greet(p)
	}
	for i := range p.Salt {
		p.Salt[i] = byte('a' + (int(p.ID)+i)%26)
	}
	g := s.Greeting
	g.ConnectionID, g.Salt = p.ID, p.Salt
	if err := p.WritePacket(g.Append(nil)); err != nil {
		return err
	}
	packet, err := p.ReadPacket(maxPacket)
	if err != nil {
		return err
	}
	if p.Login, err = wire.ParseLogin(packet, g.Capabilities); err != nil {
		return err
	}
	if s.Auth != nil {
		return s.Auth(p, p.Login)
	}
	return p.Authenticate(g.Plugin)
}

// Authenticate checks the script's password with the given plugin, after a switch to it when the client came with
// another, and ends the login with OK or ERR 1045. The first caching_sha2_password login of a user is full, later
// ones are fast, as on a MySQL 8.
func (p *Peer) Authenticate(plugin string) error {
	response := p.Login.AuthResponse
	if p.Login.Plugin != plugin {
		if err := p.WritePacket(wire.AppendAuthSwitch(nil, plugin, p.Salt)); err != nil {
			return err
		}
		packet, err := p.ReadPacket(maxPacket)
		if err != nil {
			return err
		}
		response = bytes.Clone(packet)
	}
	right := bytes.Equal(response, scramble(plugin, p.server.script.Password, p.Salt[:]))
	if plugin == mysql.AUTH_CACHING_SHA2_PASSWORD && len(response) > 0 {
		var err error
		if right, err = p.checkSHA2(right); err != nil {
			return err
		}
	}
	if !right {
		return errors.Join(errRefused, p.Err(mysql.ER_ACCESS_DENIED_ERROR, fmt.Sprintf("Access denied for user '%s'", p.Login.User)))
	}
	return p.OK()
}

// checkSHA2 believes a scramble only when the user's password is cached; else it wants the whole of it.
func (p *Peer) checkSHA2(scrambleRight bool) (bool, error) {
	state := &p.server.sha2
	state.mu.Lock()
	cached := state.cached[p.Login.User]
	state.mu.Unlock()
	if cached && scrambleRight {
		return true, p.WritePacket(wire.AppendAuthMore(nil, wire.Sha2FastOK))
	}
	password, err := p.wholePassword()
	if err != nil {
		return false, err
	}
	right := password == p.server.script.Password
	if right {
		state.mu.Lock()
		if state.cached == nil {
			state.cached = map[string]bool{}
		}
		state.cached[p.Login.User] = true
		state.mu.Unlock()
	}
	return right, nil
}

// wholePassword has the client ask for the key and send the password under it.
func (p *Peer) wholePassword() (string, error) {
	key, err := p.server.sha2.keyPair()
	if err != nil {
		return "", err
	}
	if err := p.WritePacket(wire.AppendAuthMore(nil, wire.Sha2FullNeeded)); err != nil {
		return "", err
	}
	ask, err := p.ReadPacket(maxPacket)
	if err != nil {
		return "", err
	}
	if len(ask) != 1 || ask[0] != wire.Sha2WantPublicKey {
		return "", fmt.Errorf("%w: got %x, want a request for the public key", wire.ErrMalformed, ask)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return "", err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	if err := p.WritePacket(wire.AppendAuthMore(nil, text...)); err != nil {
		return "", err
	}
	secret, err := p.ReadPacket(maxPacket)
	if err != nil {
		return "", err
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, key, secret, nil)
	if err != nil {
		return "", err
	}
	for i := range plain {
		plain[i] ^= p.Salt[i%len(p.Salt)]
	}
	return string(bytes.TrimSuffix(plain, []byte{0})), nil
}

func (s *sha2State) keyPair() (*rsa.PrivateKey, error) {
	s.once.Do(func() { s.key, s.err = rsa.GenerateKey(rand.Reader, 2048) })
	return s.key, s.err
}
