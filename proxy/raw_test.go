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
	"github.com/conntag/conntag/proxy/wiretest"
)

// rawClient speaks to the proxy without allocating, so that what is measured is the proxy's.
type rawClient struct {
	net.Conn
	buf [64 << 10]byte
}

func (h *house) rawClient(t testing.TB) *rawClient {
	t.Helper()
	return h.rawClientWith(t, func(c *client.Conn) error {
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		return nil
	})
}

// modernClient negotiates DeprecateEOF, which roundTrip can't follow: use exactly.
func (h *house) modernClient(t testing.TB) *rawClient {
	t.Helper()
	return h.rawClientWith(t, func(c *client.Conn) error { return c.SetCapability(mysql.CLIENT_MULTI_STATEMENTS) })
}

func (h *house) rawClientWith(t testing.TB, bend client.Option) *rawClient {
	t.Helper()
	var d net.Dialer
	c, err := client.ConnectWithDialer(context.Background(), "tcp", h.Addr().String(), mariadbtest.User, mariadbtest.Password, h.schema, d.DialContext, bend,
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

// exactly sends a framed command and reads the size bytes of its reply.
func (c *rawClient) exactly(t testing.TB, framed []byte, size int) {
	if _, err := c.Write(framed); err != nil {
		t.Fatal(err)
	}
	for size > 0 {
		n, err := c.Read(c.buf[:min(size, len(c.buf))])
		if err != nil {
			t.Fatal(err)
		}
		size -= n
	}
}

// modernSize is how many bytes the reply to sql has with DeprecateEOF.
func (h *house) modernSize(t testing.TB, sql string) (size int) {
	t.Helper()
	c := h.loggedIn(t, wiretest.Login{Schema: h.schema, Capabilities: replyForms["modern"]})
	for _, p := range runSteps(t, c, []exchangeStep{query(sql)})[0] {
		size += wire.HeaderLen + len(p)
	}
	return size
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

// BenchmarkReply compares the two forms of a reply; before the capability was offered there was only the classic one.
func BenchmarkReply(b *testing.B) {
	h := newHouse(b, 2)
	classic, modern := h.rawClient(b), h.modernClient(b)
	for _, q := range []struct{ name, sql string }{
		{"point", "SELECT 42"},
		{"10000rows", "SELECT REPEAT('x', 200) FROM seq_1_to_10000"},
	} {
		cmd := framed(wire.ComQuery, q.sql)
		size := h.modernSize(b, q.sql)
		for _, form := range []struct {
			name  string
			c     *rawClient
			extra int
		}{{"classic", classic, wire.HeaderLen + wire.EOFLen - wire.EndGrowth}, {"modern", modern, 0}} {
			b.Run(q.name+"/"+form.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size + form.extra))
				for b.Loop() {
					form.c.exactly(b, cmd, size+form.extra)
				}
			})
		}
	}
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
