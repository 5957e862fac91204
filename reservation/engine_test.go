package reservation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lastCart remembers what it was asked to reserve.
type lastCart struct{ cart Cart }

func (s *lastCart) Reserve(_ context.Context, c Cart) error       { s.cart = c; return nil }
func (s *lastCart) Claim(context.Context, uint64, uint64) error   { return nil }
func (s *lastCart) Release(context.Context, uint64, uint64) error { return nil }

func TestReserveMergesAndSortsLinesWithoutTouchingTheCallers(t *testing.T) {
	store := &lastCart{}
	e, err := New(store, DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	lines := []Line{{9, 1, 1}, {2, 2, 1}, {9, 1, 4}, {2, 1, 1}}
	if err := e.Reserve(t.Context(), Cart{ShopID: 1, ReservationID: 5, Lines: lines}); err != nil {
		t.Fatal(err)
	}
	want := Cart{ShopID: 1, ReservationID: 5, TTL: 15 * time.Minute, Lines: []Line{{2, 1, 1}, {2, 2, 1}, {9, 1, 5}}}
	if diff := cmp.Diff(want, store.cart); diff != "" {
		t.Errorf("store got (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Line{{9, 1, 1}, {2, 2, 1}, {9, 1, 4}, {2, 1, 1}}, lines); diff != "" {
		t.Errorf("caller's lines changed (-want +got):\n%s", diff)
	}
}

func TestReserveRefusesInvalidCarts(t *testing.T) {
	e, err := New(&lastCart{}, Config{TTL: time.Minute, MaxLines: 2, MaxQuantity: 10})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Cart{
		"no lines":                     {},
		"three lines":                  {Lines: []Line{{1, 1, 1}, {2, 1, 1}, {3, 1, 1}}},
		"zero":                         {Lines: []Line{{1, 1, 0}}},
		"negative":                     {Lines: []Line{{1, 1, -1}}},
		"negative hidden by a merge":   {Lines: []Line{{1, 1, 3}, {1, 1, -1}}},
		"too many units":               {Lines: []Line{{1, 1, 11}}},
		"too many units in two halves": {Lines: []Line{{1, 1, 6}, {1, 1, 6}}},
		"negative time to live":        {Lines: []Line{{1, 1, 1}}, TTL: -time.Second},
	} {
		if err := e.Reserve(t.Context(), c); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func TestNewNamesEveryWrongField(t *testing.T) {
	_, err := New(&lastCart{}, Config{})
	want := "ttl: must be positive, is 0s; write for example 15m\nmax_lines: must be at least 1, is 0\nmax_quantity: must be at least 1, is 0"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
