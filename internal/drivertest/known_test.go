//go:build e2e

package drivertest

// known are the checks whose transcripts may differ, and why. Each is a limit that proxy/DESIGN.md names; a check that
// differs for another reason hides here, so keep the list short.
var known = map[string]string{
	"affected rows":              lastStatement, // ROW_COUNT()
	"affected rows and warnings": lastStatement,
	"found rows":                 lastStatement, // FOUND_ROWS() without SQL_CALC_FOUND_ROWS
	"warnings":                   lastStatement, // SHOW WARNINGS
	"SELECT SUM(n), MD5(GROUP_CONCAT(pad)) FROM numbers": lastStatement, // the command line shows its warning
	"text types":     extendedMetadata,
	"prepared types": extendedMetadata,
	"column types":   extendedMetadata,
}

const (
	lastStatement    = "the noise takes the backend connection that has the last statement's state"
	extendedMetadata = "MariaDB's extended metadata is not offered, so JSON columns arrive as text"
)
