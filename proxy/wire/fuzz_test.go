package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const anyCapability = ^Capability(0)

func equal(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

func FuzzParseGreeting(f *testing.F) {
	g := Greeting{Version: "8.0.36", ConnectionID: 7, Capabilities: anyCapability, Collation: 255, Plugin: "caching_sha2_password"}
	f.Add(g.Append(nil))
	f.Add((&Greeting{Version: "5.1", Capabilities: needed}).Append(nil))
	f.Add([]byte("\xff\x10\x04Too many connections"))
	f.Fuzz(func(t *testing.T, p []byte) {
		g, err := ParseGreeting(p)
		if err != nil {
			if refused := (*ServerError)(nil); !errors.Is(err, ErrMalformed) && !errors.As(err, &refused) {
				t.Fatalf("unnamed error %v", err)
			}
			return
		}
		again, err := ParseGreeting(g.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, again, g)
	})
}

func FuzzParseLogin(f *testing.F) {
	l := Login{Capabilities: anyCapability, MaxPacket: 1 << 24, Collation: 45, User: "app", AuthResponse: make([]byte, 20),
		Schema: "shop", Plugin: "mysql_native_password", Attrs: []Attr{{"program_name", "web"}}}
	f.Add(l.Append(nil))
	f.Add(l.AppendSSLRequest(nil))
	l.Capabilities = needed
	f.Add(l.Append(nil))
	f.Fuzz(func(t *testing.T, p []byte) {
		if IsSSLRequest(p) && len(p) != sslRequestLen {
			t.Fatal("a TLS request of another length")
		}
		l, err := ParseLogin(p, anyCapability)
		if err != nil {
			return
		}
		again, err := ParseLogin(l.Append(nil), anyCapability)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, again, l)
	})
}

func FuzzParseChangeUser(f *testing.F) {
	f.Add([]byte("app\x00\x03abcshop\x00\x2d\x00mysql_native_password\x00\x06\x01a\x03web"), uint32(anyCapability))
	f.Add([]byte("app\x00\x00\x00"), uint32(0))
	f.Fuzz(func(t *testing.T, p []byte, caps uint32) {
		c, err := ParseChangeUser(p, Capability(caps))
		if err != nil {
			return
		}
		size := len(c.User) + len(c.AuthResponse) + len(c.Schema) + len(c.Plugin)
		for _, a := range c.Attrs {
			size += len(a.Name) + len(a.Value)
		}
		if size > len(p) {
			t.Fatalf("%d bytes out of %d", size, len(p))
		}
	})
}

func FuzzParseOK(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0}, true)
	f.Add([]byte("\x00\x01\xfc\x01\x01\x02\x40\x00\x00\x03abc\x04\x01\x02\x01x"), true)
	f.Add([]byte("\x00\xfe\x01\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01\x00\x0fRows matched: 1"), false)
	f.Fuzz(func(t *testing.T, p []byte, tracked bool) {
		ok, valid := ParseOK(bytes.Clone(p), tracked)
		if !valid {
			return
		}
		want := ok
		want.Info, want.State = bytes.Clone(ok.Info), bytes.Clone(ok.State)
		if len(want.State) == 0 {
			want.Status &^= StatusSessionState
		}
		// ok's fields are slices of a packet: writing over that packet must not spoil them.
		in := bytes.Clone(p)
		ok, _ = ParseOK(in, tracked)
		short := ok.AppendOK(in[:0])
		if len(short) > len(p) {
			t.Fatalf("%d bytes grew to %d", len(p), len(short))
		}
		got, valid := ParseOK(short, tracked)
		if !valid {
			t.Fatal("not an OK any more")
		}
		equal(t, got, want)
	})
}

func FuzzParseErr(f *testing.F) {
	f.Add([]byte("\xff\x15\x04#28000Access denied"))
	f.Add([]byte("\xff\x10\x04Too many connections"))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, p []byte) {
		e := ParseErr(p)
		if len(e.State) != 5 {
			t.Fatalf("state %q", e.State)
		}
		if len(p) >= 3 && e.Code != ErrCode(p) {
			t.Fatalf("codes %d and %d", e.Code, ErrCode(p))
		}
		equal(t, ParseErr(e.Append(nil)), e)
	})
}

func FuzzParseAuthStep(f *testing.F) {
	f.Add(AppendAuthSwitch(nil, "mysql_native_password", [SaltLen]byte{1}))
	f.Add(AppendAuthMore(nil, Sha2FullNeeded))
	f.Add([]byte{authSwitch})
	f.Fuzz(func(t *testing.T, p []byte) {
		step, ok := ParseAuthStep(p)
		if !ok {
			return
		}
		if len(step.Plugin)+len(step.Data) >= len(p) {
			t.Fatalf("%q and %d bytes out of %d", step.Plugin, len(step.Data), len(p))
		}
		if step.Plugin == "" && p[0] == authMore {
			again, _ := ParseAuthStep(AppendAuthMore(nil, step.Data...))
			equal(t, again, step)
		}
	})
}

func FuzzTracks(f *testing.F) {
	f.Add([]byte("\x00\x0f\x0aautocommit\x03OFF\x01\x05\x04shop\x02\x01\x31\x05\x09\x08T_______"))
	f.Add([]byte("\x03\x05\x00\x03a:1"))
	f.Add([]byte{0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, state []byte) {
		size := 0
		for tracks := NewTracks(state); ; {
			track, ok := tracks.Next()
			if !ok {
				if _, ok = tracks.Next(); ok {
					t.Fatal("goes on after its end")
				}
				return
			}
			if size += 1 + len(track.Name) + len(track.Value); size > len(state) {
				t.Fatalf("%d bytes out of %d", size, len(state))
			}
		}
	})
}

func FuzzReadPacket(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 'a', 0xff}, byte(0))
	f.Add([]byte{0, 0, 0, 9}, byte(9))
	f.Add([]byte{0xff, 0xff, 0xff, 0}, byte(0))
	f.Fuzz(func(t *testing.T, text []byte, seq byte) {
		c := reading(text)
		c.Seq = seq
		p, err := c.ReadPacket(1 << 16)
		if err != nil {
			return
		}
		took := text[:len(text)-c.Conn.(source).Len()]
		framed, next := AppendPacket(nil, seq, p)
		if !bytes.Equal(framed, took) || next != c.Seq {
			t.Fatalf("took %x for %x", took, framed)
		}
	})
}

func FuzzReply(f *testing.F) {
	f.Add(pointSelect(), byte(ShapeResults), true, uint64(0x0101))
	prepared := newScript(ShapePrepare, 1, false)
	prepared.event(EventPrepared, []byte{0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0})
	prepared.definitions(1)
	prepared.interimEOF(0)
	prepared.definitions(1)
	prepared.interimEOF(0)
	f.Add(prepared.bytes, byte(ShapePrepare), false, uint64(3))
	f.Add([]byte{5, 0, 0, 1, 0xfb, 'f', 'i', 'l', 'e', 7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0}, byte(ShapeResults), false, uint64(1))
	f.Add([]byte{9, 0, 0, 1, 0xff, 1, 4, '#', 'H', 'Y', '0', '0', '0'}, byte(ShapeString), true, uint64(2))
	f.Fuzz(func(t *testing.T, text []byte, shape byte, tracked bool, cuts uint64) {
		shape %= byte(ShapeString) + 1
		whole, settled := walkAnything(t, text, Shape(shape), tracked, func() int { return len(text) })
		chunk := cuts
		pieces, settledInPieces := walkAnything(t, text, Shape(shape), tracked, func() int {
			chunk = chunk>>4 | chunk<<60
			return int(chunk&0xf) + 1
		})
		if settled != settledInPieces {
			t.Fatalf("settles %d bytes at once and %d in pieces", settled, settledInPieces)
		}
		equal(t, pieces, whole)
	})
}

// walkAnything is follow for bytes that may be no reply.
func walkAnything(t *testing.T, text []byte, shape Shape, tracked bool, cut func() int) (events []Event, settled int) {
	r := NewReply(shape, 1, tracked)
	for from, to := 0, 0; ; {
		n, ev := r.Next(text[from:to])
		if n < 0 || n > to-from {
			t.Fatalf("settled %d of %d bytes", n, to-from)
		}
		from += n
		switch ev {
		case EventMore:
			if to == len(text) {
				return events, from
			}
			to = min(len(text), to+cut())
			continue
		case EventBad:
			return append(events, ev), from
		case EventEnd:
			if !r.Done() {
				t.Fatal("an end that is none")
			}
		default:
			if p := r.Packet(text[:from]); len(p) == 0 {
				t.Fatalf("event %d without a packet", ev)
			}
		}
		events = append(events, ev)
		if r.Done() {
			return events, from
		}
	}
}
