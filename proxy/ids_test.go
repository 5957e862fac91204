package proxy_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
)

// withStranger lets a second user in, who has the same rights at the backend.
func withStranger(o *options) {
	o.Users = append(o.Users, o.Users[0])
	o.Users[1].Name, o.Users[1].BackendUser, o.Users[1].BackendPassword = "other", mariadbtest.User, mariadbtest.Password
}

// protocolClient is a client that shows what drivers hide: the greeting's id, column definitions.
func (h *house) protocolClient(t testing.TB, bend ...client.Option) *client.Conn {
	t.Helper()
	c, err := client.ConnectWithContext(context.Background(), h.Addr().String(), mariadbtest.User, mariadbtest.Password, h.schema, 0, bend...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func idOf(t testing.TB, c queryer) uint64 {
	t.Helper()
	id, err := strconv.ParseUint(value(t, c, "SELECT CONNECTION_ID()"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestTheConnectionIDIsTheGreetingsInEverySpelling(t *testing.T) {
	h := newHouse(t, 2)
	noise, c := h.client(t), h.protocolClient(t)
	id := uint64(c.GetConnectionID())
	if id < 1_000_000_001 {
		t.Errorf("the session's id %d is one of the server's own range", id)
	}
	for _, q := range []string{
		"SELECT CONNECTION_ID()", "/* conn_tag:a */ select connection_id() as c", "SELECT Connection_Id ( ) FROM DUAL;",
		"SELECT @@pseudo_thread_id", "SELECT @@session.pseudo_thread_id", "SELECT `connection_id`()", "SELECT /*!50000 connection_id() */",
		"SELECT id FROM (SELECT connection_id() AS id) d", "SELECT CONNECTION_ID() + 0 x", "WITH c AS (SELECT connection_id() i) SELECT i FROM c",
	} {
		exec(t, noise, "DO 1")
		r, err := c.Execute(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if got, _ := r.GetUint(0, 0); got != id {
			t.Errorf("%s: got %d, want %d", q, got, id)
		}
		st, err := c.Prepare(strings.TrimSuffix(q, ";"))
		if err != nil {
			t.Fatalf("prepare %s: %v", q, err)
		}
		r, err = st.Execute()
		if err != nil {
			t.Fatalf("execute %s: %v", q, err)
		}
		if got, _ := r.GetUint(0, 0); got != id {
			t.Errorf("%s, prepared: got %d, want %d", q, got, id)
		}
	}
	db := h.client(t, func(c *mysql.Config) { c.MultiStatements = true })
	exec(t, db, "CREATE TABLE i (id BIGINT)")
	exec(t, db, "INSERT INTO i VALUES (1); INSERT INTO i VALUES (CONNECTION_ID()); INSERT INTO i SELECT connection_id()")
	expect(t, db, fmt.Sprintf("1,%d,%d", idOf(t, db), idOf(t, db)), "SELECT GROUP_CONCAT(id) FROM i")
	expect(t, db, "1", "SELECT CONNECTION_ID() = ?", idOf(t, db))
}

func TestTheConnectionIDHasTheColumnOfADirectConnection(t *testing.T) {
	h := newHouse(t, 1)
	c, direct := h.protocolClient(t), directClient(t, "")
	for _, q := range []string{"SELECT CONNECTION_ID()", "SELECT connection_id ( )+1, @@pseudo_thread_id, connection_id() x"} {
		got, err := c.Execute(q)
		if err != nil {
			t.Fatal(err)
		}
		want, err := direct.Execute(q)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := answeredColumns(got), answeredColumns(want); a != b {
			t.Errorf("%s: columns\n%swant\n%s", q, a, b)
		}
	}
}

func TestAThreadIDThatTheClientSetIsItsOwn(t *testing.T) {
	h := newHouse(t, 2)
	c := h.client(t)
	exec(t, c, "SET pseudo_thread_id = 77")
	expect(t, c, "77", "SELECT @@pseudo_thread_id")
	expect(t, c, "77", "SELECT CONNECTION_ID()")
}

// sleepIn has c sleep until somebody ends it; the error arrives on the channel.
func sleepIn(t testing.TB, h *house, c *sql.Conn, tag string) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		var v int
		ended <- c.QueryRowContext(context.Background(), "/* conn_tag:"+tag+" */ SELECT SLEEP(60)").Scan(&v)
	}()
	eventually(t, "it sleeps", func() bool {
		return slices.ContainsFunc(processes(t, h.client(t)), func(p process) bool { return strings.Contains(p.info, "conn_tag:"+tag) })
	})
	return ended
}

func TestKillTakesTheIDThatAnyoneCanRead(t *testing.T) {
	h := newHouse(t, 3, withStranger)
	a, b := h.client(t), h.client(t)
	stranger := h.client(t, func(c *mysql.Config) { c.User = "other" })
	id := idOf(t, a)
	for _, kill := range []string{"KILL QUERY %d", "/* x */ kill soft query %d;", "KILL HARD QUERY %d"} {
		ended := sleepIn(t, h, a, "sleeper")
		expectError(t, 1095, stranger, fmt.Sprintf(kill, id))
		exec(t, b, fmt.Sprintf(kill, id))
		if err := <-ended; errorCode(err) != 1317 {
			t.Errorf("%s: the statement ended with %v, want 1317", kill, err)
		}
		expect(t, a, "1", "SELECT 1")
	}

	ended := sleepIn(t, h, a, "prepared")
	st, err := b.PrepareContext(context.Background(), fmt.Sprintf("KILL QUERY %d", id))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.ExecContext(context.Background()); err != nil {
		t.Error(err)
	}
	_ = st.Close()
	if err := <-ended; errorCode(err) != 1317 {
		t.Errorf("the statement ended with %v, want 1317", err)
	}

	ended = sleepIn(t, h, a, "closed")
	exec(t, b, fmt.Sprintf("KILL CONNECTION %d", id))
	if err := <-ended; err == nil {
		t.Error("the killed connection's statement did not fail")
	}
	if _, err := a.ExecContext(context.Background(), "DO 1"); err == nil {
		t.Error("the killed connection still works")
	}
	eventually(t, "its id is gone", func() bool {
		_, err := b.ExecContext(context.Background(), fmt.Sprintf("KILL %d", id))
		return errorCode(err) == 1094
	})
}

func TestKillOfTheServersOwnConnectionsIsTheServersBusiness(t *testing.T) {
	h := newHouse(t, 2)
	c := h.client(t)
	for _, unknown := range []string{"999999", "999999999", "2000000000", "4294967295", "99999999999"} {
		expectError(t, 1094, c, "KILL "+unknown)
		expectError(t, 1094, c, "KILL QUERY "+unknown)
	}
	direct := conn(t, open(t, server.DSN("")))
	exec(t, c, fmt.Sprintf("KILL %d", idOf(t, direct)))
	if _, err := direct.ExecContext(context.Background(), "DO 1"); err == nil {
		t.Error("the server's own connection was not killed")
	}
	direct = conn(t, open(t, server.DSN("")))
	p := h.protocolClient(t)
	if err := processKill(p, uint32(idOf(t, direct))); err != nil {
		t.Error(err)
	}
	if _, err := direct.ExecContext(context.Background(), "DO 1"); err == nil {
		t.Error("the server's own connection was not killed by COM_PROCESS_KILL")
	}
	expectError(t, 1957, c, "KILL QUERY ID 99999999")
	expectError(t, 1317, c, "KILL QUERY CONNECTION_ID()")
	expectError(t, 1064, c, "KILL")
	expectError(t, 1235, c, "KILL USER nobody")
	expectError(t, 1235, c, "KILL 1+1")
	expectError(t, 1235, c, "KILL ?", 5)
	expectError(t, 1927, c, "KILL CONNECTION_ID()")
}

func processKill(c *client.Conn, id uint32) error {
	c.ResetSequence()
	p := append(make([]byte, 4), byte(wire.ComProcessKill))
	if err := c.WritePacket(binary.LittleEndian.AppendUint32(p, id)); err != nil {
		return err
	}
	_, err := c.ReadOKPacket()
	return err
}

func TestABackendConnectionsIDMeansTheSessionThatHasIt(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t)
	expect(t, a, "1", "SELECT 1")
	var backend uint32
	exec(t, a, "BEGIN")
	for _, s := range h.Sessions() {
		backend = max(backend, s.BackendID)
	}
	exec(t, a, "COMMIT")
	expectError(t, 1094, a, fmt.Sprintf("KILL %d", backend)) // it is idle, and nobody's
	exec(t, a, "BEGIN")
	expectError(t, 1317, a, fmt.Sprintf("KILL QUERY %d", backend))
	expectError(t, 1927, a, fmt.Sprintf("KILL %d", backend))
}

// process is a row of SHOW PROCESSLIST.
type process struct {
	id                            uint64
	user, host, db, command, info string
	seconds                       int
}

func processes(t testing.TB, c *sql.Conn) (list []process) {
	t.Helper()
	rows, err := c.QueryContext(context.Background(), "SHOW FULL PROCESSLIST")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var p process
		var db, state, info sql.NullString
		var progress string
		if err := rows.Scan(&p.id, &p.user, &p.host, &db, &p.command, &p.seconds, &state, &info, &progress); err != nil {
			t.Fatal(err)
		}
		p.db, p.info = db.String, info.String
		list = append(list, p)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTheProcessListShowsSessionsAndTheirIDs(t *testing.T) {
	h := newHouse(t, 3, withStranger)
	a, idle, other := h.client(t), h.client(t), h.client(t, func(c *mysql.Config) { c.User = "other" })
	direct := conn(t, open(t, server.DSN("")))
	exec(t, other, "BEGIN")
	sleeping := sleepIn(t, h, a, "listed")
	list := processes(t, idle)
	find := func(id uint64) process {
		for _, p := range list {
			if p.id == id {
				return p
			}
		}
		t.Errorf("no row of connection %d", id)
		return process{}
	}
	var ours uint64
	for _, s := range h.Sessions() {
		p := find(uint64(s.ID))
		if p.host != s.Client || p.user != s.User || p.db != h.schema {
			t.Errorf("row %+v of session %+v", p, s)
		}
		if strings.Contains(p.info, "SLEEP") {
			ours = p.id
		}
	}
	if own := find(idOf(t, idle)); own.info != "SHOW FULL PROCESSLIST" || own.command != "Query" {
		t.Errorf("own row: %+v", own)
	}
	if p := find(idOf(t, other)); p.command != "Sleep" || p.user != "other" {
		t.Errorf("the session in a transaction: %+v", p)
	}
	if p := find(idOf(t, direct)); p.user != mariadbtest.User {
		t.Errorf("the server's own connection: %+v", p)
	}
	backends := map[uint64]bool{}
	for _, s := range h.Sessions() {
		backends[uint64(s.BackendID)] = true
	}
	for _, p := range list {
		if backends[p.id] {
			t.Errorf("a backend connection is shown: %+v", p)
		}
	}
	exec(t, idle, fmt.Sprintf("KILL QUERY %d", ours))
	if err := <-sleeping; errorCode(err) != 1317 {
		t.Errorf("the listed statement ended with %v, want 1317", err)
	}
}

func TestTheProcessListOfAPlainUserShowsItsOwnSessions(t *testing.T) {
	direct := open(t, server.DSN(""))
	exec(t, direct, "CREATE USER plain IDENTIFIED BY 'p'")
	t.Cleanup(func() { exec(t, direct, "DROP USER plain") })
	h := newHouse(t, 2, func(o *options) {
		withStranger(o)
		o.Users[1].Name, o.Users[1].BackendUser, o.Users[1].BackendPassword = "plain", "plain", "p"
	})
	a := h.client(t)
	plain := func() *sql.Conn { return h.client(t, func(c *mysql.Config) { c.User, c.DBName = "plain", "" }) }
	one, two := plain(), plain()
	expect(t, a, "1", "SELECT 1")
	want := []uint64{idOf(t, one), idOf(t, two)}
	var got []uint64
	for _, p := range processes(t, one) {
		got = append(got, p.id)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("connections %v, want %v", got, want)
	}
	expectError(t, 1095, one, fmt.Sprintf("KILL %d", idOf(t, a)))
	expectError(t, 1095, one, fmt.Sprintf("KILL %d", idOf(t, conn(t, direct)))) // the server's own answer
}

func TestALongProcessListAndItsFormsAreWhole(t *testing.T) {
	h := newHouse(t, 2)
	c := h.protocolClient(t)
	for range 40 {
		h.client(t)
	}
	direct := directClient(t, "")
	for _, q := range []string{"SHOW PROCESSLIST", "/* conn_tag:ops */ show full processlist ;"} {
		got, err := c.Execute(q)
		if err != nil {
			t.Fatal(err)
		}
		want, err := direct.Execute(q)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := answeredColumns(got), answeredColumns(want); a != b {
			t.Errorf("%s: columns\n%swant\n%s", q, a, b)
		}
		if got.RowNumber() < 41 {
			t.Errorf("%s: %d rows", q, got.RowNumber())
		}
	}
	raw := h.rawClient(t)
	reply := raw.roundTrip(t, framed(wire.ComProcessInfo, ""), wire.ShapeResults)
	if !strings.Contains(string(reply), strconv.Itoa(int(c.GetConnectionID()))) {
		t.Error("COM_PROCESS_INFO does not show the clients' ids")
	}
	out, err := osexec.Command("mariadb", "--no-defaults", "-h127.0.0.1", "-P"+portOf(h), "-u"+mariadbtest.User, "-p"+mariadbtest.Password,
		"-N", "-e", "SHOW PROCESSLIST").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), fmt.Sprint(c.GetConnectionID())) || !strings.Contains(string(out), "SHOW PROCESSLIST") {
		t.Errorf("the command line client shows\n%s", out)
	}
}

func portOf(h *house) string {
	_, port, _ := strings.Cut(h.Addr().String(), ":")
	return port
}
