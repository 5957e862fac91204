package sqlscan

// Mode is the part of a session's sql_mode that changes how text is read.
type Mode uint8

// The modes. Without AnsiQuotes "…" is a string.
const (
	AnsiQuotes Mode = 1 << iota
	NoBackslashEscapes
)

// Flags are marks found anywhere in a text, in all its statements.
type Flags uint32

// The marks.
const (
	UserVar        Flags = 1 << iota // @name, @'name' or @`name`
	AssignsUserVar                   // :=, or INTO before a user variable (not SET, CALL, LOAD, GET: their verb says it)
	SysVar                           // @@name
	LastInsertID                     // last_insert_id, @@last_insert_id, @@identity
	FoundRows                        // found_rows()
	CalcFoundRows                    // sql_calc_found_rows
	RowCount                         // row_count(), or ROW_COUNT in GET DIAGNOSTICS
	GetLock                          // get_lock(), service_get_read_locks(), service_get_write_locks()
	ReleaseLock                      // release_lock(), release_all_locks(), service_release_locks()
	ConnectionID                     // connection_id(), pseudo_thread_id
	Warnings                         // SHOW [COUNT(*)] WARNINGS or ERRORS, GET DIAGNOSTICS, @@warning_count, @@error_count
	Sequence                         // NEXT VALUE, PREVIOUS VALUE, nextval and their like: a sequence's last value is per connection
	Temporary                        // the word TEMPORARY
	Combines                         // UNION, INTERSECT, EXCEPT, OFFSET, LIMIT m, n, PROCEDURE, or SELECT in a statement that writes: FOUND_ROWS() may differ from the rows sent
	MultiStatement                   // a ";" is followed by more than comments (in a stored program's body too)
	Trailing                         // the last ";" is followed by comments only: with multi-statements on, one more empty OK
	Executable                       // a comment that servers run, /*! or /*M!; it is read as code, whatever its version
	Trackers                         // session_track_… or what shows all variables: SHOW VARIABLES, session_variables, system_variables
	Unterminated                     // a quote or a comment is not closed
)

// Span is a stretch of a text, in bytes, with the markers of the comment it holds.
type Span struct{ Start, End uint32 }

// maxComments is how many comments a Statement remembers: the first half and the last half of what the text has.
const maxComments = 8

// Statement is what Scan found. First and Second are the first two words of the first statement; Second is KeywordNone when
// what follows First is not a word. Parentheses before the first word are skipped: "(SELECT 1)" begins with Select.
type Statement struct {
	First, Second Keyword
	n             uint8
	Flags         Flags
	Body          uint32 // offset of the first byte that is neither blank nor comment; the text's length when there is none
	comments      [maxComments]Span
}

// Comments returns the plain comments in order, wherever they stand: /* … */, "-- " and # to the end of the line. Optimizer
// hints, executable comments, Vitess directives and comments that are not closed are not among them. Of more than eight
// comments it returns the first four and the last four. The slice points into s.
func (s *Statement) Comments() []Span { return s.comments[:s.n] }

func (s *Statement) comment(start, end int) {
	if s.n == maxComments {
		copy(s.comments[maxComments/2:], s.comments[maxComments/2+1:])
		s.n--
	}
	s.comments[s.n] = Span{uint32(start), uint32(end)}
	s.n++
}
