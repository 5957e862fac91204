package mariadbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// openRoot returns a handle that logs in as root over the socket, which no other server can answer.
func (i *Instance) openRoot() (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "unix", i.Socket()
	cfg.Logger = &mysql.NopLogger{} // refused logins are what waiting looks like
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// waitReady returns when a login works. It gives up when the process ends or ctx does.
func (i *Instance) waitReady(ctx context.Context, p *process) error {
	db, err := i.openRoot()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.done:
			return errors.New("mariadbd ended while starting")
		case <-ctx.Done():
			return fmt.Errorf("mariadbd accepted no login within %s: %w", startTimeout, err)
		}
	}
}

// prepare creates what the options ask for, once in the life of a datadir.
func (i *Instance) prepare() error {
	db, err := i.openRoot()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var statements []string
	for _, name := range i.opts.databases {
		statements = append(statements, "CREATE DATABASE "+quoteIdent(name))
	}
	for _, u := range append([]user{{User, Password}}, i.opts.users...) {
		statements = append(statements, fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO %s@'%%' IDENTIFIED BY %s WITH GRANT OPTION",
			quoteString(u.name), quoteString(u.password)))
	}
	for _, s := range append(statements, i.opts.sql...) {
		if _, err := db.Exec(s); err != nil {
			return fmt.Errorf("prepare server: %w: %s", err, s)
		}
	}
	return nil
}

func quoteIdent(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoteString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// logTail returns the last lines of the error log.
func (i *Instance) logTail() string {
	const lines = 15
	text, err := os.ReadFile(i.LogFile())
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (i *Instance) portWasTaken() bool {
	return strings.Contains(i.logTail(), "Address already in use")
}
