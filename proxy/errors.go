package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy/wire"
)

// Side says on which side of the proxy an error arose. It is set once, where the I/O happens.
type Side byte

// The sides.
const (
	SideProxy Side = iota
	SideClient
	SideBackend
)

func (s Side) String() string { return [...]string{"proxy", "client", "backend"}[s] }

// Error is an error with its side. It ends in Session.end, which alone decides what the client and the log see.
type Error struct {
	Side Side
	Err  error
}

func (e *Error) Error() string { return e.Side.String() + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func clientError(err error) error {
	if err == nil {
		return nil
	}
	return &Error{SideClient, err}
}

func backendError(err error) error {
	if err == nil {
		return nil
	}
	return &Error{SideBackend, err}
}

func sideOf(err error) Side {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Side
	}
	return SideProxy
}

// endsConnection reports whether a server closes the connection after an ERR with this code. The client's goes with
// it, as it would without us between.
func endsConnection(code uint16) bool {
	switch code {
	case mysql.ER_SERVER_SHUTDOWN, mysql.ER_NET_PACKET_TOO_LARGE, mysql.ER_NET_PACKETS_OUT_OF_ORDER,
		mysql.ER_NET_READ_ERROR, mysql.ER_NET_READ_INTERRUPTED, mysql.ER_NET_ERROR_ON_WRITE, mysql.ER_NET_WRITE_INTERRUPTED,
		1927, // ER_CONNECTION_KILLED, MariaDB
		4031: // ER_CLIENT_INTERACTION_TIMEOUT, MySQL 8
		return true
	}
	return false
}

// gone reports whether err is only a peer that closed its connection.
func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, errClientGone) || isReset(err)
}

var (
	errMalformedReply  = errors.New("reply makes no sense; the connection has lost step")
	errBackendEnded    = errors.New("backend ended the connection with an error")
	errUnaskedReply    = errors.New("backend sent more than the reply")
	errShuttingDown    = &wire.ServerError{Code: mysql.ER_SERVER_SHUTDOWN, State: "08S01", Message: "conntag is shutting down; connect again"}
	errLostBackend     = &wire.ServerError{Code: mysql.ER_NET_READ_ERROR, State: "08S01", Message: "conntag: lost connection to the backend during query"}
	errLostWithState   = &wire.ServerError{Code: mysql.ER_SERVER_SHUTDOWN, State: "08S01", Message: "conntag: lost the backend connection that held this session's transaction or state; connect again"}
	errInternal        = &wire.ServerError{Code: mysql.ER_UNKNOWN_ERROR, State: "HY000", Message: "conntag: internal error in this session; it is logged, connect again"}
	errUnknownCommand  = &wire.ServerError{Code: mysql.ER_UNKNOWN_COM_ERROR, State: "08S01", Message: "Unknown command"}
	errKillAlone       = &wire.ServerError{Code: mysql.ER_NOT_SUPPORTED_YET, State: "42000", Message: "conntag answers KILL itself, by the ids that its clients know: send it alone and with the id in its text"}
	errTooManyClients  = &wire.ServerError{Code: mysql.ER_CON_COUNT_ERROR, State: "08004", Message: "Too many connections"}
	errPacketTooLarge  = &wire.ServerError{Code: mysql.ER_NET_PACKET_TOO_LARGE, State: "08S01", Message: "Got a packet bigger than 'max_allowed_packet' bytes"}
	errOutOfOrder      = &wire.ServerError{Code: mysql.ER_NET_PACKETS_OUT_OF_ORDER, State: "08S01", Message: "Got packets out of order"}
	errBadHandshake    = &wire.ServerError{Code: mysql.ER_HANDSHAKE_ERROR, State: "08S01", Message: "Bad handshake"}
	errCompression     = &wire.ServerError{Code: mysql.ER_HANDSHAKE_ERROR, State: "08S01", Message: "Bad handshake: conntag's proxy.compression does not offer what the client compresses with"}
	errUncompress      = &wire.ServerError{Code: mysql.ER_NET_UNCOMPRESS_ERROR, State: "08S01", Message: "Couldn't uncompress communication packet"}
	errMalformedPacket = &wire.ServerError{Code: mysql.ER_MALFORMED_PACKET, State: "HY000", Message: "Malformed communication packet"}
	errSecureTransport = &wire.ServerError{Code: 3159, State: "HY000", Message: "Connections using insecure transport are prohibited: conntag's tls.mode is required"}
)

var (
	errVariablesLost        = errors.New("user variables died with their backend connection")
	errReleased             = fmt.Errorf("statement released the connection: %w", io.EOF)
	errDiagnosticsElsewhere = &wire.ServerError{Code: mysql.ER_NOT_SUPPORTED_YET, State: "42000", Message: "conntag: these diagnostics are on a backend connection that serves somebody else now; send this alone as SHOW WARNINGS, or in the transaction of the statement it is about"}
	errNoTypes              = &wire.ServerError{Code: mysql.ER_WRONG_ARGUMENTS, State: "HY000", Message: "Incorrect arguments to mysqld_stmt_execute"}
)

// Codes from 2000 on are the client library's own: MariaDB's C client takes an ERR packet with one of them for malformed.
// So what a direct client would have found out by itself (2003, 2013) is said with the nearest code of a server.

// acquireError turns a failed wait for a backend connection into what the client is told. The client's own
// connection survives it.
func (s *Session) acquireError(err error) *wire.ServerError {
	var dial *pool.DialError
	var server *wire.ServerError
	switch {
	case errors.Is(err, pool.ErrWaitTimeout):
		return &wire.ServerError{Code: mysql.ER_CON_COUNT_ERROR, State: "08004", Message: s.srv.waitTimeoutMessage()}
	case errors.Is(err, pool.ErrClosed):
		return errShuttingDown
	case errors.As(err, &server):
		return server
	case errors.As(err, &dial):
		why := dial.Unwrap()
		if sided := (*Error)(nil); errors.As(why, &sided) {
			why = sided.Err // "connect to ADDRESS: …"
		}
		return &wire.ServerError{Code: mysql.ER_CONNECT_TO_FOREIGN_DATA_SOURCE, State: "HY000",
			Message: fmt.Sprintf("conntag: no connection to the backend: %v", why)}
	}
	return &wire.ServerError{Code: mysql.ER_UNKNOWN_ERROR, State: "HY000", Message: "conntag: " + err.Error()}
}
