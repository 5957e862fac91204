package sqlscan

// condition says what else must hold for a marker word to raise its flag. Words that are good column names have one, so that
// a table with a column "row_count" does not pin its readers.
type condition uint8

const (
	ifWord         condition = iota
	ifName                   // a word or an identifier in quotes
	ifWordOrCalled           // a word, or called although it stands in identifier quotes
	ifCalled                 // the next token is "(", quotes or not
	ifCalledOrGet            // as ifCalled, or a word in GET DIAGNOSTICS
	ifShow                   // the statement is SHOW
	ifGet                    // the statement is GET
	ifUserVar                // the next token is a user variable
	ifValue                  // the next word is VALUE
	ifPair                   // the next token is followed by a comma
	ifWrites                 // the statement is INSERT, REPLACE, CREATE or SET
)

// marker is a word that raises a flag.
type marker struct {
	word string
	when condition
	flag Flags
}

var markers = []marker{
	{"into", ifUserVar, AssignsUserVar},
	{"temporary", ifWord, Temporary},
	{"union", ifWord, Combines},
	{"intersect", ifWord, Combines},
	{"except", ifWord, Combines},
	{"offset", ifWord, Combines},
	{"procedure", ifWord, Combines},
	{"limit", ifPair, Combines},
	{"select", ifWrites, Combines},
	{"last_insert_id", ifWordOrCalled, LastInsertID},
	{"found_rows", ifCalled, FoundRows},
	{"sql_calc_found_rows", ifWord, CalcFoundRows},
	{"row_count", ifCalledOrGet, RowCount},
	{"get_lock", ifCalled, GetLock},
	{"service_get_read_locks", ifCalled, GetLock},
	{"service_get_write_locks", ifCalled, GetLock},
	{"release_lock", ifCalled, ReleaseLock},
	{"release_all_locks", ifCalled, ReleaseLock},
	{"service_release_locks", ifCalled, ReleaseLock},
	{"connection_id", ifCalled, ConnectionID},
	{"pseudo_thread_id", ifWord, ConnectionID},
	{"session_track_schema", ifName, Trackers},
	{"session_track_state_change", ifName, Trackers},
	{"session_track_system_variables", ifName, Trackers},
	{"session_track_transaction_info", ifName, Trackers},
	{"session_variables", ifName, Trackers},
	{"system_variables", ifName, Trackers},
	{"variables_by_thread", ifName, Trackers},
	{"variables", ifShow, Trackers},
	{"warnings", ifShow, Warnings},
	{"errors", ifShow, Warnings},
	{"diagnostics", ifGet, Warnings},
	{"nextval", ifWordOrCalled, Sequence},
	{"lastval", ifWordOrCalled, Sequence},
	{"currval", ifWordOrCalled, Sequence},
	{"setval", ifWordOrCalled, Sequence},
	{"next", ifValue, Sequence},
	{"previous", ifValue, Sequence},
}

const longestMarker = 30

// markerLengths has, for each first byte in either case, a bit for the length of every marker that begins with it. It rejects
// nearly every word of a text with one load.
var (
	markerLengths   = newMarkerLengths()
	markersByLength = newMarkersByLength()
)

func newMarkerLengths() (bits [256]uint32) {
	for _, m := range markers {
		bits[m.word[0]] |= 1 << len(m.word)
		bits[m.word[0]&^0x20] |= 1 << len(m.word)
	}
	return bits
}

func newMarkersByLength() (by [longestMarker + 1][]marker) {
	for _, m := range markers {
		by[len(m.word)] = append(by[len(m.word)], m)
	}
	return by
}

func mayMark(word []byte) bool {
	return len(word) > 0 && markerLengths[word[0]]>>uint(len(word))&1 != 0
}

func findMarker(word []byte) (marker, bool) {
	for _, m := range markersByLength[len(word)] {
		if equalFold(word, m.word) {
			return m, true
		}
	}
	return marker{}, false
}

// marks returns the flags that word raises in a statement that begins with verb. rest stands behind the word; quotedIdent
// tells that the word was an identifier in quotes, which can still name a function.
func marks(word []byte, quotedIdent bool, verb Keyword, rest Lexer) Flags {
	m, ok := findMarker(word)
	if !ok {
		return 0
	}
	if quotedIdent && m.when != ifName && m.when != ifWordOrCalled && m.when != ifCalled && m.when != ifCalledOrGet {
		return 0
	}
	switch m.when {
	case ifWordOrCalled:
		ok = !quotedIdent || rest.Next().isPunct('(')
	case ifCalled:
		ok = rest.Next().isPunct('(')
	case ifCalledOrGet:
		ok = verb == Get && !quotedIdent || rest.Next().isPunct('(')
	case ifShow:
		ok = verb == Show
	case ifGet:
		ok = verb == Get
	case ifUserVar:
		ok = rest.Next().Kind == TokenUserVar
	case ifValue:
		ok = rest.Next().Is("value")
	case ifWrites:
		ok = verb == Insert || verb == Replace || verb == Create || verb == Set
	case ifPair:
		rest.Next()
		ok = rest.Next().isPunct(',')
	}
	if !ok {
		return 0
	}
	return m.flag
}

// sysVarMarks returns the flags that a system variable's name raises.
func sysVarMarks(name []byte) Flags {
	switch {
	case equalFold(name, "last_insert_id"), equalFold(name, "identity"):
		return LastInsertID
	case equalFold(name, "warning_count"), equalFold(name, "error_count"):
		return Warnings
	case equalFold(name, "pseudo_thread_id"):
		return ConnectionID
	case isTracker(name):
		return Trackers
	}
	return 0
}

// isScope reports whether the name behind @@ is empty or a scope: then blanks or comments may stand around the dot, and the
// variable's name is a token of its own.
func isScope(name []byte) bool {
	return len(name) == 0 || equalFold(name, "session") || equalFold(name, "local") || equalFold(name, "global")
}

// scopedName is the name that follows a scope.
func scopedName(rest Lexer) []byte {
	t := rest.Next()
	if t.isPunct('.') {
		t = rest.Next()
	}
	return t.Text
}

// isTracker reports whether a system variable, perhaps in quotes, is one that chooses what the server reports of its session.
func isTracker(name []byte) bool {
	const prefix = "session_track_"
	if len(name) > 1 && name[0] == '`' {
		name = name[1:]
	}
	return len(name) > len(prefix) && equalFold(name[:len(prefix)], prefix)
}
