package wire

// Header bytes of the packets that a login consists of after the first exchange.
// Source: dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html.
const (
	authMore   byte = 0x01
	authSwitch byte = 0xfe
)

// What caching_sha2_password says inside an AuthMoreData packet, and what a client may ask.
const (
	Sha2FastOK        byte = 0x03 // the scramble was enough
	Sha2FullNeeded    byte = 0x04 // send the password: plain over TLS, else under the public key
	Sha2WantPublicKey byte = 0x02 // client: send the public key
)

// AppendAuthSwitch encodes a request to start over with another plugin and a fresh salt.
func AppendAuthSwitch(dst []byte, plugin string, salt [SaltLen]byte) []byte {
	dst = append(append(append(dst, authSwitch), plugin...), 0)
	return append(append(dst, salt[:]...), 0)
}

// AppendAuthMore encodes data that the plugin's own exchange defines.
func AppendAuthMore(dst []byte, data ...byte) []byte {
	return append(append(dst, authMore), data...)
}

// AuthStep is what a server answers during a login: a switch to Plugin with Data as salt, or more Data for the
// present plugin (Plugin empty). OK and ERR are not steps.
type AuthStep struct {
	Plugin string
	Data   []byte
}

// ParseAuthStep decodes an AuthSwitchRequest or AuthMoreData packet; ok is false for any other packet.
func ParseAuthStep(p []byte) (step AuthStep, ok bool) {
	if len(p) == 0 {
		return AuthStep{}, false
	}
	switch p[0] {
	case authMore:
		return AuthStep{Data: p[1:]}, true
	case authSwitch:
		r := reader{p: p[1:]}
		step.Plugin = string(r.nulBytes())
		step.Data = r.rest()
		if n := len(step.Data); n > 0 && step.Data[n-1] == 0 {
			step.Data = step.Data[:n-1]
		}
		return step, !r.bad
	}
	return AuthStep{}, false
}
