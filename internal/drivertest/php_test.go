//go:build e2e

package drivertest

import (
	"bytes"
	"os/exec"
	"testing"
)

func TestE2EMysqliSeesNoDifference(t *testing.T) {
	needPHP(t)
	for _, c := range []struct {
		name string
		driver
	}{
		{"plain", driver{}},
		{"TLS", driver{tls: true}},
		{"caching_sha2_password", driver{user: sha2User, style: "login"}},
		{"caching_sha2_password of a hash", driver{user: hashedUser, style: "login"}},
		{"caching_sha2_password of a hash over TLS", driver{user: hashedUser, tls: true, style: "login"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.command, c.tag = []string{"php", "-d", "mysqli.allow_local_infile=1", "testdata/php/mysqli.php"}, "mysqli"
			compare(t, c.driver)
		})
	}
}

func TestE2EPDOSeesNoDifference(t *testing.T) {
	needPHP(t)
	for _, style := range []string{"emulated", "native"} {
		t.Run(style, func(t *testing.T) {
			compare(t, driver{command: []string{"php", "testdata/php/pdo.php"}, style: style, tag: "pdo"})
		})
	}
}

func needPHP(t *testing.T) {
	t.Helper()
	need(t, "php", "php-cli")
	if out, err := exec.Command("php", "-m").Output(); err != nil || !bytes.Contains(out, []byte("pdo_mysql")) {
		t.Fatalf("php has no pdo_mysql (%v); on Debian: apt-get install php-mysql", err)
	}
}
