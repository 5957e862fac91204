package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
)

// source is a net.Conn whose peer said all it will ever say.
type source struct {
	net.Conn
	*bytes.Reader
}

func (s source) Read(p []byte) (int, error) { return s.Reader.Read(p) }

func reading(text []byte) *Conn { return &Conn{Conn: source{Reader: bytes.NewReader(text)}} }

func TestPacketsAreSplitAt16MiB(t *testing.T) {
	payload := make([]byte, 2*MaxPayload+1)
	for i := range payload {
		payload[i] = byte(i >> 16)
	}
	for size, want := range map[int][]int{
		0:                {0},
		1:                {1},
		MaxPayload - 1:   {MaxPayload - 1},
		MaxPayload:       {MaxPayload, 0},
		MaxPayload + 1:   {MaxPayload, 1},
		2 * MaxPayload:   {MaxPayload, MaxPayload, 0},
		2*MaxPayload + 1: {MaxPayload, MaxPayload, 1},
	} {
		out, next := AppendPacket(nil, 254, payload[:size])
		if next != byte(254+len(want)) {
			t.Errorf("%d bytes: next number %d, want %d", size, next, byte(254+len(want)))
		}
		rest := out
		for i, n := range want {
			if got := PayloadLen(rest); got != n || rest[3] != byte(254+i) {
				t.Fatalf("%d bytes: packet %d has length %d and number %d, want %d and %d", size, i, got, rest[3], n, byte(254+i))
			}
			rest = rest[HeaderLen+n:]
		}
		if len(rest) != 0 {
			t.Errorf("%d bytes: %d bytes too many", size, len(rest))
		}
		c := reading(append(out, "next"...))
		c.Seq = 254
		p, err := c.ReadPacket(len(payload))
		if err != nil || !bytes.Equal(p, payload[:size]) {
			t.Fatalf("%d bytes: read %d bytes back, error %v", size, len(p), err)
		}
		if left := c.Conn.(source).Len(); left != len("next") || c.Seq != next {
			t.Errorf("%d bytes: reader took %d bytes beyond the packet, next number %d", size, len("next")-left, c.Seq)
		}
	}
}

func TestConnSaysWhyAPacketCannotBeRead(t *testing.T) {
	long, _ := AppendPacket(nil, 0, make([]byte, MaxPayload))
	cases := map[string]struct {
		text []byte
		want error
	}{
		"closed":                  {nil, io.EOF},
		"half a header":           {[]byte{1, 0}, io.ErrUnexpectedEOF},
		"no payload":              {[]byte{1, 0, 0, 0}, io.ErrUnexpectedEOF},
		"half a payload":          {[]byte{2, 0, 0, 0, 1}, io.ErrUnexpectedEOF},
		"wrong number":            {[]byte{1, 0, 0, 1, 1}, ErrSequence},
		"over the limit":          {[]byte{0, 0, 2, 0}, ErrPacketTooLarge},
		"continued over limit":    {append(long[:HeaderLen+MaxPayload:HeaderLen+MaxPayload], 2, 0, 0, 1, 1, 1), ErrPacketTooLarge},
		"continuation is missing": {long[:HeaderLen+MaxPayload], io.ErrUnexpectedEOF},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			limit := 100 << 10
			if len(c.text) > MaxPayload {
				limit = MaxPayload + 1
			}
			if _, err := reading(c.text).ReadPacket(limit); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestConnWritesWhatItReads(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	go func() {
		w := Conn{Conn: a, Seq: 3}
		_ = w.WritePacket([]byte("one")) // a failure shows at the reader
		_ = w.WritePacket(nil)
	}()
	r := Conn{Conn: b, Seq: 3}
	for _, want := range []string{"one", ""} {
		p, err := r.ReadPacket(10)
		if err != nil || string(p) != want {
			t.Fatalf("got %q, %v; want %q", p, err, want)
		}
	}
	if r.Seq != 5 {
		t.Errorf("next number %d, want 5", r.Seq)
	}
}
