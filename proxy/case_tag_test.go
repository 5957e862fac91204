package proxy_test

import (
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/conntag/conntag/internal/mariadbtest"
	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// Reported as sysown/proxysql#5786 and vitessio/vitess#2861: only the first word was looked at, so that with a client that tags
// everything each special statement was missed.
func TestTaggedStatementsAreClassedAsIfTheyHadNoTag(t *testing.T) {
	w := newTwin(t, 1, twinCapabilities)
	w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	for _, tag := range []string{"", "/*conn_tag:a*/ ", "/* conn_tag:a */", "/* x */ /* conn_tag:a */ ", "-- conn_tag:a\n", "# conn_tag:a\n", "\t\n/* conn_tag:a */-- y\n# z\n", "/*conn_tag='a'*/", "/**/"} {
		for _, c := range []struct {
			do   string
			held bool
		}{
			{"BEGIN", true}, {"INSERT INTO t(v) VALUES (1)", true}, {"SELECT LAST_INSERT_ID() > 0", true}, {"COMMIT", false},
			{"SET autocommit=0", false}, {"SELECT COUNT(*) > 0 FROM t", true}, {"ROLLBACK", false}, {"SET autocommit=1", false},
			{"LOCK TABLES t WRITE", true}, {"INSERT INTO t(v) VALUES (2)", true}, {"UNLOCK TABLES", false},
			{"SET NAMES latin1", false}, {"SELECT @@character_set_client", false}, {"SET NAMES utf8mb4", false}, {"SET time_zone='+01:00'", false}, {"SELECT @@time_zone", false},
			{"PREPARE s FROM 'SELECT 1'", true}, {"DO 1", true}, {"DEALLOCATE PREPARE s", false}, {"(SELECT 1)", false}, {"SET TRANSACTION READ ONLY", true}, {"BEGIN", true}, {"COMMIT", false},
			{"CREATE TEMPORARY TABLE x (a INT)", true}, {"INSERT INTO x VALUES (1)", true}, {"DROP TABLE x", false}, {"USE mysql", false}, {"SELECT DATABASE()", false}, {"USE %schema", false},
			{"SELECT GET_LOCK('%schema',0)", true}, {"SELECT RELEASE_LOCK('%schema')", false}, {"SELECT SQL_CALC_FOUND_ROWS 1", false}, {"SELECT FOUND_ROWS()", false},
			{"SET autocommit=0", false}, {"SAVEPOINT s", true}, {"ROLLBACK", false}, {"SET autocommit=1", false}, {"START TRANSACTION", true}, {"ROLLBACK", false}} {
			w.doing = "tagged " + strings.TrimSpace(tag) + ": " + c.do + ": "
			w.query(tag + c.do)
			w.expectHeld(c.held)
		}
	}
	w.expectOthersUndisturbed()
}

// Reported as google/sqlcommenter#108 and DataDog/dd-trace-java#9915: a comment behind the semicolon is a statement of its own, whose
// empty answer surprised drivers when it was added or left out.
func TestCommentsBehindASemicolonAreAnsweredAsTheServerDoes(t *testing.T) {
	for _, caps := range []wire.Capability{twinCapabilities, wiretest.PlainCapabilities} {
		w := newTwin(t, 2, caps)
		w.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
		for _, q := range []string{"SELECT 1; /* conn_tag:a */", "SELECT 1 /* conn_tag:a */;", "SELECT 1 /* conn_tag:a */; SELECT SLEEP(0.05) /* conn_tag:b */", "INSERT INTO t(v) VALUES (1); /* conn_tag:b */ SELECT 2", "SELECT 1; -- conn_tag:a", "SELECT 1; # conn_tag:a",
			"SELECT 1;/* conn_tag:a */;", "/* conn_tag:a */; SELECT 1", "SELECT 1; /*!50000 */", "SELECT 1; /*!50000 SELECT 2 */", "SELECT 1 /* conn_tag:a", "SELECT 1; /* conn_tag:a", "BEGIN; /* conn_tag:a */", "COMMIT; -- x"} {
			w.query(q)
			w.value("next", "SELECT 'next'")
		}
	}
	w := newTwin(t, 1, twinCapabilities)
	w.quiet = true
	w.query("SELECT 1 /* conn_tag:a */; SELECT SLEEP(0.1) /* conn_tag:b */")
	expectInUse(t, w.h, 0)
	p := w.h.Snapshot().Pools[0]
	a := caller(t, w.h, "a") // the rule: the first tag of a command is its caller
	if held := a.TotalHeld(); p.ConservationError != 0 || held < 100*time.Millisecond || held > p.Stat.InUseTime {
		t.Errorf("a is charged %s of %s, and %s are charged that nobody held", held, p.Stat.InUseTime, p.ConservationError)
	}
}

// Reported as sysown/proxysql#4918: what stood in quotes or behind -- was taken for a comment, and near the length limit half a marker was.
func TestOnlyCommentsAreReadAsTags(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	w.quiet = true
	run := func(texts ...string) {
		t.Helper()
		for _, q := range texts {
			before := statements(w.h)["evil"]
			w.query(q)
			if statements(w.h)["evil"] != before {
				t.Errorf("%s%.200s: evil became a caller", w.doing, q)
			}
		}
	}
	quoted := []string{"SELECT '/* conn_tag:evil */'", `SELECT "-- conn_tag:evil"`, "SELECT 1 AS `/* conn_tag:evil */`", "SELECT 'it''s /* conn_tag:evil */'", `SELECT 'a\\' /* conn_tag:ok */`,
		"SELECT 1 -- conn_tag:ok", "SELECT 1 # conn_tag:ok", "SELECT 1 --conn_tag:evil\n+1", "SELECT 1 /*+ conn_tag:evil */", "SELECT /*!50000 'conn_tag:evil', */ 2", "SELECT 5 - -- conn_tag:ok\n1", "SELECT 3 --\tconn_tag:ok",
		"SELECT '\n-- conn_tag:evil\n'", "SELECT '# conn_tag:evil'", "SELECT _utf8mb4'/* conn_tag:evil */'", "SELECT N'/* conn_tag:evil */'", "SELECT x'2f2a' '/* conn_tag:evil */'", "SELECT 1 /* 'conn_tag:x' */ '/* conn_tag:evil */'"}
	for _, mode := range []string{"", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"} {
		w.doing = "in mode " + mode + ": "
		run("SET sql_mode='" + mode + "'")
		run(quoted...)
		if strings.Contains(mode, "NO_BACKSLASH") {
			run(`SELECT 'a\' /* conn_tag:ok */`, `SELECT 'a\', '/* conn_tag:evil */'`, `SELECT '\' -- conn_tag:ok`)
		} else {
			run(`SELECT 'it\'s /* conn_tag:evil */'`, `SELECT 'a\' /* conn_tag:evil */'`, `SELECT 'a\', /* conn_tag:evil */'`, `SELECT '\'' -- conn_tag:ok`)
		}
		if strings.Contains(mode, "ANSI") {
			run(`SELECT 1 AS "a\" /* conn_tag:ok */`, `SELECT 1 AS "a""/* conn_tag:evil */"`)
		}
	}
	w.doing = ""
	for _, n := range []int{1 << 10, 1 << 16, 1 << 20} {
		run("SELECT LENGTH('" + strings.Repeat("/", n) + "') /* conn_tag:ok */")
		run("SELECT LENGTH('" + strings.Repeat("*/ ", n/3) + "/* conn_tag:evil') -- conn_tag:ok")
	}
}

// Reported as sysown/proxysql#4677 and vitessio/vitess#3576: what such comments set was not understood, or the whole statement was swallowed.
func TestExecutableCommentsAreCode(t *testing.T) {
	w := newTwin(t, 3, twinCapabilities)
	expectTrans(t, "BEGIN in a comment", w.query("/*!50000 BEGIN */"), true)
	w.expectHeld(true)
	w.query("/*!50000 COMMIT */")
	w.expectHeld(false)
	w.query("/*M!100100 SET @@max_statement_time=1 */", "SELECT @@max_statement_time", "/*!99999 SET sql_mode='' */", "SELECT @@sql_mode", "SELECT 1 /*!50000 + 1 */", "SELECT 1 /*!99999 + 1 */", "SELECT 1 /*M!100100 + 2 */ /*M!999999 + 1 */", "/*! SET time_zone='+03:00' */", "SELECT @@time_zone",
		"/*!50000 SET time_zone='+04:00'; */", "SELECT @@time_zone", "/*!50000 /* inner */ SELECT 1 */", "/*!50000 SELECT */ 1", "SET /*!50000 time_zone= */ '+05:00'", "SELECT @@time_zone", "/*!50000 SET conn_tag:evil */", "/*!50000 USE mysql */", "SELECT DATABASE()", "USE %schema")
	w.query("/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */", "SELECT @@sql_mode, @OLD_SQL_MODE", "/*!40101 SET SQL_MODE=@OLD_SQL_MODE */", "SELECT @@sql_mode, @OLD_SQL_MODE")
	for name := range statements(w.h) {
		if strings.Contains(name, "evil") {
			t.Errorf("%q became a caller", name)
		}
	}
	w.expectOthersUndisturbed()
}

// The same reports: a dump begins and ends with settings in such comments.
func TestADumpIsLoadedAsADirectConnectionLoadsIt(t *testing.T) {
	w := newTwin(t, 2, twinCapabilities)
	w.query("CREATE TABLE source (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20) DEFAULT 'é')", "INSERT INTO source VALUES (7,'one'),(8,'zwölf'),(9,NULL)",
		"CREATE VIEW v AS SELECT id FROM source", "CREATE TRIGGER tr BEFORE INSERT ON source FOR EACH ROW SET @count=1", "CREATE PROCEDURE p() SELECT 1")
	host, port, _ := strings.Cut(w.server.Addr(), ":")
	cmd := osexec.Command("mariadb-dump", "--no-defaults", "-h", host, "-P", port, "-uconntag", "-pconntag", "--routines", "--triggers", w.viaName)
	cmd.Stderr = os.Stderr
	dump, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	w.query("DROP TABLE source", "DROP VIEW v", "DROP PROCEDURE p")
	for _, statement := range dumped(string(dump)) {
		w.query(statement)
	}
	w.query("SELECT * FROM source", "SELECT * FROM v", "CALL p()", "SELECT @@sql_mode, @@time_zone, @@foreign_key_checks, @@unique_checks, @@character_set_client, @@collation_connection, @@sql_notes", "SHOW CREATE TABLE source")
	w.expectOthersUndisturbed()
}

// dumped splits a dump as the command line client does.
func dumped(text string) (statements []string) {
	end, current := ";", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if delimiter, ok := strings.CutPrefix(line, "DELIMITER "); ok {
			end = strings.TrimSpace(delimiter)
			continue
		}
		if current == "" && (line == "" || strings.HasPrefix(line, "--")) || strings.HasPrefix(line, "/*M!999999") { // the sandbox mark is the client's
			continue
		}
		current += line + "\n"
		if whole, ok := strings.CutSuffix(strings.TrimSpace(current), end); ok {
			statements, current = append(statements, whole), ""
		}
	}
	return statements
}

// Reported as google/sqlcommenter#284, sysown/proxysql#5384 and basecamp/marginalia#49: each trace id in a comment made a new statement on the
// server, until its limit for all clients was reached.
func TestTraceIDsInCommentsMakeNoNewStatements(t *testing.T) {
	const limit, clients, each = 100, 8, 60
	own := mariadbtest.Run(t, mariadbtest.WithFlags(fmt.Sprintf("--max-prepared-stmt-count=%d", limit)))
	h := newHouse(t, 3, func(o *options) { o.Backend.Address = own.Addr() })
	exec(t, open(t, own.DSN("")), "CREATE DATABASE "+h.schema)
	exec(t, open(t, own.DSN(h.schema)), "CREATE TABLE t (id INT, v INT)")
	exec(t, open(t, own.DSN(h.schema)), "INSERT INTO t VALUES (1, 10), (2, 20)")
	var all []*rawClient
	for c := range clients {
		client := h.rawClient(t)
		all = append(all, client)
		for i := range each {
			id := client.prepare(t, fmt.Sprintf("SELECT v FROM t WHERE id=? /* conn_tag:checkout,trace:%d-%d */", c, i))
			client.roundTrip(t, execute(id, 1), wire.ShapeResults)
		}
	}
	count := func() int {
		var n int
		if err := open(t, own.DSN("")).QueryRow("SELECT VARIABLE_VALUE FROM information_schema.global_status WHERE VARIABLE_NAME='PREPARED_STMT_COUNT'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n > 2*3 {
		t.Errorf("%d statements on the server", n)
	}
	if got := caller(t, h, "checkout").Statements; got < clients*each {
		t.Errorf("checkout ran %d statements, want %d", got, clients*each)
	}
	for _, c := range all {
		_ = c.Close()
	}
	if n := count(); n > 2*3 {
		t.Errorf("%d statements are left on the server", n)
	}
	// Different texts, none closed: the server's limit is for all its clients, not for each connection of the proxy.
	client := h.rawClient(t)
	for i := range 2 * limit {
		id := client.prepare(t, fmt.Sprintf("SELECT v+%d FROM t WHERE id=?", i))
		client.roundTrip(t, execute(id, 1), wire.ShapeResults)
	}
	expectPins(t, h)
}
