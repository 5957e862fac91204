//go:build e2e

package drivertest

import "testing"

const (
	mariadbDump = "mariadb-dump"
	mariadbSlap = "mariadb-slap"
	sysbench    = "sysbench"
)

func TestE2EMariadbDumpSeesNoDifferenceAndReloads(t *testing.T) {
	need(t, mariadbDump, "mariadb-client")
	driver{name: mariadbDump, command: []string{"testdata/tools.sh"}, style: "dump"}.compare(t, plain)
}

func TestE2EMariadbSlapSeesNoDifference(t *testing.T) {
	need(t, mariadbSlap, "mariadb-client")
	driver{name: mariadbSlap, command: []string{"testdata/tools.sh"}, style: "slap"}.compare(t, plain)
}

func TestE2ESysbenchSeesNoDifference(t *testing.T) {
	need(t, sysbench, "sysbench")
	driver{name: sysbench, command: []string{"testdata/tools.sh"}, style: "sysbench"}.compare(t, plain)
}
