package proxy_test

import (
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

func executeTagged(t testing.TB, c *client.Conn, tag, q string, args ...any) string {
	t.Helper()
	if err := c.SetQueryAttributes(mysql.QueryAttribute{Name: "traceparent", Value: "00-4bf92f"}, mysql.QueryAttribute{Name: "Conn_Tag", Value: tag},
		mysql.QueryAttribute{Name: "retries", Value: uint64(7)}); err != nil {
		t.Fatal(err)
	}
	r, err := c.Execute(q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	if err := c.SetQueryAttributes(); err != nil {
		t.Fatal(err)
	}
	if r.Resultset == nil {
		return ""
	}
	v, err := r.GetString(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Clone(v)
}

func TestQueryAttributesNameTheCaller(t *testing.T) {
	for _, capability := range []uint32{0, mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM} {
		h := newHouse(t, 1)
		c := h.gomysqlClient(t, h.Addr().String(), capability)
		if got := executeTagged(t, c, "text", "SELECT 'plain'"); got != "plain" {
			t.Errorf("got %q", got)
		}
		if got := executeTagged(t, c, "ignored", "/* conn_tag:comment */ SELECT 'commented'"); got != "commented" {
			t.Errorf("got %q", got)
		}
		if got := executeTagged(t, c, "prepared", "SELECT CONCAT(?,'-',?)", "a", int64(5)); got != "a-5" {
			t.Errorf("got %q", got)
		}
		if got := executeTagged(t, c, "ignored", "SELECT CONCAT(?,'-',?) /* conn_tag:comment */", 5, nil); got != "" {
			t.Errorf("got %q, want NULL", got)
		}
		for range 2 { // the same client without any
			if r, err := c.Execute("SELECT ?+1", int64(41)); err != nil || r.Values[0][0].AsInt64() != 42 {
				t.Errorf("without attributes: %v, %v", r, err)
			}
		}
		for name, statements := range map[string]uint64{"text": 1, "prepared": 1, "comment": 3} {
			eventually(t, name+" is charged", func() bool { return caller(t, h, name).Statements == statements })
		}
		for _, c := range h.Snapshot().Pools[0].Ledger.Callers {
			if c.Name == "ignored" || c.Name == "00-4bf92f" || c.Name == "7" {
				t.Errorf("%q is a caller", c.Name)
			}
		}
	}
}

// attributedClient speaks with query attributes by hand.
func attributedClient(t testing.TB, h *house) *wiretest.Client {
	t.Helper()
	login := compressedLogin(wire.QueryAttributes)
	login.Schema = h.schema
	return h.loggedIn(t, login)
}

func TestMalformedQueryAttributesAreAnErrorOfTheStatementOnly(t *testing.T) {
	h := newHouse(t, 1)
	c := attributedClient(t, h)
	for _, p := range []string{"", "\x00", "\x00\x02SELECT 1", "\x01\x01\x00\x01\xfe\x00\x7fa", "\x01\x01\x00\x00SELECT 1"} {
		if err := c.Send(wire.ComQuery, p); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Reply(wire.ShapeResults); refusal(err) != 1835 {
			t.Errorf("%q: got %v, want 1835", p, err)
		}
	}
	if got := queryRaw(t, c, "\x00\x01SELECT 'alive'"); got != "alive" {
		t.Errorf("got %q", got)
	}
	if err := c.Send(wire.ComStmtPrepare, "SELECT ?"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reply(wire.ShapePrepare); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(wire.ComStmtExecute, "\x01\x00\x00\x00\x08\x01\x00\x00\x00\x00"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reply(wire.ShapeResults); refusal(err) != 1835 {
		t.Errorf("execute: got %v, want 1835", err)
	}
}

func TestAttributesGoWithLongDataAndRememberedTypes(t *testing.T) {
	h := newHouse(t, 1)
	c, noise := attributedClient(t, h), h.client(t)
	if err := c.Send(wire.ComStmtPrepare, "SELECT CONCAT(?,?)"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reply(wire.ShapePrepare); err != nil {
		t.Fatal(err)
	}
	execute := func(rest, want string) {
		t.Helper()
		if err := c.Send(wire.ComStmtExecute, "\x01\x00\x00\x00\x08\x01\x00\x00\x00"+rest); err != nil {
			t.Fatal(err)
		}
		packets, err := c.Reply(wire.ShapeResults)
		if err != nil || len(packets) < 5 || wire.FirstLenString(packets[3][2:]) != want {
			t.Errorf("got %q, %v; want %q", packets, err, want)
		}
	}
	const types = "\xfe\x00\x00" + "\xfe\x00\x00" + "\xfd\x00\x08conn_tag"
	execute("\x03\x00\x01"+types+"\x03abc\x01d\x04mine", "abcd")
	execute("\x02\x00\x00"+"\x01e\x01f", "ef")
	exec(t, noise, "DO 1")
	for range 2 {
		for _, piece := range []string{"long ", "data "} {
			if err := c.Send(wire.ComStmtSendLongData, "\x01\x00\x00\x00\x00\x00"+piece); err != nil {
				t.Fatal(err)
			}
		}
		execute("\x03\x00\x01"+types+"\x01g\x04mine", "long data g")
		execute("\x02\x00\x00"+"\x01h\x01i", "hi")
	}
	eventually(t, "mine is charged", func() bool { return caller(t, h, "mine").Statements >= 3 }) // what is pinned inherits
	expectPins(t, h)
}

// A command whose attributes make it one packet longer is answered with the numbers that its client counts on.
func TestStrippedCommandsOfSeveralPacketsAreAnsweredInStep(t *testing.T) {
	h := newHouse(t, 1)
	c := attributedClient(t, h)
	for _, n := range []int{16777215 - 20, 16777215 - 4, 16777215, 16777215 + 3} {
		q := "\x00\x01SELECT LENGTH('" + strings.Repeat("x", n-len("\x03\x00\x01SELECT LENGTH('')")) + "')"
		if err := c.Send(wire.ComQuery, q); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Reply(wire.ShapeResults); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
