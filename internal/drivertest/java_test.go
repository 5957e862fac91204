//go:build e2e

package drivertest

import (
	"os/exec"
	"testing"
)

const connectorJ = "/usr/share/java/mariadb-java-client.jar"

func TestE2EMariaDBConnectorJSeesNoDifference(t *testing.T) {
	need(t, "javac", "default-jdk-headless")
	need(t, connectorJ, "libmariadb-java")
	classes := t.TempDir()
	if out, err := exec.Command("javac", "-cp", connectorJ, "-d", classes, "testdata/Smoke.java", "testdata/orm/Orm.java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	// -Xshare and the first compiler alone: a script is over before the second compiler would pay.
	java := []string{"java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", connectorJ + ":" + classes}
	d := driver{name: "MariaDB Connector/J", command: append(java[:len(java):len(java)], "Smoke"),
		transactions: append(java[:len(java):len(java)], "Orm"), style: "server", tag: "java"}
	d.compare(t, way{name: "prepared by the client", style: "client"}, way{name: "prepared by the server", style: "server"},
		way{name: "TLS", tls: true, style: "server"})
}
