package proxy

import (
	"slices"
	"strings"
)

// setting is one session variable that differs from a fresh backend connection's value, as the server reported it.
type setting struct{ name, value string }

// settings is an immutable set of session variables, sorted by name; nil is a fresh connection's set. A session has
// one, a backend connection has one, and replay is what lies between them. Sessions that change nothing share nil,
// so the usual comparison is one of pointers.
type settings struct {
	list []setting
	key  string // all of list as one string: equal sets have equal keys
}

// baseline are the variables that a fresh backend connection has from its login rather than from the server's
// global defaults: SET … = DEFAULT would give something else.
var baseline = []setting{
	{"autocommit", "ON"},
	{"character_set_client", "utf8mb4"},
	{"character_set_connection", "utf8mb4"},
	{"character_set_results", "utf8mb4"},
	{"collation_connection", baselineCollation},
	{resultsCollation, baselineCollation},
}

// resultsCollation stands for something that is no variable, and that no variable shows: the collation in which column
// definitions come. SET NAMES gives it with the character set of results, and so does a login.
const resultsCollation = "character_set_results collation"

const baselineCollation = "utf8mb4_general_ci"

func baselineValue(name string) (string, bool) {
	for _, b := range baseline {
		if b.name == name {
			return b.value, true
		}
	}
	return "", false
}

// with returns the set with one variable changed. A variable back at its baseline leaves the set, and so does a user variable
// with an empty value.
func (s *settings) with(name, value string) *settings {
	var list []setting
	if s != nil {
		list = slices.Clone(s.list)
	}
	i, found := slices.BinarySearchFunc(list, name, func(e setting, n string) int { return strings.Compare(e.name, n) })
	base, isBaseline := baselineValue(name)
	switch {
	case found && (isBaseline && value == base || isUserVar(name) && value == ""):
		list = slices.Delete(list, i, i+1)
	case isBaseline && value == base || isUserVar(name) && value == "":
	case found:
		list[i].value = value
	default:
		list = slices.Insert(list, i, setting{name, value})
	}
	return newSettings(list)
}

func newSettings(sorted []setting) *settings {
	if len(sorted) == 0 {
		return nil
	}
	var key strings.Builder
	for _, e := range sorted {
		key.WriteString(e.name)
		key.WriteByte('=')
		key.WriteString(e.value)
		key.WriteByte(0)
	}
	return &settings{list: sorted, key: key.String()}
}

func (s *settings) equal(o *settings) bool {
	return s == o || s != nil && o != nil && s.key == o.key
}

func (s *settings) entries() []setting {
	if s == nil {
		return nil
	}
	return s.list
}

// get returns the value of a variable in the set, or its baseline; ok is false when neither is known.
func (s *settings) get(name string) (value string, ok bool) {
	for _, e := range s.entries() {
		if e.name == name {
			return e.value, true
		}
	}
	return baselineValue(name)
}

// appendReplay appends the SET statement that turns a connection with the set from into one with the set to;
// nothing when they are equal.
func appendReplay(dst []byte, from, to *settings) []byte {
	if from.equal(to) {
		return dst
	}
	sep := "SET "
	assign := func(name, op, value string) {
		dst = append(append(append(append(dst, sep...), name...), op...), value...)
		sep = ","
	}
	charsets := charsetsDiffer(from, to)
	if charsets {
		assignCharsets(to, assign)
	}
	for _, e := range from.entries() {
		if isCharset(e.name) || slices.ContainsFunc(to.entries(), func(t setting) bool { return t.name == e.name }) {
			continue
		}
		value := "DEFAULT"
		if base, ok := baselineValue(e.name); ok {
			value = literal(e.name, base)
		} else if isUserVar(e.name) {
			value = "NULL"
		}
		assign(e.name, "=", value)
	}
	for _, t := range to.entries() {
		if !isCharset(t.name) && !slices.Contains(from.entries(), t) {
			assign(t.name, "=", literal(t.name, t.value))
		}
	}
	return dst
}

// charsetNames are set together. Order matters: character_set_connection drags collation_connection along.
var charsetNames = [...]string{"character_set_client", "character_set_connection", "character_set_results", "collation_connection"}

func isCharset(name string) bool {
	return name == resultsCollation || slices.Contains(charsetNames[:], name)
}

func charsetsDiffer(from, to *settings) bool {
	differs := func(name string) bool {
		a, _ := from.get(name)
		b, _ := to.get(name)
		return a != b
	}
	return differs(resultsCollation) || slices.ContainsFunc(charsetNames[:], differs)
}

// assignCharsets says SET NAMES, as most clients do, for the collation that column definitions carry, and then what is
// otherwise.
func assignCharsets(to *settings, assign func(name, op, value string)) {
	var values [len(charsetNames)]string
	for i, name := range charsetNames {
		values[i], _ = to.get(name)
	}
	client, connection, results, collation := values[0], values[1], values[2], values[3]
	own, _ := to.get(resultsCollation)
	charset, _, _ := strings.Cut(own, "_")
	assign("NAMES", " ", "'"+charset+"' COLLATE '"+own+"'")
	for i, value := range []string{client, connection, results} {
		if value != charset {
			assign(charsetNames[i], "=", literal(charsetNames[i], value))
		}
	}
	if collation != own {
		assign("collation_connection", "=", literal("collation_connection", collation))
	}
}

// literal writes a tracked value so that SET takes it: trackers report text without a type, and a quoted number
// is refused (1232) where a bare word would be.
func literal(name, value string) string {
	switch {
	case isUserVar(name):
		return value
	case name == "character_set_results" && value == "":
		return "NULL"
	case isNumber(value):
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

func isNumber(s string) bool {
	digits, dots := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		case c == '-' && i == 0:
		default:
			return false
		}
	}
	return digits > 0 && dots <= 1
}

// restorable reports whether SET name=value on another connection gives the same state. What acts once, runs a
// clock, or would blind the trackers does not; neither does a value whose quoting depends on sql_mode.
func restorable(name, value string) bool {
	if name == "sql_auto_is_null" { // with it, WHERE id IS NULL reads what only the connection of the INSERT knows
		return value == "OFF" || value == "0"
	}
	return !unrestorable(name) && !strings.Contains(value, `\`)
}

// unrestorable reports the same for every value.
func unrestorable(name string) bool {
	switch name {
	case "timestamp", "insert_id", "rand_seed1", "rand_seed2", "pseudo_thread_id", "pseudo_slave_mode",
		"character_set_database", "collation_database", "skip_replication", "identity":
		return true
	}
	return strings.HasPrefix(name, "session_track_")
}
