package proxy_test

import (
	"testing"
)

func TestSessionRunsStatementsOverASharedBackend(t *testing.T) {
	h := newHouse(t, 1)
	a, b := h.client(t), h.client(t)
	exec(t, a, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	exec(t, b, "INSERT INTO t(v) VALUES (7),(8)")
	expect(t, a, "8", "SELECT v FROM t WHERE id=2")
	expect(t, a, "8", "SELECT v FROM t WHERE id=?", 2)
	expect(t, b, "7", "SELECT v FROM t WHERE id=?", 1)
}

func TestSessionVariablesStayWithTheirSession(t *testing.T) {
	h := newHouse(t, 1)
	a, b := h.client(t), h.client(t)
	defaults := value(t, b, "SELECT CONCAT(@@sql_mode, @@time_zone)")
	exec(t, a, "SET SESSION sql_mode='ANSI_QUOTES', time_zone='+05:00'")
	expect(t, b, defaults, "SELECT CONCAT(@@sql_mode, @@time_zone)")
	expect(t, b, "a", `SELECT "a"`)
	expect(t, a, "ANSI_QUOTES+05:00", "SELECT CONCAT(@@sql_mode, @@time_zone)")
	exec(t, a, "SET NAMES utf8mb4 COLLATE utf8mb4_bin")
	expect(t, b, "utf8mb4_general_ci", "SELECT @@collation_connection")
	expect(t, a, "utf8mb4_bin", "SELECT @@collation_connection")
	exec(t, a, "SET NAMES latin1")
	expect(t, b, "utf8mb4_general_ci", "SELECT @@collation_connection")
	expect(t, a, "latin1_swedish_ci", "SELECT @@collation_connection")
}
