//go:build e2e

package drivertest

import "testing"

const mariadbCLI = "mariadb (command line)"

func TestE2EMariadbCommandLineSeesNoDifference(t *testing.T) {
	need(t, "mariadb", "mariadb-client")
	d := driver{name: mariadbCLI, command: []string{"testdata/cli.sh"}, transactions: []string{"testdata/orm/cli.sh"}, tag: "cli"}
	d.compare(t, plain, byTLS)
}
