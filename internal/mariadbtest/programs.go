package mariadbtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotInstalled is returned by Start when a MariaDB program is missing.
var ErrNotInstalled = errors.New("MariaDB is not installed; on Debian: apt-get install mariadb-server")

// programs are the parts of Debian's MariaDB that a server needs.
type programs struct {
	server  string // path of mariadbd
	install string // path of mariadb-install-db
	version string
}

func findPrograms() (programs, error) {
	var p programs
	var err error
	if p.server, err = findProgram("mariadbd"); err != nil {
		return p, err
	}
	if p.install, err = findProgram("mariadb-install-db"); err != nil {
		return p, err
	}
	out, err := exec.Command(p.server, "--no-defaults", "--version").Output()
	if err != nil {
		return p, fmt.Errorf("ask mariadbd for its version: %w", err)
	}
	// "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)"
	_, rest, _ := strings.Cut(string(out), "Ver ")
	if fields := strings.Fields(rest); len(fields) > 0 {
		p.version = fields[0]
	}
	return p, nil
}

// findProgram also looks where an ordinary user's PATH does not.
func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s not found: %w", name, ErrNotInstalled)
}

// asUser lets mariadbd run as root where we are root: it refuses to without being told.
func (p programs) asUser() []string {
	if os.Geteuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}
