package proxy_test

import (
	"context"
	"encoding/binary"
	"net"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
)

// rawClient speaks to the proxy without allocating, so that what is measured is the proxy's.
type rawClient struct {
	net.Conn
	buf [64 << 10]byte
}

func (h *house) rawClient(t testing.TB) *rawClient {
	t.Helper()
	var d net.Dialer
	c, err := client.ConnectWithDialer(context.Background(), "tcp", h.Addr().String(), mariadbtest.User, mariadbtest.Password, h.schema, d.DialContext,
		func(c *client.Conn) error {
			c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES) // what is sent by hand is without
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &rawClient{Conn: c.Conn.Conn}
}

// roundTrip sends a framed command and reads its reply.
func (c *rawClient) roundTrip(t testing.TB, framed []byte, shape wire.Shape) (reply []byte) {
	if _, err := c.Write(framed); err != nil {
		t.Fatal(err)
	}
	r := wire.NewReply(shape, 1, false)
	off, end := 0, 0
	for !r.Done() {
		n, ev := r.Next(c.buf[off:end])
		off += n
		switch ev {
		case wire.EventMore:
			k, err := c.Read(c.buf[end:])
			if err != nil {
				t.Fatal(err)
			}
			end += k
		case wire.EventBad:
			t.Fatal("reply makes no sense")
		}
	}
	if r.Failed != 0 {
		t.Fatal(wire.ParseErr(r.Packet(c.buf[:off])))
	}
	return c.buf[:end]
}

func framed(c wire.Command, payload string) []byte {
	p, _ := wire.AppendPacket(nil, 0, append([]byte{byte(c)}, payload...))
	return p
}

// execute frames the execution of a statement with one integer parameter.
func execute(id uint32, param uint64) []byte {
	p := []byte{byte(wire.ComStmtExecute)}
	p = binary.LittleEndian.AppendUint32(p, id)
	p = append(p, 0, 1, 0, 0, 0, 0, 1, 8, 0)
	p = binary.LittleEndian.AppendUint64(p, param)
	out, _ := wire.AppendPacket(nil, 0, p)
	return out
}

func BenchmarkStatement(b *testing.B) {
	h := newHouse(b, 2)
	c := h.rawClient(b)
	q := framed(wire.ComQuery, "/* conn_tag:bench */ DO 1")
	b.ReportAllocs()
	for b.Loop() {
		c.roundTrip(b, q, wire.ShapeResults)
	}
}
