package pool

import (
	"fmt"
	"time"
)

// Config bounds a pool. The zero value is not usable: start from DefaultConfig.
type Config struct {
	// Size is the most backend connections that are open at once: idle, leased, being dialed or being closed.
	Size int `yaml:"size"`
	// WaitTimeout is how long Acquire waits before it gives up with ErrWaitTimeout.
	WaitTimeout time.Duration `yaml:"wait_timeout"`
	// IdleTimeout is how long a connection may lie idle before it is closed; 0 means for ever.
	IdleTimeout time.Duration `yaml:"idle_timeout"`
	// MaxLifetime is the age, give or take 10 % fixed per connection, at which a connection is closed instead of
	// reused; 0 means never. A lease is never cut short for it.
	MaxLifetime time.Duration `yaml:"max_lifetime"`
	// LivenessAfter is the idle time from which a connection is probed with Hooks.Alive before it is leased again;
	// 0 probes every time.
	LivenessAfter time.Duration `yaml:"liveness_after"`
}

// DefaultConfig returns a pool of 50, a third of what a MySQL server admits by default (max_connections is 151).
func DefaultConfig() Config {
	return Config{
		Size:          50,
		WaitTimeout:   10 * time.Second,
		IdleTimeout:   5 * time.Minute,
		MaxLifetime:   time.Hour,
		LivenessAfter: 50 * time.Millisecond,
	}
}

// Validate returns everything that is wrong with c, each text starting with the field's YAML name; nil when c is usable.
func (c Config) Validate() []error {
	var problems []error
	if c.Size < 1 {
		problems = append(problems, fmt.Errorf("size: must be at least 1, is %d; write for example 50", c.Size))
	}
	if c.WaitTimeout <= 0 {
		problems = append(problems, fmt.Errorf("wait_timeout: must be positive, is %v; write for example 10s", c.WaitTimeout))
	}
	optional := []struct {
		field   string
		value   time.Duration
		meaning string
		example string
	}{
		{"idle_timeout", c.IdleTimeout, "0 keeps idle connections for ever", "5m"},
		{"max_lifetime", c.MaxLifetime, "0 never closes a connection for its age", "1h"},
		{"liveness_after", c.LivenessAfter, "0 probes before every reuse", "50ms"},
	}
	for _, o := range optional {
		if o.value < 0 {
			problems = append(problems, fmt.Errorf("%s: must not be negative, is %v; %s, or write for example %s",
				o.field, o.value, o.meaning, o.example))
		}
	}
	return problems
}
