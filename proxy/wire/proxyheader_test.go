package wire_test

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/conntag/conntag/proxy/wire"
)

const v2 = "\r\n\r\n\x00\r\nQUIT\n"

// proxyHeaders are headers and what they say: an address, "none", "malformed" or "short".
var proxyHeaders = map[string]string{
	"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n":             "192.168.0.1:56324",
	"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n":    "255.255.255.255:65535",
	"PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n":                    "[2001:db8::1]:1",
	"PROXY TCP6 ::ffff:10.1.2.3 ::1 1 2\r\n":                        "10.1.2.3:1",
	"PROXY UNKNOWN\r\n":                                             "none",
	"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n": "none",
	"PROXY UNKNOWN " + strings.Repeat("x", 91) + "\r\n":             "none",
	"PROXY UNKNOWN " + strings.Repeat("x", 92) + "\r\n":             "malformed",
	"PROXY \r\n":                                                                 "malformed",
	"PROXIED TCP4 1.2.3.4 1.2.3.4 1 2\r\n":                                       "malformed",
	"PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n":                                           "malformed",
	"PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n":                                       "malformed",
	"PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n":                                        "malformed",
	"PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n":                                     "malformed",
	"PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n":                                        "malformed",
	"PROXY TCP4 ::1 ::1 1 2\r\n":                                                 "malformed",
	"PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n":                                         "malformed",
	"PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n":                                        "malformed",
	"PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n":                                         "malformed",
	"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n":                                           "short",
	"PROXY TCP4 1.2":                                                             "short",
	v2 + "\x21\x11\x00\x0c" + "\x0a\x00\x00\x01\x0a\x00\x00\x02\x12\x34\x00\x50": "10.0.0.1:4660",
	v2 + "\x21\x11\x00\x0f" + "\x0a\x00\x00\x01\x0a\x00\x00\x02\x12\x34\x00\x50\x04\x00\x00": "10.0.0.1:4660",
	v2 + "\x21\x21\x00\x24" + strings.Repeat("\x20", 32) + "\x00\x01\x00\x02":                "[2020:2020:2020:2020:2020:2020:2020:2020]:1",
	v2 + "\x21\x31\x00\xd8" + strings.Repeat("u", 216):                                       "none",
	v2 + "\x21\x00\x00\x00":                             "none",
	v2 + "\x20\x11\x00\x0c" + strings.Repeat("x", 12):   "none",
	v2 + "\x20\xff\x00\x00":                             "none",
	v2 + "\x21\x11\x00\x0b" + strings.Repeat("x", 11):   "malformed",
	v2 + "\x21\x21\x00\x0c" + strings.Repeat("x", 12):   "malformed",
	v2 + "\x21\x12\x00\x0c" + strings.Repeat("x", 12):   "malformed",
	v2 + "\x11\x11\x00\x0c" + strings.Repeat("x", 12):   "malformed",
	v2 + "\x22\x11\x00\x0c" + strings.Repeat("x", 12):   "malformed",
	v2 + "\x20\x00\x10\x00" + strings.Repeat("x", 4096): "none",
	v2 + "\x20\x00\x10\x01" + strings.Repeat("x", 4097): "malformed",
	"\r\n\r\n\x00\r\nQUIT!\x21\x11\x00\x00":             "malformed",
	v2 + "\x21\x11\x00\x0c" + "\x0a\x00":                "short",
	v2:                                                  "short",
}

func TestProxyHeadersSayWhatTheySay(t *testing.T) {
	for text, want := range proxyHeaders {
		const behind = "and a login"
		in := text
		if want != "short" {
			in += behind
		}
		r := strings.NewReader(in[wire.HeaderLen:])
		addr, err := wire.ReadProxyHeader([]byte(in[:wire.HeaderLen]), r)
		got := addr.String()
		switch {
		case errors.Is(err, wire.ErrProxyHeader):
			got = "malformed"
		case errors.Is(err, io.ErrUnexpectedEOF):
			got = "short"
		case err != nil:
			t.Errorf("%q: %v", text, err)
		case addr == netip.AddrPort{}:
			got = "none"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if err == nil && r.Len() != len(behind) {
			t.Errorf("%q: %d bytes are left of what follows it, want %d", text, r.Len(), len(behind))
		}
		if !wire.BeginsProxyHeader([]byte(text[:wire.HeaderLen])) {
			t.Errorf("%q is not taken for a PROXY header", text)
		}
	}
}

func TestNoLoginLooksLikeAProxyHeader(t *testing.T) {
	for size := range 1 << 24 {
		if wire.BeginsProxyHeader([]byte{byte(size), byte(size >> 8), byte(size >> 16), 1}) {
			t.Fatalf("a login of %d bytes does", size)
		}
	}
}

func FuzzProxyHeader(f *testing.F) {
	for text := range proxyHeaders {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < wire.HeaderLen || !wire.BeginsProxyHeader(in[:wire.HeaderLen]) {
			return
		}
		r := bytes.NewReader(in[wire.HeaderLen:])
		addr, err := wire.ReadProxyHeader(in[:wire.HeaderLen], r)
		if used := len(in) - r.Len(); used > 16+4096 {
			t.Errorf("%d bytes read", used)
		}
		if err != nil && addr.IsValid() {
			t.Errorf("%v and %v", addr, err)
		}
		if err == nil && addr.IsValid() && (addr.Addr().Is4In6() || addr.Addr().Zone() != "") {
			t.Errorf("address %v", addr)
		}
		if err != nil && !errors.Is(err, wire.ErrProxyHeader) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("error %v", err)
		}
	})
}
