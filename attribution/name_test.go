package attribution

import (
	"strings"
	"testing"
)

func TestCleanNameFollowsTheMapping(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, tt := range []struct{ raw, want string }{
		{"checkout_completion", "checkout_completion"},
		{"Projects::BlobController#show", "Projects::BlobController#show"},
		{"a b", "a b"},
		{"naïve✓", "naïve✓"},
		{"na\xefve", InvalidName}, // latin1
		{"\xff\xfe", InvalidName},
		{long + "\xff", InvalidName},
		{"", ""},
		{"  ", ""},
		{"\x00\n", ""},
		{" \u00a0 ", ""},
		{"  a  ", "a"},
		{"\u3000a\u00a0", "a"},
		{" \x00 a \x00 ", "a"},
		{"a\nb", "ab"},
		{"a\x00b\x7fc\u0085d", "abcd"},
		{"a\u202eb\ufeffc", "abc"},
		{`a"b\c`, `a"b\c`},
		{"a=b,c:d;e", "a=b,c:d;e"},
		{long, long[:64]},
		{long[:64], long[:64]},
		{long[:63] + "é", long[:63]},
		{long[:62] + "é", long[:62] + "é"},
		{long[:63] + " yyy", long[:63]},
		{"__other__", "_other__"},
		{InvalidName, "_invalid__"},
		{"_a", "_a"},
		{"_____a", "_a"},
		{"__", "_"},
		{" __a", "_a"},
		{"_\x00_a", "_a"},
	} {
		raw := []byte(tt.raw)
		if got := string(CleanName(raw, nil)); got != tt.want {
			t.Errorf("CleanName(%.80q) = %q, want %q", tt.raw, got, tt.want)
		}
		if string(raw) != tt.raw {
			t.Errorf("CleanName(%.80q) changed it", tt.raw)
		}
		if got := string(CleanName(raw, raw)); got != tt.want {
			t.Errorf("CleanName(%.80q) in place = %q, want %q", tt.raw, got, tt.want)
		}
	}
}

func TestCleanNameAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, maxName)
	for _, raw := range []string{"checkout_completion", "naïve✓", " a\n", "\xff", "__other__", strings.Repeat("é", 5000)} {
		raw := []byte(raw)
		if n := testing.AllocsPerRun(100, func() { CleanName(raw, dst) }); n != 0 {
			t.Errorf("CleanName(%.80q): %v allocations, want 0", raw, n)
		}
	}
}
