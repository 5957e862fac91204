package wire

import (
	"encoding/binary"
	"fmt"
)

// Attr is one connection attribute, such as program_name.
type Attr struct{ Name, Value string }

// Login is the client's answer to the greeting (HandshakeResponse41).
type Login struct {
	Capabilities Capability
	MaxPacket    uint32
	Collation    byte
	User         string
	AuthResponse []byte
	Schema       string
	Plugin       string
	Attrs        []Attr
	// ZstdLevel is how hard a client that compresses with zstd wants its bytes compressed, 1 to 22; 0 is no wish.
	ZstdLevel byte
	// Compresses says that the client will compress in a way that was not offered: mysqlnd does so if told to.
	Compresses bool
}

// sslRequestLen is the length of the short packet with which a client asks for TLS before it says its name.
const sslRequestLen = 32

// IsSSLRequest reports whether p is the short form that asks for TLS.
func IsSSLRequest(p []byte) bool {
	return len(p) == sslRequestLen && Capability(binary.LittleEndian.Uint32(p)).Has(SSL)
}

// AppendSSLRequest encodes the short form of l.
func (l *Login) AppendSSLRequest(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(l.Capabilities|SSL))
	dst = binary.LittleEndian.AppendUint32(dst, l.MaxPacket)
	return append(append(dst, l.Collation), make([]byte, 23)...)
}

// Append encodes l after dst.
func (l *Login) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(l.Capabilities))
	dst = binary.LittleEndian.AppendUint32(dst, l.MaxPacket)
	dst = append(append(dst, l.Collation), make([]byte, 23)...)
	dst = append(append(dst, l.User...), 0)
	if l.Capabilities.Has(PluginAuthLenenc) {
		dst = AppendLenInt(dst, uint64(len(l.AuthResponse)))
	} else {
		dst = append(dst, byte(len(l.AuthResponse)))
	}
	dst = append(dst, l.AuthResponse...)
	if l.Capabilities.Has(ConnectWithDB) {
		dst = append(append(dst, l.Schema...), 0)
	}
	if l.Capabilities.Has(PluginAuth) {
		dst = append(append(dst, l.Plugin...), 0)
	}
	if l.Capabilities.Has(ConnectAttrs) {
		dst = appendAttrs(dst, l.Attrs)
	}
	if l.Capabilities.Has(ZstdCompression) {
		dst = append(dst, l.ZstdLevel)
	}
	return dst
}

func appendAttrs(dst []byte, attrs []Attr) []byte {
	var all []byte
	for _, a := range attrs {
		all = AppendLenString(AppendLenString(all, a.Name), a.Value)
	}
	return append(AppendLenInt(dst, uint64(len(all))), all...)
}

// ParseLogin decodes a login whose client was offered the capabilities offered; what it claims beyond is ignored,
// as servers do, except where the claim changes the packet's own layout.
func ParseLogin(p []byte, offered Capability) (*Login, error) {
	r := reader{p: p}
	l := &Login{Capabilities: Capability(r.uint32())}
	if !r.bad && !l.Capabilities.Has(needed) {
		return nil, fmt.Errorf("%w: client does not speak protocol 4.1 with secure passwords", ErrMalformed)
	}
	l.MaxPacket = r.uint32()
	l.Collation = r.byte()
	r.take(23)
	l.User = string(r.nulBytes())
	if l.Capabilities.Has(PluginAuthLenenc) {
		l.AuthResponse = append(l.AuthResponse, r.lenBytes()...)
	} else {
		l.AuthResponse = append(l.AuthResponse, r.take(int(r.byte()))...)
	}
	if l.Capabilities.Has(ConnectWithDB) && len(r.p) > 0 {
		l.Schema = string(r.nulBytes())
	}
	if l.Capabilities.Has(PluginAuth) && len(r.p) > 0 {
		l.Plugin = string(r.nulOrRest())
	}
	if r.bad {
		return nil, fmt.Errorf("%w: login ends early", ErrMalformed)
	}
	if l.Capabilities.Has(ConnectAttrs) && len(r.p) > 0 {
		l.Attrs = parseAttrs(&r)
	}
	if l.Capabilities.Has(ZstdCompression) && len(r.p) > 0 {
		l.ZstdLevel = r.byte()
	}
	l.Compresses = l.Capabilities.Compression() != (l.Capabilities & offered).Compression()
	l.Capabilities &= offered
	return l, nil
}

// nulOrRest takes up to a NUL, or all that is left: some clients send the plugin's name without its NUL.
func (r *reader) nulOrRest() []byte {
	for i, b := range r.p {
		if b == 0 {
			s := r.take(i)
			r.take(1)
			return s
		}
	}
	return r.rest()
}

// parseAttrs reads the attributes as far as they are well formed: a client with broken ones may still log in.
func parseAttrs(r *reader) []Attr {
	in := reader{p: r.lenBytes()}
	var attrs []Attr
	for len(in.p) > 0 {
		a := Attr{Name: string(in.lenBytes()), Value: string(in.lenBytes())}
		if in.bad {
			break
		}
		attrs = append(attrs, a)
	}
	return attrs
}

// ChangeUser is the payload of COM_CHANGE_USER without its command byte.
type ChangeUser struct {
	User         string
	AuthResponse []byte
	Schema       string
	Collation    uint16
	Plugin       string
	Attrs        []Attr
}

// ParseChangeUser decodes p, which starts after the command byte. Everything after the schema may be missing.
func ParseChangeUser(p []byte, caps Capability) (*ChangeUser, error) {
	r := reader{p: p}
	c := &ChangeUser{User: string(r.nulBytes())}
	c.AuthResponse = append(c.AuthResponse, r.take(int(r.byte()))...)
	c.Schema = string(r.nulBytes())
	if r.bad {
		return nil, fmt.Errorf("%w: COM_CHANGE_USER ends early", ErrMalformed)
	}
	if len(r.p) >= 2 {
		c.Collation = r.uint16()
	}
	if caps.Has(PluginAuth) && len(r.p) > 0 {
		c.Plugin = string(r.nulOrRest())
	}
	if caps.Has(ConnectAttrs) && len(r.p) > 0 {
		c.Attrs = parseAttrs(&r)
	}
	return c, nil
}
