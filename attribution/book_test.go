package attribution

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// book is a ledger with one meter whose fallback is user:app.
type book struct {
	*Ledger
	meter    *Meter
	fallback *Account
}

func openBook() book {
	b := book{Ledger: NewLedger(DefaultConfig()), meter: &Meter{}}
	b.fallback = b.account("user:app")
	b.meter.Init(b.Ledger, b.fallback)
	return b
}

func (b book) account(name string) *Account { return b.Account([]byte(name)) }

func (b book) cut(now time.Duration) Snapshot { return b.Cut(now, []*Meter{b.meter}) }

// callerOf finds a caller; the zero Caller when the snapshot has none of that name.
func callerOf(s Snapshot, name string) Caller {
	for _, c := range s.Callers {
		if c.Name == name {
			return c
		}
	}
	return Caller{}
}

func wantHeld(t *testing.T, s Snapshot, name string, p Phase, want time.Duration) {
	t.Helper()
	if got := callerOf(s, name).Held[p]; got != want {
		t.Errorf("%s held %v %v at %v, want %v", name, got, p, s.At, want)
	}
}

func wantTotal(t *testing.T, s Snapshot, name string, want time.Duration) {
	t.Helper()
	c := callerOf(s, name)
	if got := c.TotalHeld(); got != want {
		t.Errorf("%s held %v in total at %v, want %v", name, got, s.At, want)
	}
}

func wantWaited(t *testing.T, s Snapshot, name string, want time.Duration) {
	t.Helper()
	if got := callerOf(s, name).Waited; got != want {
		t.Errorf("%s waited %v at %v, want %v", name, got, s.At, want)
	}
}

func wantCount[N int | uint64](t *testing.T, what string, got, want N) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}
