//go:build e2e

package drivertest

import "testing"

func TestE2EMariadbCommandLineSeesNoDifference(t *testing.T) {
	need(t, "mariadb", "mariadb-client")
	for _, c := range []struct {
		name string
		driver
	}{
		{"plain", driver{}},
		{"TLS", driver{tls: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.command, c.tag = []string{"testdata/cli.sh"}, "cli"
			compare(t, c.driver)
		})
	}
}
