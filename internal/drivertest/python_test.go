//go:build e2e

package drivertest

import "testing"

// python is Debian's own: the drivers are its packages, which another python in PATH does not see.
const python = "/usr/bin/python3"

func TestE2EPyMySQLSeesNoDifference(t *testing.T) {
	need(t, "/usr/lib/python3/dist-packages/pymysql", "python3-pymysql")
	d := pythonDriver(t, "PyMySQL", "pymysql")
	d.compare(t, plain, byTLS)
}

func TestE2EMysqlclientSeesNoDifference(t *testing.T) {
	need(t, "/usr/lib/python3/dist-packages/MySQLdb", "python3-mysqldb")
	d := pythonDriver(t, "mysqlclient", "mysqlclient")
	d.compare(t, plain)
}

func pythonDriver(t *testing.T, name, style string) driver {
	t.Helper()
	need(t, python, "python3")
	return driver{name: name, command: []string{python, "testdata/smoke.py"}, transactions: []string{python, "testdata/orm/orm.py"}, style: style, tag: style}
}
