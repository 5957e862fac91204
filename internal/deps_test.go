package internal_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/conntag/conntag/"

// mayImport is the table in CONTRIBUTING.md: what a package may import besides the standard library. A path of another
// module covers the packages below it. cmd is free.
var mayImport = map[string][]string{
	"internal/sqlscan":       {},
	"proxy/wire":             {},
	"pool":                   {},
	"reservation":            {},
	"attribution":            {"internal/sqlscan"},
	"reservation/mysqlstore": {"reservation", "github.com/go-sql-driver/mysql"},
	"reservation/redisstore": {"reservation", "github.com/redis/go-redis"},
	"proxy": {"proxy/wire", "pool", "attribution", "internal/sqlscan",
		"github.com/go-mysql-org/go-mysql", "github.com/pingcap/tidb/pkg/parser"},
	"proxy/wiretest":   {"proxy/wire", "github.com/go-mysql-org/go-mysql"},
	"internal/metrics": {"proxy", "pool", "attribution", "reservation", "github.com/prometheus/client_golang"},
	"internal/admin":   {"proxy", "pool", "attribution"},
	"internal/config":  {"proxy", "pool", "attribution", "internal/admin", "gopkg.in/yaml.v3"},
	"internal/demo": {"proxy", "pool", "attribution", "reservation", "reservation/mysqlstore", "internal/admin", "internal/metrics", "internal/mariadbtest",
		"github.com/go-sql-driver/mysql"},
	"bench":               {"internal/mariadbtest", "github.com/go-sql-driver/mysql"},
	"internal/drivertest": {},
	"internal/invisible": {"proxy", "proxy/wire", "pool", "attribution", "internal/mariadbtest",
		"github.com/go-mysql-org/go-mysql", "github.com/go-sql-driver/mysql"},
	"internal/invisible/soak": {"internal/invisible"},
	"internal/mariadbtest":    {"github.com/go-sql-driver/mysql"},
}

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", `{{if and .GoFiles (not .Standard)}}{{.ImportPath}} {{join .Imports " "}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg, ours := strings.CutPrefix(fields[0], module)
		if !ours || strings.HasPrefix(pkg, "cmd/") {
			continue
		}
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("%s has no row in the table: add it here and in CONTRIBUTING.md", pkg)
			continue
		}
		for _, imported := range fields[1:] {
			if !isStandard(imported) && !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, imported) }) {
				t.Errorf("%s must not import %s", pkg, imported)
			}
		}
	}
}

// isStandard relies on what the go command relies on: paths of other modules start with a domain.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func covers(allowed, imported string) bool {
	if ours, ok := strings.CutPrefix(imported, module); ok {
		return ours == allowed
	}
	return imported == allowed || strings.HasPrefix(imported, allowed+"/")
}
