//go:build e2e

package drivertest

import "testing"

// python is Debian's own: the drivers are its packages, which another python in PATH does not see.
const python = "/usr/bin/python3"

func TestE2EPyMySQLSeesNoDifference(t *testing.T) {
	need(t, python, "python3")
	need(t, "/usr/lib/python3/dist-packages/pymysql", "python3-pymysql")
	for _, c := range []struct {
		name string
		driver
	}{
		{"plain", driver{}},
		{"TLS", driver{tls: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.command, c.style, c.tag = []string{python, "testdata/smoke.py"}, "pymysql", "pymysql"
			compare(t, c.driver)
		})
	}
}

func TestE2EMysqlclientSeesNoDifference(t *testing.T) {
	need(t, python, "python3")
	need(t, "/usr/lib/python3/dist-packages/MySQLdb", "python3-mysqldb")
	compare(t, driver{command: []string{python, "testdata/smoke.py"}, style: "mysqlclient", tag: "mysqlclient"})
}
