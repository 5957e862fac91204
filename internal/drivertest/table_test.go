//go:build e2e

package drivertest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

const readme = "../../README.md"

// subjects are the rows of the README's table, in its order.
var subjects = []string{
	goDriver, mariadbCLI, mariadbDump, mariadbSlap, sysbench, "PyMySQL", "mysqlclient", "mysql2 (Node)", "mariadb (Node)",
	"mysqli (PHP)", "PDO (PHP)", "mysql2 (Ruby)", "MariaDB Connector/J", "DBD::mysql (Perl)", "DBD::MariaDB (Perl)",
}

// result is what the tests found of one driver.
type result struct {
	version      string
	ways         []string        // in which its checks were run
	checks       map[string]bool // by name; false: differs, as known_test.go says
	transactions bool            // 1,000 were run
	inTx         pinCount
	inAll        pinCount
	failed       bool
}

// pinCount is how often the driver's sessions kept a lease past a transaction's end, and how many leases they had.
type pinCount struct{ pins, holds uint64 }

func (p *pinCount) add(o pinCount) {
	p.pins += o.pins
	p.holds += o.holds
}

func (p pinCount) String() string {
	if p.holds == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(p.pins)/float64(p.holds))
}

// results are filled by one test after the other.
var results = make(map[string]*result)

func resultOf(name string) *result {
	r := results[name]
	if r == nil {
		if !slices.Contains(subjects, name) {
			panic(name + " is no subject")
		}
		r = &result{checks: make(map[string]bool)}
		results[name] = r
	}
	return r
}

// The columns that depend on what is installed and on the run.
const (
	versionColumn = 1
	shareColumn   = 5
)

var header = []string{"driver", "version", "run directly and through conntag", "checks equal", "pins in 1,000 transactions", "pins per hold, all checks"}

func (r *result) cells(name string) []string {
	differ := make([]string, 0, len(r.checks))
	for check, same := range r.checks {
		if !same {
			differ = append(differ, check)
		}
	}
	slices.Sort(differ)
	equal := fmt.Sprintf("%d of %d", len(r.checks)-len(differ), len(r.checks))
	if len(differ) > 0 {
		equal += "; known: " + strings.Join(differ, ", ")
	}
	inTx := "-"
	if r.transactions {
		inTx = fmt.Sprint(r.inTx.pins)
	}
	return []string{name, r.version, strings.Join(r.ways, ", "), equal, inTx, r.inAll.String()}
}

func markdown(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// checkReadme prints the table of what was run and says what is wrong with the README's.
func checkReadme() []string {
	text, err := os.ReadFile(readme)
	if err != nil {
		return []string{err.Error()}
	}
	written := tableIn(string(text))
	fmt.Println(markdown(header))
	fmt.Println(strings.Repeat("|---", len(header)) + "|")
	var wrong []string
	for _, name := range subjects {
		r := results[name]
		if r == nil {
			continue
		}
		cells := r.cells(name)
		fmt.Println(markdown(cells))
		if old := written[name]; !r.failed && !sameButMeasured(cells, old) {
			wrong = append(wrong, fmt.Sprintf("README.md's table of drivers is out of date:\n has %s\n now %s", markdown(old), markdown(cells)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if !slices.Contains(subjects, name) {
			wrong = append(wrong, "README.md's table of drivers has "+name+", which no test runs")
		}
	}
	return wrong
}

func sameButMeasured(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for n := range a {
		if n != versionColumn && n != shareColumn && a[n] != b[n] {
			return false
		}
	}
	return true
}

// tableIn finds the rows of the section Drivers by their first cells.
func tableIn(text string) map[string][]string {
	_, section, _ := strings.Cut(text, "\n## Drivers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := make(map[string][]string)
	for line := range strings.Lines(section) {
		line, isRow := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if !isRow {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, " |"), " | ")
		if cells[0] != header[0] {
			rows[cells[0]] = cells
		}
	}
	return rows
}
