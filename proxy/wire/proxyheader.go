package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
)

// A PROXY header is what a load balancer sends ahead of a client's bytes, to say where the client really is.
// Source: haproxy.org/download/2.6/doc/proxy-protocol.txt.

// ErrProxyHeader says that something begins like a PROXY header and is none.
var ErrProxyHeader = errors.New("malformed PROXY header")

const (
	proxyV1       = "PROXY "
	proxyV1Max    = 107 // with its CRLF, by the specification
	proxyV2       = "\r\n\r\n\x00\r\nQUIT\n"
	proxyV2Head   = len(proxyV2) + 4 // version and command, family, two bytes of length
	proxyV2Max    = 4096             // of what follows: addresses and extensions; the specification asks for 520
	proxyV2Local  = 0x20
	proxyV2Remote = 0x21
)

// BeginsProxyHeader tells a PROXY header from a login by the first HeaderLen bytes: as a packet's header, both kinds
// would number the packet other than 1.
func BeginsProxyHeader(first []byte) bool {
	return string(first) == proxyV1[:HeaderLen] || string(first) == proxyV2[:HeaderLen]
}

// ReadProxyHeader reads the rest of a header that begins with first, which is HeaderLen bytes, and not one byte more.
// The address is the client's; it is not valid when the header says that there is none: the balancer speaks for itself
// (a health check), or the client's connection is not over TCP.
func ReadProxyHeader(first []byte, r io.Reader) (netip.AddrPort, error) {
	if first[0] == proxyV1[0] {
		return readProxyV1(first, r)
	}
	return readProxyV2(first, r)
}

// readProxyV1 reads a line byte by byte, since nothing but its end says how long it is.
func readProxyV1(first []byte, r io.Reader) (netip.AddrPort, error) {
	line := append(make([]byte, 0, proxyV1Max), first...)
	for !bytes.HasSuffix(line, []byte("\r\n")) {
		if len(line) == proxyV1Max {
			return netip.AddrPort{}, fmt.Errorf("%w: no end within %d bytes", ErrProxyHeader, proxyV1Max)
		}
		n := len(line)
		if _, err := io.ReadFull(r, line[n:n+1]); err != nil {
			return netip.AddrPort{}, noEOF(err)
		}
		line = line[:n+1]
	}
	return parseProxyV1(line[:len(line)-2])
}

// parseProxyV1 reads "PROXY TCP4 SOURCE DESTINATION SOURCEPORT DESTINATIONPORT".
func parseProxyV1(line []byte) (netip.AddrPort, error) {
	bad := fmt.Errorf("%w: %q", ErrProxyHeader, line)
	f := bytes.Split(line, []byte(" "))
	if len(f) < 2 || string(f[0]) != "PROXY" {
		return netip.AddrPort{}, bad
	}
	family := string(f[1])
	if family == "UNKNOWN" { // what follows is to be ignored
		return netip.AddrPort{}, nil
	}
	if len(f) != 6 || family != "TCP4" && family != "TCP6" {
		return netip.AddrPort{}, bad
	}
	var addrs [2]netip.Addr
	var ports [2]uint16
	for i := range addrs {
		addr, err := netip.ParseAddr(string(f[2+i]))
		if err != nil || addr.Is4() != (family == "TCP4") || addr.Zone() != "" {
			return netip.AddrPort{}, bad
		}
		port, err := strconv.ParseUint(string(f[4+i]), 10, 16)
		if err != nil {
			return netip.AddrPort{}, bad
		}
		addrs[i], ports[i] = addr, uint16(port)
	}
	return netip.AddrPortFrom(addrs[0].Unmap(), ports[0]), nil
}

func readProxyV2(first []byte, r io.Reader) (netip.AddrPort, error) {
	var head [proxyV2Head]byte
	if _, err := io.ReadFull(r, head[copy(head[:], first):]); err != nil {
		return netip.AddrPort{}, noEOF(err)
	}
	if string(head[:len(proxyV2)]) != proxyV2 {
		return netip.AddrPort{}, fmt.Errorf("%w: %q", ErrProxyHeader, head[:])
	}
	n := int(binary.BigEndian.Uint16(head[proxyV2Head-2:]))
	if n > proxyV2Max {
		return netip.AddrPort{}, fmt.Errorf("%w: %d bytes long", ErrProxyHeader, n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return netip.AddrPort{}, noEOF(err)
	}
	return parseProxyV2(head[len(proxyV2)], head[len(proxyV2)+1], body)
}

// parseProxyV2 reads the addresses: source, destination and their ports, by family. Extensions behind them are not read.
func parseProxyV2(command, family byte, body []byte) (netip.AddrPort, error) {
	switch command {
	case proxyV2Local:
		return netip.AddrPort{}, nil
	case proxyV2Remote:
	default:
		return netip.AddrPort{}, fmt.Errorf("%w: version and command %#x", ErrProxyHeader, command)
	}
	size := 0
	switch family {
	case 0x11: // TCP over IPv4
		size = 4
	case 0x21: // TCP over IPv6
		size = 16
	case 0x00, 0x31: // not said, or a unix socket
		return netip.AddrPort{}, nil
	default:
		return netip.AddrPort{}, fmt.Errorf("%w: family %#x", ErrProxyHeader, family)
	}
	if len(body) < 2*size+4 {
		return netip.AddrPort{}, fmt.Errorf("%w: %d bytes of addresses", ErrProxyHeader, len(body))
	}
	addr, _ := netip.AddrFromSlice(body[:size]) // of one of the two sizes
	return netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(body[2*size:])), nil
}
