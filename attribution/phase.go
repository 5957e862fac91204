package attribution

import "strconv"

// Phase is what a held connection is doing. A segment of a hold has one caller and one phase.
type Phase uint8

// The phases.
const (
	Executing         Phase = iota // a command was sent, its reply is not complete
	Sending                        // the reply waits for a slow client
	IdleInTransaction              // at rest inside a transaction
	Pinned                         // at rest, kept for a PinReason
	Preparing                      // connect, reset and replay before the first use; every hold begins here
	NumPhases         = iota
)

var phaseNames = [NumPhases]string{"executing", "sending", "idle_in_transaction", "pinned", "preparing"}

func (p Phase) String() string { return wordOf(phaseNames[:], uint8(p)) }

// PinReason is why a lease is kept past the end of a transaction.
type PinReason uint8

// The reasons; each ends when its cause does.
const (
	TempTable       PinReason = iota
	UserLock                  // GET_LOCK
	TablesLocked              // LOCK TABLES, FLUSH TABLES WITH READ LOCK
	UserVariable              // a user variable that was not set to a literal
	PreparedStmt              // text PREPARE; binary prepared statements do not pin
	Cursor                    // an open server-side cursor
	LongData                  // COM_STMT_SEND_LONG_DATA sent, not yet executed
	NextTransaction           // one-shot SET TRANSACTION
	SessionVariable           // a session variable that cannot be restored
	Procedure                 // a CALL whose body is not known
	Savepoint
	Handler       // HANDLER ... OPEN
	XA            // XA START to XA COMMIT or XA ROLLBACK
	Unknown       // a statement nobody understood
	NumPinReasons = iota
)

var pinNames = [NumPinReasons]string{
	"temp_table", "user_lock", "tables_locked", "user_variable", "prepared_stmt", "cursor", "long_data",
	"next_transaction", "session_variable", "procedure", "savepoint", "handler", "xa", "unknown",
}

func (r PinReason) String() string { return wordOf(pinNames[:], uint8(r)) }

// ErrorClass groups error codes so that a caller has a handful of counters instead of one per code.
type ErrorClass uint8

// The classes.
const (
	Deadlock ErrorClass = iota
	LockTimeout
	Syntax
	Access
	Duplicate
	Gone            // the backend was lost
	WaitTimeout     // the pool had no connection in time; conntag's own, no code maps to it
	Other           // every other code
	NumErrorClasses = iota
)

var classNames = [NumErrorClasses]string{
	"deadlock", "lock_timeout", "syntax", "access", "duplicate", "gone", "wait_timeout", "other",
}

func (c ErrorClass) String() string { return wordOf(classNames[:], uint8(c)) }

// ClassOf gives the class of an error code of MySQL or MariaDB. Names as in MySQL's "Server Error Message Reference" and
// MariaDB's "Error Codes".
func ClassOf(code uint16) ErrorClass {
	switch code {
	case 1213, // ER_LOCK_DEADLOCK
		1614: // ER_XA_RBDEADLOCK
		return Deadlock
	case 1205, // ER_LOCK_WAIT_TIMEOUT, MariaDB's NOWAIT included
		1613, // ER_XA_RBTIMEOUT
		3572: // ER_LOCK_NOWAIT, MySQL 8
		return LockTimeout
	case 1064, // ER_PARSE_ERROR
		1149: // ER_SYNTAX_ERROR
		return Syntax
	case 1044, // ER_DBACCESS_DENIED_ERROR
		1045, // ER_ACCESS_DENIED_ERROR
		1142, // ER_TABLEACCESS_DENIED_ERROR
		1143, // ER_COLUMNACCESS_DENIED_ERROR
		1227, // ER_SPECIFIC_ACCESS_DENIED_ERROR
		1370, // ER_PROCACCESS_DENIED_ERROR
		1698: // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
		return Access
	case 1022, // ER_DUP_KEY
		1062, // ER_DUP_ENTRY
		1586: // ER_DUP_ENTRY_WITH_KEY_NAME
		return Duplicate
	case 1053, // ER_SERVER_SHUTDOWN
		1927, // ER_CONNECTION_KILLED, MariaDB
		2006, // CR_SERVER_GONE_ERROR
		2013, // CR_SERVER_LOST
		4031: // ER_CLIENT_INTERACTION_TIMEOUT, MySQL 8
		return Gone
	}
	return Other
}

// wordOf names value i; a value outside the list is shown as its number, so that a log line never panics.
func wordOf(words []string, i uint8) string {
	if int(i) < len(words) {
		return words[i]
	}
	return strconv.Itoa(int(i))
}
