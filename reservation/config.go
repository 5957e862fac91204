package reservation

import (
	"fmt"
	"time"
)

// Config bounds what one cart may ask for.
type Config struct {
	TTL         time.Duration `yaml:"ttl"`          // how long a reservation is kept when the cart says nothing
	MaxLines    int           `yaml:"max_lines"`    // per cart
	MaxQuantity int           `yaml:"max_quantity"` // units per line: each is a row to lock and delete
}

// DefaultConfig returns bounds that fit a checkout.
func DefaultConfig() Config {
	return Config{TTL: 15 * time.Minute, MaxLines: 100, MaxQuantity: 500}
}

// Validate returns all that is wrong, each with the name of the field.
func (c Config) Validate() []error {
	var errs []error
	if c.TTL <= 0 {
		errs = append(errs, fmt.Errorf("ttl: must be positive, is %s; write for example 15m", c.TTL))
	}
	if c.MaxLines < 1 {
		errs = append(errs, fmt.Errorf("max_lines: must be at least 1, is %d", c.MaxLines))
	}
	if c.MaxQuantity < 1 {
		errs = append(errs, fmt.Errorf("max_quantity: must be at least 1, is %d", c.MaxQuantity))
	}
	return errs
}
