package mysqlstore

import (
	"database/sql"
	"fmt"
	"regexp"
	"testing"

	"github.com/conntag/conntag/reservation"
)

// plan returns "table:type:key" of each step that reads a table.
func (s *shop) plan(statement string) []string {
	s.t.Helper()
	rows, err := s.db.Query("EXPLAIN " + statement)
	if err != nil {
		s.t.Fatalf("%v: %s", err, statement)
	}
	defer func() { _ = rows.Close() }()
	var steps []string
	for rows.Next() {
		var id, selectType, table, kind, possible, key, keyLen, ref, count, extra sql.NullString
		if err := rows.Scan(&id, &selectType, &table, &kind, &possible, &key, &keyLen, &ref, &count, &extra); err != nil {
			s.t.Fatal(err)
		}
		if kind.Valid {
			steps = append(steps, fmt.Sprintf("%s:%s:%s", table.String, kind.String, key.String))
		}
	}
	return steps
}

// The list in a statement is read from front to back; tables are reached by their whole key or a prefix of it.
var byKey = regexp.MustCompile(`^<derived|^reservation_units:ref:PRIMARY$|:(const|eq_ref):PRIMARY$`)

// A scan of a small table would wait for, or hide from others, rows that are no business of the statement.
func TestStatementsReachRowsByKeyHoweverSmallTheTable(t *testing.T) {
	s := newShop(t, DefaultConfig())
	for _, units := range []int{0, 2, 20} {
		if _, err := s.db.Exec("DELETE FROM reservation_units"); err != nil {
			t.Fatal(err)
		}
		for i := range units {
			for item := range 2 {
				if _, err := s.db.Exec(insertUnitsText(1, reservation.Line{ItemID: uint64(item), GroupID: 1}, uint64(i), 1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.db.Exec("ANALYZE TABLE reservation_units"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []reservation.Cart{cart(1, 0, 2), cart(1, 0, 2, 1, 1)} {
			for _, text := range []string{
				lockUnitsText(c),
				deleteUnitsText(1, []unit{{0, 1, 0}}),
				deleteUnitsText(1, []unit{{0, 1, 0}, {0, 1, 1}, {1, 1, 0}}),
				chargeLedgerText(1, c.Lines, reservation.Claimed),
			} {
				for _, step := range s.plan(text) {
					if !byKey.MatchString(step) {
						t.Errorf("with %d units, step %s in %s", units, step, text)
					}
				}
			}
		}
	}
}
