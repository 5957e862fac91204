package proxy_test

import (
	"testing"

	"github.com/conntag/conntag/attribution"
)

// caller is one caller's account as of now.
func caller(t testing.TB, h *house, name string) attribution.Caller {
	t.Helper()
	for _, c := range h.Snapshot().Pools[0].Ledger.Callers {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no account of %q", name)
	return attribution.Caller{}
}
