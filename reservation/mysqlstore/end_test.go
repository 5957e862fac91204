package mysqlstore

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/conntag/conntag/reservation"
)

func TestClaimSellsOnceHoweverOftenItIsAsked(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 100)
	s.stock(2, 100)
	if err := s.Reserve(t.Context(), cart(1, 1, 2, 2, 3)); err != nil {
		t.Fatal(err)
	}
	together(20, func(int) {
		if err := s.Claim(t.Context(), 1, 1); err != nil {
			t.Error(err)
		}
	})
	if got := s.onHand(); got != 195 {
		t.Errorf("%d on hand, want 195", got)
	}
	if got := s.number("SELECT on_hand FROM inventory_ledger WHERE inventory_item_id = 2"); got != 97 {
		t.Errorf("%d of item 2 on hand, want 97", got)
	}
	s.checkConserved()
}

func TestReleaseGivesBackOnceAndTheUnitsCanBeReservedAgain(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 3)
	if err := s.Reserve(t.Context(), cart(1, 1, 3)); err != nil {
		t.Fatal(err)
	}
	together(20, func(int) {
		if err := s.Release(t.Context(), 1, 1); err != nil {
			t.Error(err)
		}
	})
	s.checkConserved()
	if got := s.onHand(); got != 3 {
		t.Errorf("%d on hand, want 3", got)
	}
	if err := s.Reserve(t.Context(), cart(2, 1, 3)); err != nil {
		t.Errorf("reserve what was released: %v", err)
	}
}

func TestClaimAndReleaseRacingEndOneWay(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 100)
	for id := range uint64(10) {
		if err := s.Reserve(t.Context(), cart(id, 1, 1)); err != nil {
			t.Fatal(err)
		}
		var claimed, released atomic.Int32
		together(8, func(i int) {
			end, won := s.Claim, &claimed
			if i%2 == 0 {
				end, won = s.Release, &released
			}
			switch err := end(t.Context(), 1, id); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, reservation.ErrEnded):
				t.Error(err)
			}
		})
		if c, r := claimed.Load(), released.Load(); c+r != 4 || c*r != 0 {
			t.Errorf("%d claims and %d releases succeeded, want all 4 of one kind", c, r)
		}
	}
	s.checkConserved()
	if got, want := s.onHand(), 100-s.number("SELECT COUNT(*) FROM reservations WHERE state = 'claimed'"); got != want {
		t.Errorf("%d on hand, want %d", got, want)
	}
}

func TestEndedReservationsSayHow(t *testing.T) {
	s := newShop(t, DefaultConfig())
	s.stock(1, 100)
	for id, end := range map[uint64]func() error{
		1: func() error { return s.Claim(t.Context(), 1, 1) },
		2: func() error { return s.Release(t.Context(), 1, 2) },
		3: func() error {
			_, err := s.db.Exec("UPDATE reservations SET state = 'expired' WHERE reservation_id = 3")
			return err
		},
	} {
		if err := s.Reserve(t.Context(), cart(id, 1, 1)); err != nil {
			t.Fatal(err)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name string
		err  error
		want reservation.State // "" for success
	}{
		{"reserve the id of a claimed one", s.Reserve(t.Context(), cart(1, 1, 1)), reservation.Claimed},
		{"release a claimed one", s.Release(t.Context(), 1, 1), reservation.Claimed},
		{"claim a released one", s.Claim(t.Context(), 1, 2), reservation.Released},
		{"claim an expired one", s.Claim(t.Context(), 1, 3), reservation.Expired},
		{"release an expired one", s.Release(t.Context(), 1, 3), ""},
	} {
		var ended *reservation.EndedError
		switch {
		case tc.want == "" && tc.err != nil:
			t.Errorf("%s: %v, want success", tc.name, tc.err)
		case tc.want != "" && (!errors.As(tc.err, &ended) || ended.State != tc.want):
			t.Errorf("%s: %v, want ended: %s", tc.name, tc.err, tc.want)
		}
	}
	for name, err := range map[string]error{
		"claim": s.Claim(t.Context(), 1, 99), "release": s.Release(t.Context(), 1, 99), "claim in another shop": s.Claim(t.Context(), 2, 1),
	} {
		if !errors.Is(err, reservation.ErrNotFound) {
			t.Errorf("%s an unknown id: %v, want ErrNotFound", name, err)
		}
	}
}
