package config

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Log is how much the process says on standard error, and in which form.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn or error
	Format string `yaml:"format"` // text or json
}

var (
	logLevels  = []string{"debug", "info", "warn", "error"}
	logFormats = []string{"text", "json"}
)

// DefaultLog is for a person at a terminal.
func DefaultLog() Log { return Log{Level: "info", Format: "text"} }

// SlogLevel is the level for a slog handler; call it on a validated Log.
func (l Log) SlogLevel() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		panic("config: SlogLevel of a Log that was not validated: " + l.Level)
	}
	return level
}

// Validate returns every problem; each starts with the field's path inside the section.
func (l Log) Validate() []error {
	var errs []error
	if !slices.Contains(logLevels, l.Level) {
		errs = append(errs, fmt.Errorf("level: %q is unknown; one of: %s", l.Level, strings.Join(logLevels, ", ")))
	}
	if !slices.Contains(logFormats, l.Format) {
		errs = append(errs, fmt.Errorf("format: %q is unknown; one of: %s", l.Format, strings.Join(logFormats, ", ")))
	}
	return errs
}
