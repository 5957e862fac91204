package pool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conntag/conntag/pool"
)

func TestDefaultConfigIsValid(t *testing.T) {
	if problems := pool.DefaultConfig().Validate(); problems != nil {
		t.Fatalf("got %v", problems)
	}
}

func TestConfigValidateNamesFieldValueAndRemedy(t *testing.T) {
	tests := []struct {
		name string
		bend func(*pool.Config)
		want string // "" means valid
	}{
		{"no size", func(c *pool.Config) { c.Size = 0 }, "size: must be at least 1, is 0; write for example 50"},
		{"negative size", func(c *pool.Config) { c.Size = -3 }, "size: must be at least 1, is -3; write for example 50"},
		{"no wait", func(c *pool.Config) { c.WaitTimeout = 0 }, "wait_timeout: must be positive, is 0s; write for example 10s"},
		{"negative wait", func(c *pool.Config) { c.WaitTimeout = -time.Second }, "wait_timeout: must be positive, is -1s; write for example 10s"},
		{"negative idle", func(c *pool.Config) { c.IdleTimeout = -1 }, "idle_timeout: must not be negative, is -1ns; 0 keeps idle connections for ever, or write for example 5m"},
		{"negative lifetime", func(c *pool.Config) { c.MaxLifetime = -1 }, "max_lifetime: must not be negative, is -1ns; 0 never closes a connection for its age, or write for example 1h"},
		{"negative liveness", func(c *pool.Config) { c.LivenessAfter = -1 }, "liveness_after: must not be negative, is -1ns; 0 probes before every reuse, or write for example 50ms"},
		{"all optional ones off", func(c *pool.Config) { c.IdleTimeout, c.MaxLifetime, c.LivenessAfter = 0, 0, 0 }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := pool.DefaultConfig()
			tt.bend(&c)
			var texts []string
			for _, p := range c.Validate() {
				texts = append(texts, p.Error())
			}
			if got := strings.Join(texts, "\n"); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestConfigValidateReportsAllProblemsAtOnce(t *testing.T) {
	c := pool.Config{Size: -1, WaitTimeout: -1, IdleTimeout: -1, MaxLifetime: -1, LivenessAfter: -1}
	if got := c.Validate(); len(got) != 5 {
		t.Fatalf("got %d problems, want 5: %v", len(got), got)
	}
}
