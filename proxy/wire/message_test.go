package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// noNUL are texts that a NUL may end.
var noNUL = rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 }))

func drawSalt(t *rapid.T) (salt [SaltLen]byte) {
	copy(salt[:], rapid.SliceOfN(rapid.ByteRange(1, 255), SaltLen, SaltLen).Draw(t, "salt"))
	return salt
}

func drawAttrs(t *rapid.T) []Attr {
	attr := rapid.Custom(func(t *rapid.T) Attr {
		return Attr{rapid.String().Draw(t, "name"), rapid.StringN(0, 300, -1).Draw(t, "value")}
	})
	return rapid.SliceOfN(attr, 0, 8).Draw(t, "attrs")
}

func same(t *rapid.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

func TestGreetingsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Greeting{
			Version:      noNUL.Draw(t, "version"),
			ConnectionID: rapid.Uint32().Draw(t, "id"),
			Salt:         drawSalt(t),
			Capabilities: Capability(rapid.Uint32().Draw(t, "capabilities")) | PluginAuth,
			Collation:    rapid.Byte().Draw(t, "collation"),
			Status:       Status(rapid.Uint16().Draw(t, "status")),
			Plugin:       noNUL.Draw(t, "plugin"),
		}
		got, err := ParseGreeting(want.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		same(t, *got, want)
	})
}

func TestLoginsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Login{
			Capabilities: Capability(rapid.Uint32().Draw(t, "capabilities")) | needed,
			MaxPacket:    rapid.Uint32().Draw(t, "maxPacket"),
			Collation:    rapid.Byte().Draw(t, "collation"),
			User:         noNUL.Draw(t, "user"),
		}
		longest := 255
		if want.Capabilities.Has(PluginAuthLenenc) {
			longest = 1000
		}
		want.AuthResponse = rapid.SliceOfN(rapid.Byte(), 0, longest).Draw(t, "response")
		if want.Capabilities.Has(ConnectWithDB) {
			want.Schema = noNUL.Draw(t, "schema")
		}
		if want.Capabilities.Has(PluginAuth) {
			want.Plugin = noNUL.Draw(t, "plugin")
		}
		if want.Capabilities.Has(ConnectAttrs) {
			want.Attrs = drawAttrs(t)
		}
		offered := Capability(rapid.Uint32().Draw(t, "offered"))
		got, err := ParseLogin(want.Append(nil), offered)
		if err != nil {
			t.Fatal(err)
		}
		want.Compresses = want.Capabilities.Compression() != (want.Capabilities & offered).Compression()
		want.Capabilities &= offered
		same(t, *got, want)
	})
}

func TestErrorsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := ServerError{
			Code:    rapid.Uint16().Draw(t, "code"),
			State:   rapid.StringMatching(`[0-9A-Z]{5}`).Draw(t, "state"),
			Message: rapid.String().Draw(t, "message"),
		}
		p := want.Append(nil)
		same(t, *ParseErr(p), want)
		if ErrCode(p) != want.Code {
			t.Fatalf("code %d, want %d", ErrCode(p), want.Code)
		}
	})
}

// An OK is written anew over the packet it was read from, where the relay's buffer has no other room.
func TestOKsShrinkInPlaceForClientsThatDoNotTrack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(ShapeOK, 1, true)
		want := drawOK(t, Status(rapid.Uint16().Draw(t, "status")))
		s.ok(want)
		p := s.bytes[HeaderLen:]
		ok, valid := ParseOK(p, true)
		if !valid {
			t.Fatal("not an OK")
		}
		if want.Status&StatusSessionState == 0 {
			want.State = nil
		}
		same(t, ok, want)
		tracks := rapid.Bool().Draw(t, "the client tracks")
		if !tracks {
			ok.State, want.State = nil, nil
		}
		short := ok.AppendOK(p[:0])
		if len(short) > len(p) {
			t.Fatalf("%d bytes grew to %d", len(p), len(short))
		}
		got, valid := ParseOK(short, tracks)
		if !valid {
			t.Fatal("not an OK any more")
		}
		if len(want.State) == 0 {
			want.Status &^= StatusSessionState
		}
		same(t, got, want)
	})
}

func TestAuthStepsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := AuthStep{Plugin: noNUL.Draw(t, "plugin")}
		salt := drawSalt(t)
		want.Data = salt[:]
		got, ok := ParseAuthStep(AppendAuthSwitch(nil, want.Plugin, salt))
		if !ok {
			t.Fatal("no step")
		}
		same(t, got, want)
		more := AuthStep{Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data")}
		if got, ok = ParseAuthStep(AppendAuthMore(nil, more.Data...)); !ok {
			t.Fatal("no step")
		}
		same(t, got, more)
	})
}

func TestTracksAreReadInOrder(t *testing.T) {
	entry := func(kind TrackKind, fields ...string) []byte {
		var p []byte
		for _, f := range fields {
			p = AppendLenString(p, f)
		}
		return AppendLenString([]byte{byte(kind)}, string(p))
	}
	state := bytes.Join([][]byte{
		entry(TrackSystemVariable, "autocommit", "OFF", "sql_mode", ""), // two in one entry, as MariaDB does
		entry(TrackSchema, strings.Repeat("s", 300)),
		entry(TrackSchema, ""),
		AppendLenString([]byte{byte(TrackStateChange)}, "1"),
		AppendLenString([]byte{byte(TrackGTIDs)}, "\x00\x03a:1"),
		entry(TrackTransaction, "START TRANSACTION READ ONLY;"),
		entry(TrackTransactionFlag, "T_______"),
	}, nil)
	want := []string{"0 autocommit=OFF", "0 sql_mode=", "1 =" + strings.Repeat("s", 300), "1 =", "2 =1", "3 =a:1",
		"4 =START TRANSACTION READ ONLY;", "5 =T_______"}
	var got []string
	for tracks := NewTracks(state); ; {
		track, ok := tracks.Next()
		if !ok {
			break
		}
		got = append(got, string('0'+rune(track.Kind))+" "+string(track.Name)+"="+string(track.Value))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Layouts as servers and clients of the field write them.
func TestMessagesOfOldPeersAreUnderstood(t *testing.T) {
	full := Greeting{Version: "5.5.9", Salt: [SaltLen]byte{1, 2, 3}, Capabilities: needed | PluginAuth, Plugin: "mysql_native_password"}
	p := full.Append(nil)
	if g, err := ParseGreeting(p[:len(p)-1]); err != nil || g.Plugin != full.Plugin {
		t.Errorf("plugin without NUL: got %+v, %v", g, err)
	}
	old := Greeting{Version: "5.1.73", Capabilities: needed}
	p = old.Append(nil)
	if g, err := ParseGreeting(p[:len(p)-1]); err != nil || g.Plugin != "" {
		t.Errorf("no plugin: got %+v, %v", g, err)
	}
	if _, err := ParseGreeting([]byte{9, '3', '.', '2', 0}); !errors.Is(err, ErrMalformed) {
		t.Errorf("protocol 9: got %v", err)
	}
	var refused *ServerError
	if _, err := ParseGreeting([]byte("\xff\x10\x04Too many connections")); !errors.As(err, &refused) || refused.Code != 1040 || refused.Message != "Too many connections" {
		t.Errorf("refusal in place of a greeting: got %v", err)
	}
	login := Login{Capabilities: needed | ConnectWithDB | PluginAuth | ConnectAttrs, User: "u"}
	p = login.Append(nil)
	for cut := range 4 { // attributes, plugin, its NUL and the schema may be missing
		if _, err := ParseLogin(p[:len(p)-cut], login.Capabilities); err != nil {
			t.Errorf("without the last %d bytes: %v", cut, err)
		}
	}
	if _, err := ParseLogin((&Login{Capabilities: SecureConnection}).Append(nil), needed); !errors.Is(err, ErrMalformed) {
		t.Errorf("protocol before 4.1: got %v", err)
	}
	if _, ok := ParseAuthStep([]byte{0xfe}); ok {
		t.Error("a switch to the passwords before 4.1 is no step that we know")
	}
}
