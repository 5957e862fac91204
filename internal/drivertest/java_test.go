//go:build e2e

package drivertest

import "testing"

const connectorJ = "/usr/share/java/mariadb-java-client.jar"

func TestE2EMariaDBConnectorJSeesNoDifference(t *testing.T) {
	need(t, "javac", "default-jdk-headless")
	need(t, connectorJ, "libmariadb-java")
	for _, c := range []struct {
		name string
		driver
	}{
		{"prepared by the client", driver{style: "client"}},
		{"prepared by the server", driver{style: "server"}},
		{"TLS", driver{style: "server", tls: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.command, c.tag = []string{"java", "-cp", connectorJ, "testdata/Smoke.java"}, "java"
			compare(t, c.driver)
		})
	}
}
