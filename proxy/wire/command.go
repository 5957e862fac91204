package wire

// Command is the first byte of a client's packet.
// Source: dev.mysql.com/doc/dev/mysql-server/latest/my__command_8h.html; 0xfa and up are MariaDB's.
type Command byte

// The commands of the text and binary protocols.
const (
	ComSleep            Command = 0x00
	ComQuit             Command = 0x01
	ComInitDB           Command = 0x02
	ComQuery            Command = 0x03
	ComFieldList        Command = 0x04
	ComCreateDB         Command = 0x05
	ComDropDB           Command = 0x06
	ComRefresh          Command = 0x07
	ComShutdown         Command = 0x08
	ComStatistics       Command = 0x09
	ComProcessInfo      Command = 0x0a
	ComConnect          Command = 0x0b
	ComProcessKill      Command = 0x0c
	ComDebug            Command = 0x0d
	ComPing             Command = 0x0e
	ComChangeUser       Command = 0x11
	ComBinlogDump       Command = 0x12
	ComTableDump        Command = 0x13
	ComConnectOut       Command = 0x14
	ComRegisterSlave    Command = 0x15
	ComStmtPrepare      Command = 0x16
	ComStmtExecute      Command = 0x17
	ComStmtSendLongData Command = 0x18
	ComStmtClose        Command = 0x19
	ComStmtReset        Command = 0x1a
	ComSetOption        Command = 0x1b
	ComStmtFetch        Command = 0x1c
	ComDaemon           Command = 0x1d
	ComBinlogDumpGTID   Command = 0x1e
	ComResetConnection  Command = 0x1f
	ComStmtBulkExecute  Command = 0xfa
)

// Shape is the form of the reply that a command gets.
type Shape byte

// The shapes of replies. Exceptions inside a shape (LOCAL INFILE, several results, cursors) are Reply's business.
const (
	ShapeNone    Shape = iota // no reply at all
	ShapeOK                   // one OK, EOF or ERR
	ShapeResults              // results of a query or of an executed statement
	ShapePrepare              // the answer to COM_STMT_PREPARE
	ShapeRows                 // rows only: COM_STMT_FETCH
	ShapeFields               // column definitions only: COM_FIELD_LIST
	ShapeString               // one packet of plain text: COM_STATISTICS
)

// Shape returns the form of the reply to c.
func (c Command) Shape() Shape {
	switch c {
	case ComQuit, ComStmtClose, ComStmtSendLongData:
		return ShapeNone
	case ComQuery, ComStmtExecute, ComProcessInfo, ComStmtBulkExecute:
		return ShapeResults
	case ComStmtPrepare:
		return ShapePrepare
	case ComStmtFetch:
		return ShapeRows
	case ComFieldList:
		return ShapeFields
	case ComStatistics:
		return ShapeString
	}
	return ShapeOK
}

// Status is the server's status word in OK and EOF packets.
// Source: dev.mysql.com/doc/dev/mysql-server/latest/mysql__com_8h.html (SERVER_STATUS_flags_enum).
type Status uint16

// The bits of Status that a relay looks at.
const (
	StatusInTrans            Status = 0x0001
	StatusAutocommit         Status = 0x0002
	StatusMoreResults        Status = 0x0008
	StatusCursorExists       Status = 0x0040
	StatusLastRowSent        Status = 0x0080
	StatusDBDropped          Status = 0x0100
	StatusNoBackslashEscapes Status = 0x0200
	StatusPSOutParams        Status = 0x1000
	StatusInTransReadonly    Status = 0x2000
	StatusSessionState       Status = 0x4000
	StatusAnsiQuotes         Status = 0x8000 // MariaDB
)
