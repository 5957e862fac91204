package proxy_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
)

func TestClientThatVanishesInATransactionFreesItsLocksAtOnce(t *testing.T) {
	h := newHouse(t, 2)
	a := h.rawClient(t)
	b := h.client(t)
	exec(t, b, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	exec(t, b, "INSERT INTO t VALUES (1,1)")
	a.query(t, "/* conn_tag:gone */ BEGIN")
	a.query(t, "SELECT * FROM t WHERE id=1 FOR UPDATE")
	_ = a.Close()
	exec(t, b, "SET innodb_lock_wait_timeout=5")
	exec(t, b, "UPDATE t SET v=2 WHERE id=1")
	eventually(t, "no lease is out", func() bool { return h.Snapshot().Pools[0].Stat.InUse == 0 })
}

func TestClientThatVanishesWhileItWaitsLeavesTheQueue(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t)
	exec(t, a, "BEGIN")
	b := h.rawClient2(t)
	if _, err := b.Write(framed(wire.ComQuery, "/* conn_tag:impatient */ DO 1")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits", func() bool { return h.Snapshot().Pools[0].Stat.Waiting == 1 })
	_ = b.Close()
	eventually(t, "it left", func() bool { return h.Snapshot().Pools[0].Stat.Waiting == 0 })
	exec(t, a, "COMMIT")
	eventually(t, "its session ended", func() bool { return h.Snapshot().ClientConnections == 1 })
	if c := caller(t, h, "impatient"); c.Abandoned != 1 || c.WaitTimeouts != 0 {
		t.Errorf("abandoned %d, timeouts %d; want 1 and 0", c.Abandoned, c.WaitTimeouts)
	}
}

// rawClient2 is a raw client that logs in without a schema, so that its login needs no backend connection.
func (h *house) rawClient2(t testing.TB) *rawClient {
	bare := *h
	bare.schema = ""
	return bare.rawClient(t)
}

func TestWaitersAreServedInOrderOfArrival(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t)
	exec(t, a, "CREATE TABLE o (id INT PRIMARY KEY AUTO_INCREMENT, who INT)")
	exec(t, a, "BEGIN")
	done := make(chan error, 8)
	for i := range 8 {
		c := h.client(t, func(c *mysql.Config) { c.DBName = "" })
		go func() {
			_, err := c.ExecContext(context.Background(), fmt.Sprintf("INSERT INTO %s.o(who) VALUES (%d)", h.schema, i))
			done <- err
		}()
		eventually(t, "it waits", func() bool { return h.Snapshot().Pools[0].Stat.Waiting == i+1 })
	}
	exec(t, a, "COMMIT")
	for range 8 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	expect(t, a, "0,1,2,3,4,5,6,7", "SELECT GROUP_CONCAT(who ORDER BY id) FROM o")
}

func TestManyShortClientsReuseTheBackends(t *testing.T) {
	h := newHouse(t, 4)
	for i := range 100 {
		db := open(t, h.dsn())
		c := conn(t, db)
		if i >= 50 {
			expect(t, c, "NULL", "SELECT @x")
			exec(t, c, "SET @x=1")
		}
		expect(t, c, "1", "SELECT 1")
		_ = c.Close()
		_ = db.Close()
	}
	eventually(t, "all are gone", func() bool { return h.Snapshot().ClientConnections == 0 })
	if dials := h.Snapshot().Pools[0].Stat.Dials; dials > 8 {
		t.Errorf("%d dials for 100 clients over 4 connections", dials)
	}
}

func TestBackendRestartIsSurvived(t *testing.T) {
	own := mariadbtest.Run(t, mariadbtest.WithDatabase("app"))
	h := newHouse(t, 3, func(o *options) { o.Backend.Address = own.Addr(); o.Backend.ConnectTimeout = time.Second })
	h.schema = "app"
	a, b := h.client(t), h.client(t)
	expect(t, a, "1", "SELECT 1")
	exec(t, b, "BEGIN")
	own.Kill()
	_, err := a.ExecContext(context.Background(), "DO 1")
	if errorCode(err) == 0 {
		t.Errorf("got %v, want an error packet on a living connection", err)
	}
	if _, err := b.ExecContext(context.Background(), "DO 1"); err == nil {
		t.Error("a transaction survived its server")
	}
	if err := own.Restart(); err != nil {
		t.Fatal(err)
	}
	expect(t, a, "1", "SELECT 1")
	if err := h.Ready(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestKillWorksByTheIDsThatClientsKnow(t *testing.T) {
	h := newHouse(t, 2, func(o *options) {
		o.Users = append(o.Users, o.Users[0])
		o.Users[1].Name, o.Users[1].BackendUser, o.Users[1].BackendPassword = "other", mariadbtest.User, mariadbtest.Password
	})
	a, b := h.client(t), h.client(t)
	ended := make(chan error, 1)
	go func() {
		var v int
		ended <- a.QueryRowContext(context.Background(), "/* conn_tag:sleeper */ SELECT SLEEP(30)").Scan(&v)
	}()
	var id uint32
	eventually(t, "it sleeps", func() bool {
		for _, s := range h.Sessions() {
			if s.Caller == "sleeper" && s.Phase == "executing" {
				id = s.ID
			}
		}
		return id != 0
	})
	stranger := h.client(t, func(c *mysql.Config) { c.User = "other" })
	expectError(t, 1095, stranger, fmt.Sprintf("KILL %d", id))
	expectError(t, 1094, b, "KILL 999999")
	eventually(t, "the query ends", func() bool {
		exec(t, b, fmt.Sprintf("/* x */ KILL QUERY %d", id))
		select {
		case err := <-ended:
			if err != nil && errorCode(err) != 1317 {
				t.Errorf("got %v, want 1317 or SLEEP's own 1", err)
			}
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	})
	expect(t, a, "1", "SELECT 1")
	exec(t, b, fmt.Sprintf("KILL %d", id))
	if _, err := a.ExecContext(context.Background(), "DO 1"); err == nil {
		t.Error("the killed connection still works")
	}
}

func TestShutdownLetsTransactionsFinish(t *testing.T) {
	h := newHouse(t, 2)
	idle, a := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE t (id INT)")
	exec(t, a, "BEGIN")
	exec(t, a, "INSERT INTO t VALUES (1)")
	down := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		down <- h.Shutdown(ctx)
	}()
	eventually(t, "the idle client is sent away", func() bool {
		_, err := idle.ExecContext(context.Background(), "DO 1")
		return err != nil
	})
	if _, err := net.Dial("tcp", h.Addr().String()); err == nil {
		t.Error("a new client is accepted while the proxy drains")
	}
	exec(t, a, "INSERT INTO t VALUES (2)")
	exec(t, a, "COMMIT")
	if err := <-down; err != nil {
		t.Errorf("shutdown: %v", err)
	}
	expect(t, open(t, server.DSN(h.schema)), "2", "SELECT COUNT(*) FROM t")
}

func TestShutdownCutsOffWhatDoesNotEnd(t *testing.T) {
	h := newHouse(t, 2)
	a := h.client(t)
	exec(t, a, "BEGIN")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := h.Shutdown(ctx); err == nil {
		t.Error("shutdown says that all ended")
	}
	if n := h.Snapshot().ClientConnections; n != 0 {
		t.Errorf("%d sessions left", n)
	}
}

func TestLoadDataLocalReadsTheClientsFile(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t)
	exec(t, a, "CREATE TABLE t (id INT, v VARCHAR(100))")
	file := filepath.Join(t.TempDir(), "data.csv")
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "%d\tvalue %d\n", i, i)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	mysql.RegisterLocalFile(file)
	exec(t, a, "LOAD DATA LOCAL INFILE '"+file+"' INTO TABLE t")
	expect(t, a, "20000", "SELECT COUNT(*) FROM t")
	if _, err := a.ExecContext(context.Background(), "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE t"); err == nil {
		t.Error("a file that the client refused was loaded")
	}
	expect(t, a, "20000", "SELECT COUNT(*) FROM t")
}

func TestResultThatFailsHalfWayLeavesTheConnectionUsable(t *testing.T) {
	h := newHouse(t, 1)
	a := h.client(t)
	const q = "SELECT REPEAT('x',9000), (SELECT seq FROM seq_1_to_3 WHERE seq>=IF(s.seq>3000,1,3)) FROM seq_1_to_5000 s"
	rows, err := a.QueryContext(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		n++
	}
	if n != 3000 || errorCode(rows.Err()) != 1242 {
		t.Errorf("%d rows and %v, want 3000 and 1242", n, rows.Err())
	}
	_ = rows.Close()
	expect(t, a, "1", "SELECT 1")
	if got := h.Snapshot().Pools[0].Ledger.Callers; len(got) == 0 {
		t.Error("nobody was charged")
	}
}

func TestCommitAndRollbackThatReleaseEndTheConnection(t *testing.T) {
	h := newHouse(t, 1)
	for _, q := range []string{"COMMIT RELEASE", "/* conn_tag:a */ rollback and no chain release", "COMMIT WORK RELEASE"} {
		a := h.client(t)
		exec(t, a, "BEGIN")
		exec(t, a, q)
		if _, err := a.ExecContext(context.Background(), "DO 1"); err == nil {
			t.Errorf("%s: the connection lives on", q)
		}
		expectInUse(t, h, 0)
	}
	a := h.client(t)
	exec(t, a, "SET completion_type=2")
	for _, q := range []string{"COMMIT NO RELEASE", "ROLLBACK AND CHAIN NO RELEASE"} {
		exec(t, a, q)
	}
	exec(t, a, "ROLLBACK")
	if _, err := a.ExecContext(context.Background(), "DO 1"); err == nil {
		t.Error("completion_type=RELEASE: the connection lives on")
	}
	expectInUse(t, h, 0)
}
