package attribution

import (
	"fmt"
	"strings"
)

// Bounds of max_callers. Admitting a caller copies the table, so the upper one keeps a flood of names cheap; it is also
// far beyond what a Prometheus server likes as values of one label.
const (
	defaultMaxCallers = 200
	maxMaxCallers     = 10000
)

// Config is the attribution section of the configuration.
type Config struct {
	// Keys are the tag names that carry the caller, the first that a statement has wins.
	Keys []string `yaml:"keys"`
	// MaxCallers caps the accounts made from tags and fallbacks, per pool. The rest is charged to OtherName.
	MaxCallers int `yaml:"max_callers"`
	// Callers always have an account and do not count against MaxCallers.
	Callers []string `yaml:"callers"`
}

// DefaultConfig reads the caller from conn_tag and admits 200.
func DefaultConfig() Config {
	return Config{Keys: []string{"conn_tag"}, MaxCallers: defaultMaxCallers}
}

// Validate gives every problem, each beginning with the path of the field within the section.
func (c Config) Validate() []error {
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(c.Keys) == 0 {
		report("keys: must name at least one tag; write for example [conn_tag]")
	}
	seen := map[string]int{}
	for i, key := range c.Keys {
		folded := strings.ToLower(key)
		switch at, twice := seen[folded]; {
		case key == "":
			report("keys[%d]: must not be empty; write for example conn_tag", i)
		case strings.ContainsFunc(key, notInKey):
			report("keys[%d]: must be letters, digits, _ - or . only, is %q; write for example conn_tag", i, key)
		case twice:
			report("keys[%d]: %q is already keys[%d] (case does not matter); remove one", i, key, at)
		default:
			seen[folded] = i
		}
	}
	if c.MaxCallers < 1 || c.MaxCallers > maxMaxCallers {
		report("max_callers: must be between 1 and %d, is %d; write for example %d", maxMaxCallers, c.MaxCallers, defaultMaxCallers)
	}
	named := map[string]int{}
	for i, name := range c.Callers {
		clean := string(CleanName([]byte(name), nil))
		switch at, twice := named[name]; {
		case clean == "":
			report("callers[%d]: must not be empty; remove it", i)
		case clean != name:
			report("callers[%d]: a tag %q is charged to %q; write that", i, name, clean)
		case twice:
			report("callers[%d]: %q is already callers[%d]; remove one", i, name, at)
		default:
			named[name] = i
		}
	}
	return problems
}

// notInKey is true for what cannot be part of a tag's name, because it separates tags or names from values.
func notInKey(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("_-.", r)
}
