package attribution

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestNamesBeyondTheCapAreFoldedVisibly(t *testing.T) {
	l := NewLedger(Config{MaxCallers: 2, Callers: []string{"checkout"}})
	a, b := l.Account([]byte("a")), l.Account([]byte("b"))
	for i := range 50 {
		if got := l.Account(fmt.Appendf(nil, "flood%d", i)); got.Name() != OtherName {
			t.Fatalf("flood%d is charged to %s", i, got.Name())
		}
	}
	if l.Account([]byte("a")) != a || l.Account([]byte("b")) != b {
		t.Error("the flood pushed out a caller that was there")
	}
	if got := l.Account([]byte("checkout")).Name(); got != "checkout" {
		t.Errorf("the configured caller is charged to %s", got)
	}
	s := l.Cut(0, nil)
	wantCount(t, "folded", s.Folded, 50)
	wantCount(t, "accounts", len(s.Callers), 4) // a, b, checkout, __other__
}

func TestConfiguredCallersStandAtZeroFromTheStart(t *testing.T) {
	s := NewLedger(Config{MaxCallers: 1, Callers: []string{"checkout", "checkout", "inventory"}}).Cut(0, nil)
	var names []string
	for _, c := range s.Callers {
		names = append(names, c.Name)
	}
	if got, want := fmt.Sprint(names), "[__other__ checkout inventory]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLedgerWithoutRoomFoldsEveryTag(t *testing.T) {
	l := NewLedger(Config{})
	if got := l.Account([]byte("a")); got.Name() != OtherName {
		t.Errorf("charged to %s", got.Name())
	}
	if got := NewLedger(DefaultConfig()).Account(nil); got.Name() != OtherName {
		t.Errorf("an empty name is charged to %s", got.Name())
	}
}

func TestAccountKeepsNoReferenceToTheName(t *testing.T) {
	l := NewLedger(DefaultConfig())
	name := []byte("checkout")
	a := l.Account(name)
	copy(name, "XXXXXXXX")
	if a.Name() != "checkout" || l.Account([]byte("checkout")) != a {
		t.Errorf("the account is now called %s", a.Name())
	}
}

func TestConcurrentAdmissionGivesOneAccountPerName(t *testing.T) {
	const names, goroutines, room = 40, 8, 30
	l := NewLedger(Config{MaxCallers: room})
	got := make([][names]*Account, goroutines)
	var wg sync.WaitGroup
	for g := range got {
		wg.Go(func() {
			for i := range names {
				n := (i + g*5) % names
				got[g][n] = l.Account(fmt.Appendf(nil, "caller%d", n))
			}
		})
	}
	wg.Wait()
	admitted := 0
	for n := range names {
		for g := range got {
			if got[g][n] != got[0][n] {
				t.Errorf("caller%d has two accounts", n)
			}
		}
		if got[0][n] != l.other {
			admitted++
		}
	}
	wantCount(t, "admitted", admitted, room)
	wantCount(t, "folded", l.Cut(0, nil).Folded, (names-room)*goroutines)
}

func TestSnapshotIsSortedByHeldThenByName(t *testing.T) {
	l := NewLedger(Config{MaxCallers: 10})
	for name, held := range map[string]time.Duration{"d": 5, "c": 5, "b": 1, "a": 0} {
		l.Account([]byte(name)).held[Executing].Store(int64(held))
	}
	s := l.Cut(0, nil)
	order := ""
	for _, c := range s.Callers {
		order += c.Name + " "
	}
	if want := "c d b __other__ a "; order != want {
		t.Errorf("got %s, want %s", order, want)
	}
	if s.Held != 11 {
		t.Errorf("held %d, want 11", s.Held)
	}
}
