package invisible

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conntag/conntag/proxy"
)

// noise is sessions through the proxy only, as many as the pool has connections. Between the steps of a case they hold
// every connection that no client holds, each in a transaction that has touched nothing; before a client moves, one of
// them leaves dirt on a connection of the judge's choice and gives it back.
type noise struct {
	middle  Middle
	clients []*client
}

// dirt is what noise leaves on a connection: session state and state of the last statement.
var dirt = []string{
	"SELECT 1/0, 'abc'+1",
	"INSERT INTO noise.n(v) VALUES (1),(2)",
	"SELECT * FROM noise.n LIMIT 3",
	"SET sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES', time_zone='+05:00'",
	"SELECT nosuch",
	"SET NAMES latin1",
	"UPDATE noise.n SET v=v+1 LIMIT 2",
	"SELECT LAST_INSERT_ID(4711)",
	"USE two",
	"SET sql_mode=DEFAULT, div_precision_increment=9, NAMES utf8mb4",
	"SELECT SQL_CALC_FOUND_ROWS 1 UNION SELECT 2 UNION SELECT 3 LIMIT 1",
	"SET max_statement_time=1000, sql_select_limit=1000, group_concat_max_len=8",
	"USE noise",
	"DROP TABLE IF EXISTS noise.nosuch",
}

func newNoise(m Middle, c Case) (*noise, error) {
	n := &noise{middle: m}
	// Connections are shared by clients of one kind, so noise is of the first client's.
	login := Login{Schema: schemaNoise, Collation: 45, FoundRows: c.Logins[0].FoundRows, Multi: true}
	for range c.Mode.pool() {
		client, _, err := dial(m.Addr(), login)
		if err != nil {
			n.close()
			return nil, fmt.Errorf("log noise in: %w", err)
		}
		n.clients = append(n.clients, client)
	}
	return n, nil
}

func (n *noise) close() {
	for _, c := range n.clients {
		c.close()
	}
}

// offer leaves exactly one connection to whoever comes next, and returns its id. It is not the one to avoid if there is
// any other.
func (n *noise) offer(avoid uint32, turn int) (uint32, error) {
	held, err := n.occupy()
	if err != nil {
		return 0, err
	}
	chosen := -1
	for i, backend := range held {
		if backend != 0 && (chosen < 0 || held[chosen] == avoid) {
			chosen = i
		}
	}
	if chosen < 0 {
		return 0, errors.New("no connection is left for the client whose turn it is")
	}
	for _, text := range []string{dirt[turn%len(dirt)], "COMMIT"} {
		if a := n.clients[chosen].do(Op{Verb: Query, Text: text}); a.lost != "" {
			return 0, &noiseError{Op{Verb: Query, Text: text}, a}
		}
	}
	_, err = settled(n.middle)
	return held[chosen], err
}

// occupy takes what is free, and returns the connection that each of the noise's sessions has.
func (n *noise) occupy() ([]uint32, error) {
	for {
		sessions, err := settled(n.middle)
		if err != nil {
			return nil, err
		}
		held := make([]uint32, len(n.clients))
		idle := -1
		inUse := 0
		for _, s := range sessions {
			if s.BackendID != 0 {
				inUse++
			}
		}
		for i, c := range n.clients {
			if at := slices.IndexFunc(sessions, func(s proxy.SessionInfo) bool { return s.ID == c.id }); at >= 0 {
				held[i] = sessions[at].BackendID
			}
			if held[i] == 0 {
				idle = i
			}
		}
		if inUse == len(n.clients) {
			return held, nil
		}
		if a := n.clients[idle].do(Op{Verb: Query, Text: "BEGIN"}); a.failed() != 0 || a.lost != "" {
			return nil, &noiseError{Op{Verb: Query, Text: "BEGIN"}, a}
		}
	}
}

// noiseError says that noise was told what it would not be told on a connection of its own: the work of the case's
// clients, so it is a difference.
type noiseError struct {
	op     Op
	answer Answer
}

func (e *noiseError) Error() string { return fmt.Sprintf("noise: %s: %v", e.op, e.difference()) }

func (e *noiseError) difference() *Difference {
	n := max(0, len(e.answer.packets)-1)
	return &Difference{Step: Step{Op: e.op}, Direct: "what anybody is told", Proxied: e.answer.tell(n), in: "noise" + e.answer.at(n).code()}
}
