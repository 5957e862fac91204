//go:build e2e

package drivertest

import (
	"os/exec"
	"testing"
)

// perl is Debian's own, for the same reason as python.
const perl = "/usr/bin/perl"

// Debian's DBD::mysql refuses to enforce TLS, as it is built with MariaDB's C client.
func TestE2EDBDMysqlSeesNoDifference(t *testing.T) { comparePerl(t, "mysql", "libdbd-mysql-perl") }

func TestE2EDBDMariaDBSeesNoDifference(t *testing.T) {
	comparePerl(t, "MariaDB", "libdbd-mariadb-perl", way{name: "TLS", tls: true, style: "MariaDB client"})
}

func comparePerl(t *testing.T, module, debian string, more ...way) {
	t.Helper()
	if out, err := exec.Command(perl, "-MDBD::"+module, "-e1").CombinedOutput(); err != nil {
		t.Fatalf("perl has no DBD::%s (%s); on Debian: apt-get install %s", module, out, debian)
	}
	d := driver{name: "DBD::" + module + " (Perl)", command: []string{perl, "testdata/smoke.pl"}, transactions: []string{perl, "testdata/orm/orm.pl"},
		style: module + " server", tag: "perl"}
	ways := []way{{name: "prepared by the client", style: module + " client"}, {name: "prepared by the server", style: module + " server"}}
	d.compare(t, append(ways, more...)...)
}
