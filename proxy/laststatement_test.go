package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// leaveSQL are statements that leave something for the next one to read, and some that leave it as it was.
var leaveSQL = []string{
	"SELECT id FROM t", "SELECT id FROM t LIMIT 2", "SELECT id FROM t LIMIT 2 OFFSET 3", "SELECT id FROM t LIMIT 1,2", "SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 2",
	"(SELECT id FROM t) UNION (SELECT id+100 FROM t) LIMIT 3", "SELECT id FROM t WHERE 0", "SELECT id INTO @x FROM t LIMIT 1", "WITH a AS (SELECT 1) SELECT * FROM a",
	"SELECT 1/0, 'abc'+1", "SELECT 42", "SELECT 1/0 FROM t LIMIT 2", "SET @a=1", "SET time_zone='+00:00'", "SET NAMES utf8mb4", "DO 1", "DO 1/0", "BEGIN", "COMMIT", "ROLLBACK",
	"UPDATE t SET v=v+1 WHERE id<4", "INSERT INTO t(v) VALUES (8),(9)", "INSERT IGNORE INTO t(id,v) VALUES (1,1)", "DELETE FROM t WHERE id>7", "INSERT INTO t(id,v) VALUES (1,1)", "REPLACE INTO t(id,v) VALUES (1,1)",
	"SELECT nosuch", "nonsense", "SELECT * FROM nosuch", "SELECT (SELECT 1 UNION SELECT 2)", "DROP TABLE IF EXISTS nosuch", "CREATE TABLE IF NOT EXISTS t (a INT)", "DROP TABLE nosuch",
	"SHOW TABLES", "SHOW CREATE TABLE t", "SHOW VARIABLES LIKE 'auto%'", "SHOW WARNINGS", "SHOW PROCESSLIST", "DESCRIBE t", "EXPLAIN SELECT * FROM t", "CHECK TABLE t", "ANALYZE TABLE t", "LOCK TABLES t READ", "UNLOCK TABLES",
	"CALL p()", "CALL warns()", "USE nosuch", "SAVEPOINT a", "SELECT ROW_COUNT()", "SELECT FOUND_ROWS()", "VALUES (1),(2)", "CREATE OR REPLACE TABLE tt (a INT)", "CREATE OR REPLACE TABLE tt SELECT id AS a FROM t LIMIT 3", "TRUNCATE TABLE tt", "ALTER TABLE tt COMMENT 'x'",
	"INSERT INTO tt SELECT 1 FROM t LIMIT 2", "INSERT INTO tt VALUES (5) RETURNING a", "DELETE FROM tt", "SIGNAL SQLSTATE '01000' SET MYSQL_ERRNO=1365, MESSAGE_TEXT='own'", "SIGNAL SQLSTATE '45000'", "FLUSH TABLES",
}

// readSQL are the ways to read it.
var readSQL = []string{
	"SELECT ROW_COUNT()", "select row_count() as n", "SELECT FOUND_ROWS()", "SELECT FOUND_ROWS(), ROW_COUNT()", "SHOW WARNINGS", "SHOW ERRORS", "SHOW WARNINGS LIMIT 1", "SHOW WARNINGS LIMIT 1,5", "SHOW COUNT(*) WARNINGS", "SHOW COUNT(*) ERRORS",
	"SELECT @@warning_count, @@error_count", "SELECT @@session.warning_count+1", "/* conn_tag:x */ SELECT ROW_COUNT() /* y */",
}

func TestRowCountIsThatOfACommandThatNoServerSaw(t *testing.T) {
	h := newHouse(t, 1)
	c := h.client(t)
	exec(t, c, "CREATE TABLE t (a INT)")
	for _, between := range []func(){
		func() { exec(t, c, "SET autocommit=1") },
		func() {
			if err := c.PingContext(context.Background()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		exec(t, c, "INSERT INTO t VALUES (1),(2)")
		between()
		expect(t, c, "0", "SELECT ROW_COUNT()")
	}
}

func TestLastStatementIsReadAsOnADirectConnectionThoughOthersUsedItsBackend(t *testing.T) {
	for _, prepared := range []bool{false, true} {
		t.Run(fmt.Sprintf("prepared=%v", prepared), func(t *testing.T) {
			h := newHouse(t, 1)
			direct := conn(t, open(t, server.DSN(h.schema)))
			via, noise := h.client(t), h.client(t)
			exec(t, direct, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
			exec(t, direct, "CREATE TABLE tt (a INT)")
			exec(t, direct, "INSERT INTO t(v) VALUES (1),(2),(3),(4),(5),(6),(7)")
			exec(t, direct, "CREATE PROCEDURE p() BEGIN SELECT id FROM t LIMIT 3; UPDATE t SET v=v+1 WHERE id<3; END")
			exec(t, direct, "CREATE PROCEDURE warns() BEGIN DO 1/0; END")
			for _, first := range leaveSQL {
				for _, read := range readSQL {
					var got [2]string
					for i, c := range []*sql.Conn{direct, via} {
						exec(t, c, "TRUNCATE TABLE t")
						exec(t, c, "TRUNCATE TABLE tt")
						exec(t, c, "INSERT INTO t(v) VALUES (1),(2),(3),(4),(5),(6),(7)")
						show(c, false, "SELECT id FROM t WHERE id<6")
						show(c, prepared, first)
						if i == 1 && h.Snapshot().Pools[0].Stat.InUse == 0 { // else a transaction or a lock keeps the connection
							show(noise, false, "UPDATE t SET v=77 WHERE id IN (1,5,7)")
							show(noise, false, "SELECT 1/0, 2/0, 3/0 FROM t LIMIT 1")
						}
						got[i] = show(c, prepared, read)
						exec(t, c, "UNLOCK TABLES")
						exec(t, c, "ROLLBACK")
					}
					if got[0] != got[1] {
						t.Errorf("%s; %s:\n got %s\nwant %s", first, read, got[1], got[0])
					}
				}
			}
		})
	}
}

// show runs a statement and tells all that came back, in one line.
func show(c *sql.Conn, prepared bool, q string) string {
	ctx := context.Background()
	var rows *sql.Rows
	var err error
	if prepared {
		var st *sql.Stmt
		if st, err = c.PrepareContext(ctx, q); err == nil {
			defer func() { _ = st.Close() }()
			rows, err = st.QueryContext(ctx)
		}
	} else {
		rows, err = c.QueryContext(ctx, q)
	}
	if err != nil {
		return err.Error()
	}
	defer func() { _ = rows.Close() }()
	var out strings.Builder
	for more := true; more; more = rows.NextResultSet() {
		types, _ := rows.ColumnTypes()
		for _, c := range types {
			length, _ := c.Length()
			null, _ := c.Nullable()
			fmt.Fprintf(&out, "%s %s(%d) %v, ", c.Name(), c.DatabaseTypeName(), length, null)
		}
		values := make([]sql.RawBytes, len(types))
		into := make([]any, len(types))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err.Error()
			}
			fmt.Fprintf(&out, "%q ", values)
		}
	}
	if err := rows.Err(); err != nil {
		fmt.Fprintf(&out, "%v", err.(*mysql.MySQLError))
	}
	return out.String()
}
