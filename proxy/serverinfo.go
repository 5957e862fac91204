package proxy

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
)

// serverInfo is what the proxy must know of the database server to speak in its name. It is read once, over the
// first connection that logs in.
type serverInfo struct {
	version      string
	capabilities wire.Capability
	collation    byte
	plugin       string
	maxPacket    int
	collations   map[byte]charset  // by the id that a login carries
	defaults     map[string]string // a character set's own collation
	refused      map[byte]string   // character sets that no client may have, by the same id
	sqlMode      string            // the global one, that sessions begin with
	fresh        *settings         // what a connection has after its login; nil unless the server's defaults are unusual
	// What a session that asks for it is told of its state by default.
	trackers    *sessionTrackers
	fallback    charset // what the server takes for an id it does not know
	waitTimeout time.Duration
	maxPrepared int // statements, of all connections together
}

// charset is the state that a login's collation id stands for.
type charset struct{ name, collation string }

func readServerInfo(c *client.Conn, g *wire.Greeting) (*serverInfo, error) {
	info := &serverInfo{
		version:      g.Version,
		capabilities: g.Capabilities,
		collation:    g.Collation,
		plugin:       g.Plugin,
		collations:   map[byte]charset{},
		defaults:     map[string]string{},
		refused:      map[byte]string{},
	}
	r, err := c.Execute("SELECT @@global.max_allowed_packet, @@global.character_set_client, @@global.collation_connection, @@global.sql_mode, @@global.autocommit, " +
		trackersQuery("global") + ", @@global.wait_timeout, @@global.max_prepared_stmt_count")
	if err != nil {
		return nil, fmt.Errorf("read server variables: %w", err)
	}
	size, err := r.GetInt(0, 0)
	if err != nil {
		return nil, fmt.Errorf("read max_allowed_packet: %w", err)
	}
	info.maxPacket = int(size) - 1 // a payload of exactly max_allowed_packet is refused
	if info.fallback.name, err = r.GetString(0, 1); err != nil {
		return nil, fmt.Errorf("read character_set_client: %w", err)
	}
	if info.fallback.collation, err = r.GetString(0, 2); err != nil {
		return nil, fmt.Errorf("read collation_connection: %w", err)
	}
	if info.sqlMode, err = r.GetString(0, 3); err != nil {
		return nil, fmt.Errorf("read sql_mode: %w", err)
	}
	info.sqlMode = strings.Clone(info.sqlMode)
	info.fallback = charset{strings.Clone(info.fallback.name), strings.Clone(info.fallback.collation)}
	if autocommit, err := r.GetInt(0, 4); err == nil && autocommit == 0 {
		info.fresh = info.fresh.with("autocommit", "OFF")
	}
	chosen, err := r.GetString(0, 5)
	if err != nil {
		return nil, fmt.Errorf("read session trackers: %w", err)
	}
	info.trackers = parseTrackers(strings.Clone(chosen))
	if count, err := r.GetInt(0, 7); err == nil {
		info.maxPrepared = int(count)
	}
	if seconds, err := r.GetInt(0, 6); err == nil {
		info.waitTimeout = time.Duration(seconds) * time.Second
	}
	if r, err = c.Execute("SELECT id, collation_name, character_set_name, is_default FROM information_schema.collations WHERE id BETWEEN 1 AND 255"); err != nil {
		return nil, fmt.Errorf("read collations: %w", err)
	}
	if info.isMariaDB() {
		info.refused[filenameCollation] = "filename" // which the server has and does not list
	}
	for i := range r.Values {
		id, err1 := r.GetInt(i, 0)
		collation, err2 := r.GetString(i, 1)
		name, err3 := r.GetString(i, 2)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		if own, _ := r.GetString(i, 3); own == "Yes" {
			info.defaults[strings.Clone(name)] = strings.Clone(collation)
		}
		if !clientCharset(name) {
			info.refused[byte(id)] = strings.Clone(name)
			continue
		}
		info.collations[byte(id)] = charset{strings.Clone(name), strings.Clone(collation)}
	}
	return info, nil
}

const filenameCollation = 17

// refuse is what a server answers a login with a collation that no client may have.
func (i *serverInfo) refuse(collation byte) *wire.ServerError {
	name := i.refused[collation]
	if name == "" || !i.isMariaDB() { // MySQL takes its default instead
		return nil
	}
	return &wire.ServerError{Code: mysql.ER_WRONG_VALUE_FOR_VAR, State: "42000",
		Message: fmt.Sprintf("Variable 'character_set_client' can't be set to the value of '%s'", name)}
}

// clientCharset reports whether a client may have the character set: in those of two or four bytes a character, ASCII is
// not ASCII.
func clientCharset(name string) bool {
	switch name {
	case "ucs2", "utf16", "utf16le", "utf32":
		return false
	}
	return true
}

func (i *serverInfo) isMariaDB() bool { return strings.Contains(i.version, "MariaDB") }

// loginSettings are the session variables that a login's collation id stands for.
func (i *serverInfo) loginSettings(id byte) *settings {
	cs, ok := i.collations[id]
	if !ok {
		cs = i.fallback
	}
	s := i.fresh
	s = s.with("character_set_client", cs.name)
	s = s.with("character_set_connection", cs.name)
	s = s.with("character_set_results", cs.name)
	s = s.with(resultsCollation, cs.collation)
	return s.with("collation_connection", cs.collation)
}
