package invisible

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/conntag/conntag/proxy/wire"
)

// Verb is the command that an Op sends.
type Verb string

// The verbs, as a case's text names them.
const (
	Query      Verb = "query"
	Prepare    Verb = "prepare" // Text becomes the statement named Slot
	Execute    Verb = "execute"
	Fetch      Verb = "fetch" // N rows of Slot's cursor
	Close      Verb = "close"
	Reset      Verb = "reset"
	Long       Verb = "long" // Text is a piece of Slot's parameter N
	InitDB     Verb = "init_db"
	FieldList  Verb = "field_list"
	Ping       Verb = "ping"
	Statistics Verb = "statistics"
	ResetConn  Verb = "reset_connection"
	ChangeUser Verb = "change_user" // Text is the schema
	SetOption  Verb = "set_option"  // N is 0 for several statements in one text, 1 for one
	Reconnect  Verb = "reconnect"   // COM_QUIT and a new login
)

// Op is one command, without a client's ids in it: a statement is known by the name that its client gave it.
type Op struct {
	Verb    Verb
	Slot    string
	Text    string
	N       int
	Params  []Param
	Cursor  bool // Execute opens a cursor
	Unbound bool // Execute leaves the parameters' types out, as clients do from the second time on
}

// command is the protocol's name of the verb.
func (v Verb) command() wire.Command {
	switch v {
	case Query:
		return wire.ComQuery
	case Prepare:
		return wire.ComStmtPrepare
	case Execute:
		return wire.ComStmtExecute
	case Fetch:
		return wire.ComStmtFetch
	case Close:
		return wire.ComStmtClose
	case Reset:
		return wire.ComStmtReset
	case Long:
		return wire.ComStmtSendLongData
	case InitDB:
		return wire.ComInitDB
	case FieldList:
		return wire.ComFieldList
	case Statistics:
		return wire.ComStatistics
	case ResetConn:
		return wire.ComResetConnection
	case ChangeUser:
		return wire.ComChangeUser
	case SetOption:
		return wire.ComSetOption
	}
	return wire.ComPing
}

// silent says that the server answers nothing.
func (v Verb) silent() bool { return v == Close || v == Long }

// atRest says that the command needs no backend connection.
func (v Verb) atRest() bool { return v == Ping || v == SetOption || v == ResetConn || v == Reconnect }

// ParamKind is how a parameter is sent.
type ParamKind string

// The kinds of parameters.
const (
	Null   ParamKind = "null"
	Int    ParamKind = "int"
	Double ParamKind = "double"
	String ParamKind = "string"
	Piece  ParamKind = "long" // sent before, by Long
)

// Param is one parameter of Execute; Text is its value as text.
type Param struct {
	Kind ParamKind
	Text string
}

// fieldType is the protocol's type byte.
func (p Param) fieldType() byte {
	switch p.Kind {
	case Int:
		return 0x08
	case Double:
		return 0x05
	case Piece:
		return 0xfc
	case Null:
		return 0x06
	}
	return 0xfd
}

func (p Param) appendValue(dst []byte) []byte {
	switch p.Kind {
	case Int:
		n, _ := strconv.ParseInt(p.Text, 10, 64)
		return binary.LittleEndian.AppendUint64(dst, uint64(n))
	case Double:
		f, _ := strconv.ParseFloat(p.Text, 64)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	case String:
		return wire.AppendLenString(dst, p.Text)
	}
	return dst
}

// executePayload is COM_STMT_EXECUTE without its command byte. Layout:
// dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html.
func executePayload(id uint32, op Op, params []Param, bind bool) []byte {
	p := binary.LittleEndian.AppendUint32(nil, id)
	var flags byte
	if op.Cursor {
		flags = 1
	}
	p = append(p, flags, 1, 0, 0, 0)
	if len(params) == 0 {
		return p
	}
	nulls := make([]byte, (len(params)+7)/8)
	var types, values []byte
	for i, param := range params {
		if param.Kind == Null {
			nulls[i/8] |= 1 << (i % 8)
		}
		types = append(types, param.fieldType(), 0)
		values = param.appendValue(values)
	}
	p = append(p, nulls...)
	if !bind {
		return append(append(p, 0), values...)
	}
	return append(append(append(p, 1), types...), values...)
}
