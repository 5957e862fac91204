package proxy

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
)

// credential is one configured user: how a client proves to be it, and what stands behind it at the backend.
type credential struct {
	cfg      User
	secret   *secret
	networks networks
	open     atomic.Int64 // sessions logged in
}

func newCredential(u User) (*credential, error) {
	c := &credential{cfg: u, secret: &secret{plain: u.Password, hasPlain: true}}
	if u.AuthString != "" {
		s, err := parseAuthString(u.AuthString)
		if err != nil {
			return nil, err
		}
		c.secret = s
	}
	var err error
	c.networks, err = parseNetworks(u.Networks)
	return c, err
}

// allows reports whether a client may come from addr; a unix socket has no address and is local.
func (c *credential) allows(addr netip.Addr) bool {
	return len(c.networks) == 0 || !addr.IsValid() || c.networks.contain(addr)
}

// plugin is what this user must log in with; empty when either will do.
func (c *credential) plugin() string {
	switch {
	case c.cfg.AuthPlugin != "":
		return c.cfg.AuthPlugin
	case c.secret.native != nil:
		return mysql.AUTH_NATIVE_PASSWORD
	case c.secret.crypt != nil:
		return mysql.AUTH_CACHING_SHA2_PASSWORD
	}
	return ""
}

// kind is the login at the backend.
func (c *credential) kind(caps wire.Capability) kind {
	k := kind{user: c.cfg.BackendUser, password: c.cfg.BackendPassword, caps: caps & kindCaps}
	if k.user == "" {
		k.user, k.password = c.cfg.Name, c.cfg.Password
	}
	return k
}

// secret is what a password is checked against: the plain text, or one of the two hashes that mysql.user keeps.
type secret struct {
	plain    string
	hasPlain bool
	native   []byte // SHA1(SHA1(password))
	crypt    *sha2Hash
	// fast is SHA256(SHA256(password)), known once somebody has logged in with the whole password.
	fast atomic.Pointer[[sha256.Size]byte]
}

// sha2Hash is what caching_sha2_password keeps of a password: "$A$", thousands of rounds as three hex digits, "$",
// 20 bytes of salt and 43 characters of digest.
// Source: dev.mysql.com/doc/refman/8.4/en/caching-sha2-pluggable-authentication.html (digest rounds).
type sha2Hash struct {
	salt, digest []byte
	rounds       int
}

func parseSHA2Hash(s string) (*sha2Hash, bool) {
	const head, saltLen, digestLen = len("$A$005$"), 20, 43
	if len(s) != head+saltLen+digestLen || s[:3] != "$A$" || s[head-1] != '$' {
		return nil, false
	}
	thousands, err := strconv.ParseUint(s[3:head-1], 16, 12)
	if err != nil || thousands == 0 {
		return nil, false
	}
	return &sha2Hash{salt: []byte(s[head : head+saltLen]), digest: []byte(s[head+saltLen:]), rounds: int(thousands) * 1000}, true
}

// parseAuthString reads an authentication_string of mysql.user.
func parseAuthString(s string) (*secret, error) {
	if strings.HasPrefix(s, "*") && len(s) == 41 {
		if raw, err := hex.DecodeString(s[1:]); err == nil {
			return &secret{native: raw}, nil
		}
	}
	if h, ok := parseSHA2Hash(s); ok {
		return &secret{crypt: h}, nil
	}
	return nil, errors.New(`must be "*" and 40 hex digits (mysql_native_password) or "$A$005$…" of 70 characters (caching_sha2_password)`)
}

// checkNative verifies a mysql_native_password scramble.
func (s *secret) checkNative(salt, response []byte) bool {
	if s.hasPlain {
		return subtle.ConstantTimeCompare(mysql.CalcNativePassword(salt, []byte(s.plain)), response) == 1
	}
	if len(response) != sha1.Size || s.native == nil {
		return false
	}
	mask := sha1.Sum(append(bytes.Clone(salt), s.native...))
	stage1 := make([]byte, sha1.Size)
	subtle.XORBytes(stage1, response, mask[:])
	stage2 := sha1.Sum(stage1)
	return subtle.ConstantTimeCompare(stage2[:], s.native) == 1
}

// checkFast verifies a caching_sha2_password scramble; known is false when only the whole password can tell.
func (s *secret) checkFast(salt, response []byte) (valid, known bool) {
	if s.hasPlain {
		return subtle.ConstantTimeCompare(mysql.CalcCachingSha2Password(salt, []byte(s.plain)), response) == 1, true
	}
	fast := s.fast.Load()
	if fast == nil {
		return false, false
	}
	if len(response) != sha256.Size {
		return false, true
	}
	mask := sha256.Sum256(append(fast[:], salt...))
	stage1 := make([]byte, sha256.Size)
	subtle.XORBytes(stage1, response, mask[:])
	stage2 := sha256.Sum256(stage1)
	return subtle.ConstantTimeCompare(stage2[:], fast[:]) == 1, true
}

// checkWhole verifies the password itself and remembers what makes the next login fast.
func (s *secret) checkWhole(password string) bool {
	if s.crypt == nil {
		return s.hasPlain && subtle.ConstantTimeCompare([]byte(s.plain), []byte(password)) == 1
	}
	digest := sha256Crypt([]byte(password), s.crypt.salt, s.crypt.rounds)
	if subtle.ConstantTimeCompare(digest, s.crypt.digest) != 1 {
		return false
	}
	once := sha256.Sum256([]byte(password))
	twice := sha256.Sum256(once[:])
	s.fast.Store(&twice)
	return true
}
