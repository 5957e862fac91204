package attribution

import (
	"fmt"
	"testing"
	"time"
)

func TestEventsOfAStatementDoNotAllocate(t *testing.T) {
	b := openBook()
	names := [][]byte{[]byte("checkout"), []byte("inventory")}
	for _, name := range names {
		b.Account(name)
	}
	var now time.Duration
	for what, step := range map[string]func(){
		"tagged":   func() { statement(b.meter, b.Account(names[0]), now) },
		"untagged": func() { statement(b.meter, nil, now) },
		"first tag and change of caller": func() {
			b.meter.Statement(nil, now)
			b.meter.Waiting(now)
			b.meter.Granted(now + 1)
			b.meter.Error(Other)
			b.meter.Pin(UserLock)
			b.meter.Statement(b.Account(names[0]), now+2)
			b.meter.Statement(b.Account(names[1]), now+3)
			b.meter.Returned(now + 4)
		},
		"gave up": func() {
			b.meter.Statement(nil, now)
			b.meter.Waiting(now)
			b.meter.GaveUp(now + 1)
			b.meter.TimedOut()
		},
	} {
		got := testing.AllocsPerRun(200, func() {
			now += ms
			step()
		})
		if got != 0 {
			t.Errorf("%s: %v allocations, want 0", what, got)
		}
	}
}

func TestFoldedNameDoesNotAllocate(t *testing.T) {
	l := NewLedger(Config{})
	name := []byte("one_of_many_unique_names")
	if got := testing.AllocsPerRun(200, func() { l.Account(name) }); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}

// statement runs the events of one statement in autocommit mode through m.
func statement(m *Meter, a *Account, now time.Duration) {
	m.Statement(a, now)
	m.Granted(now + 100)
	m.Enter(Executing, now+200)
	m.AddBytes(80, 400)
	m.Returned(now + 150_000)
}

func BenchmarkStatement(b *testing.B) {
	for _, tagged := range []bool{true, false} {
		b.Run(fmt.Sprintf("tagged=%v", tagged), func(b *testing.B) {
			book := openBook()
			var a *Account
			if tagged {
				a = book.account("checkout")
			}
			b.ReportAllocs()
			var now time.Duration
			for b.Loop() {
				now += ms
				statement(book.meter, a, now)
			}
		})
	}
}

func BenchmarkStatementInATransaction(b *testing.B) {
	book := openBook()
	a := book.account("checkout")
	book.meter.Statement(a, 0)
	book.meter.Granted(0)
	b.ReportAllocs()
	var now time.Duration
	for b.Loop() {
		now += ms
		book.meter.Statement(a, now)
		book.meter.Enter(Executing, now)
		book.meter.AddBytes(80, 400)
		book.meter.Enter(IdleInTransaction, now+150_000)
	}
}

// Every goroutine is a session of the same caller: the worst case for the shared counters.
func BenchmarkStatementParallel(b *testing.B) {
	book := openBook()
	a := book.account("checkout")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var m Meter
		m.Init(book.Ledger, book.fallback)
		var now time.Duration
		for pb.Next() {
			now += ms
			statement(&m, a, now)
		}
	})
}

func BenchmarkAccountKnown(b *testing.B) {
	book := openBook()
	for i := range 150 {
		book.account(fmt.Sprintf("caller_number_%d", i))
	}
	name := []byte("caller_number_77")
	b.ReportAllocs()
	for b.Loop() {
		book.Account(name)
	}
}

// One scrape of a large pool: it holds the pool's lock for this long.
func BenchmarkCut(b *testing.B) {
	l := NewLedger(DefaultConfig())
	meters := make([]*Meter, 200)
	for i := range meters {
		meters[i] = &Meter{}
		meters[i].Init(l, l.Account(fmt.Appendf(nil, "caller_number_%d", i)))
		meters[i].Granted(0)
	}
	b.ReportAllocs()
	var now time.Duration
	for b.Loop() {
		now += ms
		l.Cut(now, meters)
	}
}
