package proxy_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	gomysql "github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// counter is a relay that counts what passes: the only witness of compression that is on neither side of it.
type counter struct {
	net.Listener
	target string
	bytes  atomic.Int64
	wg     sync.WaitGroup
}

func countTraffic(t testing.TB, target string) *counter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{Listener: l, target: target}
	c.wg.Go(c.serve)
	t.Cleanup(func() {
		_ = l.Close()
		c.wg.Wait()
	})
	return c
}

func (c *counter) serve() {
	for {
		near, err := c.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.target)
		if err != nil {
			_ = near.Close()
			return
		}
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			c.wg.Go(func() {
				_, _ = io.Copy(way[0], io.TeeReader(way[1], c))
				_ = way[0].Close()
				_ = way[1].Close()
			})
		}
	}
}

func (c *counter) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return len(p), nil
}

// during is how many bytes passed while do ran.
func (c *counter) during(do func()) int {
	before := c.bytes.Load()
	do()
	return int(c.bytes.Load() - before)
}

func compressing(c *mysql.Config) { _ = c.Apply(mysql.EnableCompression(true)) }

// compressedHouses has a house for each way that a MariaDB can be spoken to.
func compressedHouses(t *testing.T, size int, test func(t *testing.T, h *house)) {
	for _, mode := range []string{"off", "zlib"} {
		t.Run("backend "+mode, func(t *testing.T) {
			test(t, newHouse(t, size, func(o *options) { o.Backend.Compression = mode }))
		})
	}
}

func TestCompressionIsUsedOnTheSideThatAsksForIt(t *testing.T) {
	for _, c := range []struct{ client, backend bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		behind := countTraffic(t, server.Addr())
		h := newHouse(t, 1, func(o *options) {
			o.Backend.Address = behind.Addr().String()
			if c.backend {
				o.Backend.Compression = "zlib"
			}
		})
		front := countTraffic(t, h.Addr().String())
		conn := h.client(t, func(m *mysql.Config) {
			if m.Addr = front.Addr().String(); c.client {
				compressing(m)
			}
		})
		exec(t, conn, "DO 1")
		var nearby, far int
		far = behind.during(func() {
			nearby = front.during(func() { value(t, conn, "SELECT REPEAT('row ', 250000)") })
		})
		if small := nearby < 100_000; small != c.client {
			t.Errorf("client %v, backend %v: %d bytes passed between client and proxy", c.client, c.backend, nearby)
		}
		if small := far < 100_000; small != c.backend {
			t.Errorf("client %v, backend %v: %d bytes passed between proxy and backend", c.client, c.backend, far)
		}
	}
}

func TestCompressedSessionsCarryDataOfAnySize(t *testing.T) {
	noise := make([]byte, 3<<20)
	_, _ = rand.Read(noise)
	random := hex.EncodeToString(noise)
	compressedHouses(t, 1, func(t *testing.T, h *house) {
		a, plain := h.client(t, compressing), h.client(t)
		exec(t, plain, "CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT)")
		for i, v := range []string{"", "x", strings.Repeat("y", 49), strings.Repeat("ab", 1<<13), strings.Repeat("row ", 5<<20), random} {
			exec(t, a, "INSERT INTO t VALUES (?,?)", i, v)
			for _, c := range []*sql.Conn{a, plain} { // both on the one backend connection
				if got := value(t, c, "SELECT v FROM t WHERE id=?", i); got != v {
					t.Errorf("%d bytes came back as %d", len(v), len(got))
				}
			}
			if len(v) > 10<<20 {
				continue
			}
			exec(t, a, "UPDATE t SET v='"+v+"' WHERE id="+strconv.Itoa(i))
			if got := value(t, a, "SELECT v FROM t WHERE id="+strconv.Itoa(i)); got != v {
				t.Errorf("as text %d bytes came back as %d", len(v), len(got))
			}
		}
		rows, err := a.QueryContext(context.Background(), "SELECT seq, REPEAT(MD5(seq), 30) FROM seq_1_to_30000")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			var seq int
			var v string
			if n++; rows.Scan(&seq, &v) != nil || seq != n || len(v) != 32*30 {
				t.Fatalf("row %d is %d, %d bytes", n, seq, len(v))
			}
		}
		if n != 30000 || rows.Err() != nil {
			t.Errorf("%d rows, %v", n, rows.Err())
		}
		_ = rows.Close()
		expectPins(t, h)
	})
}

func TestManySmallCommandsPassCompressed(t *testing.T) {
	compressedHouses(t, 2, func(t *testing.T, h *house) {
		var clients sync.WaitGroup
		for i := range 8 {
			c := h.client(t, func(m *mysql.Config) {
				if i%2 == 0 {
					compressing(m)
				}
			})
			clients.Go(func() {
				for n := range 300 {
					want := fmt.Sprint(i, ":", n)
					expect(t, c, want, "SELECT '"+want+"'")
				}
			})
		}
		clients.Wait()
	})
}

func TestCompressedSessionsKeepTheirState(t *testing.T) {
	compressedHouses(t, 1, func(t *testing.T, h *house) {
		a, b := h.client(t, compressing), h.client(t)
		exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
		exec(t, a, "SET SESSION sql_mode='ANSI_QUOTES', time_zone='+05:00'")
		exec(t, a, "INSERT INTO t(v) VALUES (1)")
		for range 3 {
			expect(t, b, "SYSTEM", "SELECT @@time_zone")
			expect(t, a, "+05:00", "SELECT @@time_zone")
			expect(t, a, "1", "SELECT LAST_INSERT_ID()")
			expectError(t, 1062, a, "INSERT INTO t VALUES (1,1)")
			expectError(t, 1146, b, "SELECT * FROM nosuch")
		}
	})
}

func TestSeveralResultsArriveCompressed(t *testing.T) {
	compressedHouses(t, 1, func(t *testing.T, h *house) {
		c := h.client(t, compressing, func(m *mysql.Config) { m.MultiStatements = true })
		plain := h.client(t, func(m *mysql.Config) { m.MultiStatements = true })
		for _, c := range []*sql.Conn{c, plain} {
			rows, err := c.QueryContext(context.Background(), "SELECT REPEAT('a',100000); SELECT seq FROM seq_1_to_600; DO 1; SELECT 'end'")
			if err != nil {
				t.Fatal(err)
			}
			var counts []int
			for more := true; more; more = rows.NextResultSet() {
				n := 0
				for rows.Next() {
					n++
				}
				counts = append(counts, n)
			}
			if want := []int{1, 600, 0, 1}; !slices.Equal(counts, want) && !slices.Equal(counts, []int{1, 600, 1}) || rows.Err() != nil {
				t.Errorf("results of %v rows, want %v: %v", counts, want, rows.Err())
			}
			_ = rows.Close()
		}
	})
}

func TestFilesLoadOverCompressedSessions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.txt")
	var rows bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&rows, "%d\t%x\n", i, i*7919)
	}
	if err := os.WriteFile(file, rows.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	mysql.RegisterLocalFile(file)
	defer mysql.DeregisterLocalFile(file)
	compressedHouses(t, 1, func(t *testing.T, h *house) {
		for name, bend := range map[string]func(*mysql.Config){"compressed": compressing, "plain": func(*mysql.Config) {}} {
			c := h.client(t, bend, func(m *mysql.Config) { m.MultiStatements = true })
			exec(t, c, "CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, v TEXT)")
			exec(t, c, "LOAD DATA LOCAL INFILE '"+file+"' INTO TABLE t")
			expect(t, c, "100000", "SELECT COUNT(*) FROM t")
			expect(t, c, fmt.Sprintf("%x", 99_999*7919), "SELECT v FROM t WHERE id=99999")
			if name == "plain" {
				continue
			}
			out := h.cli(t, h.Addr().String(), "--compress", "--local-infile", "-e",
				"SELECT 1; SELECT 2; LOAD DATA LOCAL INFILE '"+file+"' REPLACE INTO TABLE t; SELECT COUNT(*) FROM t")
			if !strings.HasSuffix(strings.TrimSpace(out), "100000") {
				t.Errorf("the command line client got %q", out)
			}
		}
	})
}

// cli runs MariaDB's own client through the proxy at addr.
func (h *house) cli(t testing.TB, addr string, args ...string) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	cmd := osexec.Command("mariadb", append([]string{"--no-defaults", "--skip-column-names", "--batch", "-h" + host, "-P" + port,
		"-u" + mariadbtest.User, "-p" + mariadbtest.Password, h.schema}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("mariadb %q: %v: %s", args, err, out)
	}
	return string(out)
}

func TestTheCommandLineClientCompresses(t *testing.T) {
	for _, offer := range [][]string{{"zlib"}, {"zlib", "zstd"}} {
		h := newHouse(t, 1, func(o *options) { o.Config.Compression = offer })
		front := countTraffic(t, h.Addr().String())
		n := front.during(func() {
			out := h.cli(t, front.Addr().String(), "--compress", "-e", "SELECT REPEAT('row ', 250000); SELECT 'end'")
			if len(out) != 1_000_000+len("\nend\n") {
				t.Errorf("%v: got %d bytes: %.200s", offer, len(out), out)
			}
		})
		if n > 100_000 {
			t.Errorf("%v: %d bytes passed", offer, n)
		}
	}
}

// gomysqlClient is go-mysql's client with capabilities of the caller's choice.
func (h *house) gomysqlClient(t testing.TB, addr string, capabilities uint32) *client.Conn {
	t.Helper()
	var d net.Dialer
	c, err := client.ConnectWithDialer(context.Background(), "tcp", addr, mariadbtest.User, mariadbtest.Password, h.schema, d.DialContext,
		func(c *client.Conn) error {
			if capabilities == 0 {
				return nil
			}
			return c.SetCapability(capabilities)
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestBothAlgorithmsWorkWithAnotherClient(t *testing.T) {
	compressedHouses(t, 1, func(t *testing.T, h *house) {
		for name, capability := range map[string]uint32{"zlib": gomysql.CLIENT_COMPRESS, "zstd": gomysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM} {
			front := countTraffic(t, h.Addr().String())
			c := h.gomysqlClient(t, front.Addr().String(), capability)
			n := front.during(func() {
				for _, size := range []int{1, 100, 1_000_000, 3_000_000} {
					q := "SELECT '" + strings.Repeat("x", size) + "'"
					r, err := c.Execute(q)
					if err != nil {
						t.Fatalf("%s, %d bytes: %v", name, size, err)
					}
					if v, err := r.GetString(0, 0); err != nil || len(v) != size {
						t.Errorf("%s: %d bytes came back as %d: %v", name, size, len(v), err)
					}
				}
				if _, err := c.Execute("SELECT * FROM nosuch"); err == nil {
					t.Errorf("%s: no error", name)
				}
			})
			if n > 200_000 {
				t.Errorf("%s: %d bytes passed", name, n)
			}
		}
	})
}

// compressedLogin is what a client of ours says that compresses.
func compressedLogin(c wire.Capability) wiretest.Login {
	return wiretest.Login{User: mariadbtest.User, Password: mariadbtest.Password, Capabilities: wiretest.PlainCapabilities | c, ZstdLevel: 9}
}

func TestOnlyConfiguredAlgorithmsAreOffered(t *testing.T) {
	for _, offer := range [][]string{{}, {"zlib"}, {"zstd"}, {"zlib", "zstd"}} {
		h := newHouse(t, 1, func(o *options) { o.Config.Compression = offer })
		for name, capability := range map[string]wire.Capability{"zlib": wire.Compress, "zstd": wire.ZstdCompression} {
			offered := slices.Contains(offer, name)
			c := h.raw(t)
			if got := c.Greeting.Capabilities.Has(capability); got != offered {
				t.Errorf("with %v %s is offered: %v", offer, name, got)
			}
			// Some clients compress although nothing of it was offered. The refusal itself is not compressed.
			err := c.Login(compressedLogin(capability))
			if want := uint16(1043); offered && err != nil || !offered && refusal(err) != want {
				t.Errorf("with %v a client that wants %s got %v", offer, name, err)
			}
			if offered && queryRaw(t, c, "SELECT '"+strings.Repeat("x", 100)+"'") != strings.Repeat("x", 100) {
				t.Errorf("with %v and %s: wrong answer", offer, name)
			}
		}
	}
}

func TestCompressionSurvivesAChangeOfUser(t *testing.T) {
	h := newHouse(t, 1)
	for _, capability := range []wire.Capability{wire.Compress, wire.ZstdCompression} {
		login := compressedLogin(capability)
		c := h.loggedIn(t, login)
		login.Plugin = nativePlugin
		for range 2 {
			if err := c.ChangeUser(login); err != nil {
				t.Fatal(err)
			}
			queryRaw(t, c, "SELECT REPEAT('x', 200)")
			wrong := login
			wrong.Password = "wrong"
			if err := c.ChangeUser(wrong); refusal(err) != 1045 {
				t.Errorf("wrong password: got %v", err)
			}
		}
	}
}

func TestCompressionWorksUnderTLS(t *testing.T) {
	h, secure := tlsHouse(t, "required")
	for _, capability := range []wire.Capability{wire.Compress, wire.ZstdCompression} {
		c := h.loggedIn(t, wiretest.Login{User: "native-plain", Password: loginSecret, TLS: secure,
			Capabilities: wiretest.PlainCapabilities | capability})
		for _, n := range []int{1, 1000, 100_000, 17 << 20} {
			if err := c.Send(wire.ComQuery, "SELECT LENGTH('"+strings.Repeat("x", n)+"'), REPEAT('y', "+strconv.Itoa(n)+")"); err != nil {
				t.Fatal(err)
			}
			packets, err := c.Reply(wire.ShapeResults)
			if err != nil || len(packets) < 5 || wire.FirstLenString(packets[4]) != strconv.Itoa(n) {
				t.Errorf("%d bytes: %d packets, %v", n, len(packets), err)
			}
		}
	}
}

func TestGarbageInFramesEndsTheSessionWithTheServersWords(t *testing.T) {
	h := newHouse(t, 1)
	for name, c := range map[string]struct {
		bytes []byte
		code  uint16
	}{
		"does not uncompress":  {[]byte{5, 0, 0, 0, 100, 0, 0, 'h', 'e', 'l', 'l', 'o'}, 1157},
		"has the wrong number": {[]byte{5, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, byte(wire.ComPing)}, 1156},
	} {
		client := h.loggedIn(t, compressedLogin(wire.Compress))
		framed := client.Conn.Conn.(*wire.CompressedConn)
		if _, err := framed.Conn.Write(c.bytes); err != nil {
			t.Fatal(err)
		}
		client.Seq = 1
		p, err := client.Next()
		if err != nil || wire.ErrCode(p) != c.code {
			t.Errorf("a frame that %s: got %x, %v; want error %d", name, p, err, c.code)
		}
		if _, err := client.Next(); err == nil {
			t.Errorf("a frame that %s: the session lives on", name)
		}
	}
}

func TestBackendsAreSpokenToInEitherAlgorithm(t *testing.T) {
	for name, capability := range map[string]wire.Capability{"zlib": wire.Compress, "zstd": wire.ZstdCompression} {
		var claimed atomic.Uint32
		b := mysql8(t, wiretest.Server{
			Greeting: wire.Greeting{Capabilities: ^wire.Capability(0) &^ wire.SSL},
			Auth: func(p *wiretest.Peer, l *wire.Login) error {
				claimed.Store(uint32(l.Capabilities))
				return p.Authenticate(sha2Plugin)
			},
		})
		h := backendHouse(t, b.Addr(), func(o *options) { o.Backend.Compression, o.Pool.LivenessAfter = name, 1 })
		if got := func() wire.Capability { _ = h.loggedIn(t, appLogin()); return wire.Capability(claimed.Load()) }(); !got.Has(capability) ||
			got&(wire.Compress|wire.ZstdCompression) != capability {
			t.Errorf("%s: claimed %#x", name, uint32(got))
		}
		for _, c := range []wiretest.Login{appLogin(), {User: "app", Password: loginSecret, Capabilities: wiretest.PlainCapabilities | wire.ZstdCompression}} {
			client := h.loggedIn(t, c)
			for _, n := range []int{1, 200, 17 << 20} {
				q := "SELECT '" + strings.Repeat("x", n) + "'"
				if err := client.Send(wire.ComQuery, q); err != nil {
					t.Fatal(err)
				}
				packets, err := client.Reply(wire.ShapeResults)
				if err != nil || wire.FirstLenString(packets[3]) != q {
					t.Errorf("%s: %d bytes: %d packets, %v", name, n, len(packets), err)
				}
			}
		}
	}
}

func TestBackendWithoutCompressionIsAnErrorThatSaysSo(t *testing.T) {
	for _, name := range []string{"zlib", "zstd"} {
		b := mysql8(t, wiretest.Server{})
		h := backendHouse(t, b.Addr(), func(o *options) { o.Backend.Compression = name })
		_, err := wiretest.Dial(h.Addr().String())
		if refusal(err) != 1429 || !strings.Contains(err.Error(), "does not offer compression with "+name) {
			t.Errorf("got %v", err)
		}
	}
}

func TestDeadCompressedBackendsAreReplacedBeforeUse(t *testing.T) {
	h := newHouse(t, 1, func(o *options) { o.Backend.Compression, o.Pool.LivenessAfter = "zlib", 1 })
	c := h.client(t)
	id := value(t, c, backendIDSQL)
	exec(t, open(t, server.DSN("")), "KILL "+id)
	if again := value(t, c, backendIDSQL); again == id {
		t.Errorf("still on the backend connection %s", id)
	}
}
