package mysqlstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/conntag/conntag/reservation"
)

// together runs f n times at once and waits for all.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func TestFiftyBuyersGetEveryUnitAndNoneTwice(t *testing.T) {
	s := newShop(t, Config{UnitsTarget: 40, Retries: 10})
	const stock = 230
	s.stock(7, stock)
	var sold, refusedEarly atomic.Int64
	together(50, func(buyer int) {
		for n := 0; ; n++ {
			err := s.Reserve(t.Context(), cart(uint64(buyer*1000+n), 7, 1))
			if errors.Is(err, reservation.ErrInsufficient) {
				if s.number("SELECT unissued FROM inventory_ledger") > 0 {
					refusedEarly.Add(1)
				}
				return
			}
			if err != nil {
				t.Errorf("buyer %d: %v", buyer, err)
				return
			}
			sold.Add(1)
		}
	})
	if got := sold.Load(); got != stock {
		t.Errorf("sold %d units of %d", got, stock)
	}
	if got := s.reserved(); got != stock {
		t.Errorf("%d units reserved, want %d", got, stock)
	}
	if n := refusedEarly.Load(); n > 0 {
		t.Errorf("%d buyers were refused while stock was left", n)
	}
	s.checkConserved()
}

func TestMixedCartsNeverOversellNorDeadlock(t *testing.T) {
	s := newShop(t, Config{UnitsTarget: 20, Retries: 0})
	const items, stock = 4, 150
	for item := range items {
		s.stock(uint64(item), stock)
	}
	together(50, func(buyer int) {
		random := rand.New(rand.NewPCG(7, uint64(buyer)))
		for n := range 12 {
			id := uint64(buyer*1000 + n + 1)
			c := cart(id, random.IntN(items), 1+random.IntN(3), random.IntN(items), 1+random.IntN(3))
			err := s.Reserve(t.Context(), c)
			if errors.Is(err, reservation.ErrInsufficient) {
				continue
			}
			if err == nil {
				end := []func(context.Context, uint64, uint64) error{s.Claim, s.Release}[random.IntN(2)]
				err = end(t.Context(), 1, id)
			}
			if err != nil {
				t.Errorf("reservation %d: %v", id, err)
			}
		}
	})
	s.checkConserved()
	if got := s.reserved(); got != 0 {
		t.Errorf("%d units still reserved, want 0", got)
	}
	sold := s.number("SELECT COUNT(*) FROM reservations WHERE state = 'claimed'")
	if onHand := s.onHand(); onHand < 0 || onHand >= items*stock || sold == 0 {
		t.Errorf("%d on hand after %d claims", onHand, sold)
	}
}

func TestCartWithOneShortLineTakesNothing(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 100)
	s.stock(2, 1)
	err := s.Reserve(t.Context(), cart(5, 1, 3, 2, 2, 3, 1))
	var short *reservation.InsufficientError
	if !errors.As(err, &short) || !errors.Is(err, reservation.ErrInsufficient) {
		t.Fatalf("error %v, want an InsufficientError", err)
	}
	if s.reserved() != 0 || s.number("SELECT COUNT(*) FROM reservations") != 0 {
		t.Error("a refused cart left something behind")
	}
	s.checkConserved()
	if err := s.Reserve(t.Context(), cart(5, 1, 3, 2, 1)); err != nil {
		t.Errorf("the same id with a smaller cart: %v", err)
	}
	if got := s.reserved(); got != 4 {
		t.Errorf("%d units reserved, want 4", got)
	}
}

func TestInsufficientErrorNamesTheShortLines(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 100)
	err := s.Reserve(t.Context(), cart(5, 1, 3, 2, 2, 3, 1))
	var short *reservation.InsufficientError
	if !errors.As(err, &short) || len(short.Lines) != 2 || short.Lines[0].ItemID != 2 || short.Lines[1].ItemID != 3 {
		t.Errorf("error %v, want items 2 and 3", err)
	}
}

func TestReserveRepeatedWithOneIDTakesOnce(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 100)
	s.stock(2, 100)
	together(10, func(int) {
		if err := s.Reserve(t.Context(), cart(9, 1, 2, 2, 3)); err != nil {
			t.Error(err)
		}
	})
	if got := s.reserved(); got != 5 {
		t.Errorf("%d units reserved, want 5", got)
	}
	if err := s.Reserve(t.Context(), cart(9, 1, 2)); !errors.Is(err, reservation.ErrConflict) {
		t.Errorf("other lines under the same id: %v, want ErrConflict", err)
	}
	s.checkConserved()
}

func TestDryItemIsReplenishedOnce(t *testing.T) {
	const callers, target = 16, 50
	s := newShop(t, Config{UnitsTarget: target, Retries: 10})
	s.stock(1, 1000)
	together(callers, func(i int) {
		if err := s.Reserve(t.Context(), cart(uint64(i+1), 1, 1)); err != nil {
			t.Error(err)
		}
	})
	// The target is met before anyone takes a unit, so whoever comes later finds enough.
	if got := s.number("SELECT next_unit_id - 1 FROM inventory_ledger"); got < target || got > target+callers {
		t.Errorf("%d units made, want %d and a few", got, target)
	}
	s.checkConserved()
}

func TestLineLargerThanTheTargetIsServed(t *testing.T) {
	s := newShop(t, Config{UnitsTarget: 10})
	s.stock(1, 100)
	if err := s.Reserve(t.Context(), cart(1, 1, 60)); err != nil {
		t.Error(err)
	}
	s.checkConserved()
}

func TestUnitsLockedByOthersDoNotStopAReplenish(t *testing.T) {
	s := newShop(t, Config{UnitsTarget: 5})
	s.stock(1, 20)
	if err := s.Reserve(t.Context(), cart(1, 1, 1)); err != nil {
		t.Fatal(err)
	}
	conn := s.conn()
	other := &tx{conn: conn, tag: tagReserve}
	if err := other.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if units, err := other.lockUnits(t.Context(), cart(2, 1, 4)); err != nil || len(units) != 4 {
		t.Fatalf("locked %d units, error %v, want all 4", len(units), err)
	}
	if err := s.Reserve(t.Context(), cart(3, 1, 2)); err != nil {
		t.Errorf("reserve beside locked units: %v", err)
	}
	other.rollback(t.Context())
	s.checkConserved()
}
