package wire

import (
	"encoding/binary"
	"fmt"
)

// SaltLen is the length of the random bytes that a password is scrambled with.
const SaltLen = 20

// Greeting is the server's first packet, protocol version 10.
type Greeting struct {
	Version      string
	ConnectionID uint32
	Salt         [SaltLen]byte
	Capabilities Capability
	Collation    byte
	Status       Status
	Plugin       string
}

// Append encodes g after dst.
func (g *Greeting) Append(dst []byte) []byte {
	dst = append(append(dst, 10), g.Version...)
	dst = binary.LittleEndian.AppendUint32(append(dst, 0), g.ConnectionID)
	dst = append(append(dst, g.Salt[:8]...), 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Capabilities))
	dst = append(dst, g.Collation)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Status))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Capabilities>>16))
	dst = append(dst, SaltLen+1)
	dst = append(dst, make([]byte, 10)...)
	dst = append(append(dst, g.Salt[8:]...), 0)
	return append(append(dst, g.Plugin...), 0)
}

// ParseGreeting decodes a greeting. An ERR packet in its place comes back as *ServerError.
func ParseGreeting(p []byte) (*Greeting, error) {
	if len(p) > 0 && p[0] == ErrHeader {
		return nil, ParseErr(p)
	}
	r := reader{p: p}
	if v := r.byte(); v != 10 && !r.bad {
		return nil, fmt.Errorf("%w: greeting has protocol version %d, want 10", ErrMalformed, v)
	}
	g := &Greeting{Version: string(r.nulBytes()), ConnectionID: r.uint32()}
	copy(g.Salt[:8], r.take(8))
	r.byte()
	g.Capabilities = Capability(r.uint16())
	g.Collation = r.byte()
	g.Status = Status(r.uint16())
	g.Capabilities |= Capability(r.uint16()) << 16
	saltLen := int(r.byte())
	r.take(10)
	copy(g.Salt[8:], r.take(max(13, saltLen-8)))
	if g.Capabilities.Has(PluginAuth) {
		g.Plugin = string(r.nulOrRest()) // MySQL 5.5 before 5.5.10 leaves the NUL out
	}
	if r.bad {
		return nil, fmt.Errorf("%w: greeting ends early", ErrMalformed)
	}
	return g, nil
}
