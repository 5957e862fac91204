//go:build e2e

package drivertest

import (
	"os/exec"
	"testing"
)

// ruby is Debian's own, for the same reason as python.
const ruby = "/usr/bin/ruby"

func TestE2EMysql2ForRubySeesNoDifference(t *testing.T) {
	need(t, ruby, "ruby")
	if out, err := exec.Command(ruby, "-e", `require "mysql2"`).CombinedOutput(); err != nil {
		t.Fatalf("ruby has no mysql2 (%s); on Debian: apt-get install ruby-mysql2", out)
	}
	d := driver{name: "mysql2 (Ruby)", command: []string{ruby, "testdata/smoke.rb"}, transactions: []string{ruby, "testdata/orm/orm.rb"}, tag: "ruby"}
	d.compare(t, plain, byTLS)
}
