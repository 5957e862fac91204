//go:build e2e

package drivertest

import (
	"bytes"
	"os/exec"
	"testing"
)

func TestE2EMysqliSeesNoDifference(t *testing.T) {
	needPHP(t)
	d := driver{name: "mysqli (PHP)", command: []string{"php", "-d", "mysqli.allow_local_infile=1", "testdata/php/mysqli.php"},
		transactions: []string{"php", "testdata/orm/mysqli.php"}, tag: "mysqli"}
	d.compare(t, append([]way{plain, byTLS}, logins...)...)
}

func TestE2EPDOSeesNoDifference(t *testing.T) {
	needPHP(t)
	d := driver{name: "PDO (PHP)", command: []string{"php", "testdata/php/pdo.php"}, transactions: []string{"php", "testdata/orm/pdo.php"}, tag: "pdo"}
	d.compare(t, way{name: "emulated prepares", style: "emulated"}, way{name: "native prepares", style: "native"})
}

func needPHP(t *testing.T) {
	t.Helper()
	need(t, "php", "php-cli")
	if out, err := exec.Command("php", "-m").Output(); err != nil || !bytes.Contains(out, []byte("pdo_mysql")) {
		t.Fatalf("php has no pdo_mysql (%v); on Debian: apt-get install php-mysql", err)
	}
}
