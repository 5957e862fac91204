package proxy

import (
	"strings"

	"github.com/conntag/conntag/proxy/wire"
)

// sessionTrackers are the values that a client has given the session_track_… variables. A backend connection has others: it
// must report everything. So these are the session's alone: they say what the client is told, and the backend connection
// gets them only for the statements that can see or change them.
type sessionTrackers struct {
	variables    string
	schema       bool
	stateChange  bool
	transactions string // OFF, STATE or CHARACTERISTICS
	names        map[string]struct{}
	all          bool
}

// trackersQuery is what parseTrackers reads, for SELECT.
func trackersQuery(scope string) string {
	v := func(name string) string { return "@@" + scope + ".session_track_" + name }
	return "CONCAT_WS('|', " + v("schema") + ", " + v("state_change") + ", " + v("transaction_info") + ", " + v("system_variables") + ")"
}

func parseTrackers(text string) *sessionTrackers {
	parts := strings.SplitN(text, "|", 4)
	if len(parts) != 4 {
		return &sessionTrackers{transactions: "OFF"}
	}
	t := &sessionTrackers{schema: isOn(parts[0]), stateChange: isOn(parts[1]), transactions: parts[2], variables: parts[3], names: map[string]struct{}{}}
	for name := range strings.SplitSeq(t.variables, ",") {
		t.names[strings.ToLower(strings.TrimSpace(name))] = struct{}{}
	}
	_, t.all = t.names["*"]
	return t
}

// tells reports whether the client is told of an entry.
func (t *sessionTrackers) tells(e wire.Track) bool {
	switch e.Kind {
	case wire.TrackSchema:
		return t.schema
	case wire.TrackSystemVariable:
		_, named := t.names[string(e.Name)]
		return named || t.all
	case wire.TrackStateChange:
		return t.stateChange
	case wire.TrackTransaction:
		return t.transactions == "CHARACTERISTICS"
	case wire.TrackTransactionFlag:
		return t.transactions != "OFF"
	}
	return false
}

// set is the SET that gives a backend connection these values.
func (t *sessionTrackers) set() string {
	return "SET SESSION session_track_system_variables=" + literal("", t.variables) + ",session_track_schema=" + onOff(t.schema) +
		",session_track_state_change=" + onOff(t.stateChange) + ",session_track_transaction_info=" + t.transactions
}

func isOn(value string) bool { return value == "ON" || value == "1" }

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// chosenTrackers are the client's values of the session_track_… variables.
func (s *Session) chosenTrackers() *sessionTrackers {
	if s.state.trackers != nil {
		return s.state.trackers
	}
	return s.srv.backend.server.Load().trackers
}

// takeTrackers notes what the client has chosen. What it wants to hear of transactions, the backend connection must tell: then
// it is kept.
func (s *Session) takeTrackers(b *backendConn, text string) {
	t := parseTrackers(text)
	s.state.trackers = t
	b.tellsNext = false
	if t.transactions == "OFF" {
		s.state.releaseVariable("session_track_transaction_info")
	} else {
		s.state.holdVariable("session_track_transaction_info", t.transactions)
	}
}

// tellLess turns the reports of the next transaction off again, as far as they were turned on for the session itself.
func (s *Session) tellLess() string {
	return "SET SESSION session_track_transaction_info=" + s.chosenTrackers().transactions
}
