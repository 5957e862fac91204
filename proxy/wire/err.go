package wire

import (
	"encoding/binary"
	"fmt"
)

// ServerError is an ERR packet: a server's own word, passed on or spoken by us in its place.
type ServerError struct {
	Code    uint16
	State   string // five characters
	Message string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("%d (%s): %s", e.Code, e.State, e.Message)
}

// Append encodes e after dst.
func (e *ServerError) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, ErrHeader), e.Code)
	return append(append(append(dst, '#'), e.State...), e.Message...)
}

// AppendBare encodes e as servers do before the greeting, when they don't know yet whether the client takes a state.
func (e *ServerError) AppendBare(dst []byte) []byte {
	return append(binary.LittleEndian.AppendUint16(append(dst, ErrHeader), e.Code), e.Message...)
}

// ParseErr decodes an ERR packet's payload. Without a marker (as before a login's capabilities are known) the
// state is HY000.
func ParseErr(p []byte) *ServerError {
	r := reader{p: p}
	r.byte()
	e := &ServerError{Code: r.uint16(), State: "HY000"}
	if len(r.p) >= 6 && r.p[0] == '#' {
		e.State = string(r.p[1:6])
		r.take(6)
	}
	e.Message = string(r.rest())
	return e
}

// ErrCode reads only the code out of an ERR packet's payload; 0 when it is too short.
func ErrCode(p []byte) uint16 {
	if len(p) < 3 {
		return 0
	}
	return binary.LittleEndian.Uint16(p[1:])
}
