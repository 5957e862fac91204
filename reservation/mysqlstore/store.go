package mysqlstore

import (
	"context"
	"database/sql"
	_ "embed" // schema.sql
	"fmt"
	"strings"

	"github.com/conntag/conntag/reservation"
)

//go:embed schema.sql
var schema string

// Config tunes a Store.
type Config struct {
	UnitsTarget int `yaml:"units_target"` // unit rows kept per item and group; bounds the longest scan past locked rows
	Retries     int `yaml:"retries"`      // how often a transaction that lost a deadlock or a lock wait is run again
}

// DefaultConfig returns a target of 1,000 units, where a scan past that many locked rows still takes under a millisecond.
func DefaultConfig() Config { return Config{UnitsTarget: 1000, Retries: 10} }

// Validate returns all that is wrong, each with the name of the field.
func (c Config) Validate() []error {
	var errs []error
	if c.UnitsTarget < 1 {
		errs = append(errs, fmt.Errorf("units_target: must be at least 1, is %d", c.UnitsTarget))
	}
	if c.Retries < 0 {
		errs = append(errs, fmt.Errorf("retries: must not be negative, is %d", c.Retries))
	}
	return errs
}

// Store implements reservation.Store. It uses one connection of db per call.
type Store struct {
	db  *sql.DB
	cfg Config
}

var _ reservation.Store = (*Store)(nil)

// New returns a store over db, which must be open to a database that has the tables or gets them from CreateTables.
func New(db *sql.DB, cfg Config) *Store { return &Store{db: db, cfg: cfg} }

// CreateTables creates the tables that do not exist.
func (s *Store) CreateTables(ctx context.Context) error {
	for statement := range strings.SplitSeq(schema, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := s.db.ExecContext(ctx, tagSchema+statement); err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
	}
	return nil
}

// Restock adds l.Quantity units of l's item to the stock of its group.
func (s *Store) Restock(ctx context.Context, shopID uint64, l reservation.Line) error {
	err := s.retry(ctx, func() error {
		_, err := s.db.ExecContext(ctx, fmt.Sprintf(tagRestock+"INSERT INTO inventory_ledger "+
			"(shop_id, inventory_item_id, inventory_group_id, on_hand, unissued) VALUES (%d, %d, %d, %d, %d) "+
			"ON DUPLICATE KEY UPDATE on_hand = on_hand + %[4]d, unissued = unissued + %[4]d",
			shopID, l.ItemID, l.GroupID, l.Quantity, l.Quantity))
		return err
	})
	if err != nil {
		return fmt.Errorf("restock item %d: %w", l.ItemID, err)
	}
	return nil
}
