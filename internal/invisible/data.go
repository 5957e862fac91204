package invisible

import (
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/conntag/conntag/internal/mariadbtest"
)

// The schemas. Clients of the turn-taking modes share "one" and visit "two"; in mode Free client number i has "ci" to
// itself. Procedures live in "lib" and tables of the noise in "noise": no case changes those.
const (
	schemaOne   = "one"
	schemaTwo   = "two"
	schemaLib   = "lib"
	schemaNoise = "noise"
)

func ownSchema(client int) string { return fmt.Sprintf("c%d", client) }

// tables are what a schema starts with. A case may do with them what it likes.
const tables = `
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT, u INT UNIQUE, s VARCHAR(40) CHARACTER SET utf8mb4) ENGINE=InnoDB DEFAULT CHARSET=latin1;
INSERT INTO t VALUES (1,10,1,'one'),(2,20,2,'two'),(3,30,3,'three'),(4,40,4,'four'),(5,50,NULL,NULL);
CREATE TABLE k (id INT PRIMARY KEY, n INT NOT NULL, d DECIMAL(10,2), b BLOB, w VARCHAR(3) CHARACTER SET latin1) ENGINE=InnoDB;
INSERT INTO k VALUES (1,1,1.50,'x','a'),(2,2,2.25,NULL,'b');`

const tablesOfTwo = `CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=InnoDB; INSERT INTO t VALUES (1,100),(2,200);`

// library is what CALL and SELECT find in schema lib.
var library = []string{
	"CREATE PROCEDURE set_var(IN x INT) SET @p = x",
	"CREATE PROCEDURE make_temp() CREATE TEMPORARY TABLE tmp_p (a INT)",
	"CREATE PROCEDURE set_mode(IN m VARCHAR(200)) SET SESSION sql_mode = m",
	"CREATE PROCEDURE take_lock(IN name VARCHAR(60)) SELECT GET_LOCK(name, 0)",
	"CREATE PROCEDURE out_params(IN x INT, OUT y INT, INOUT z INT) BEGIN SELECT x; SET y = x * 2; SET z = z + 1; END",
	"CREATE PROCEDURE two_results() BEGIN SELECT 1 AS a; SELECT 2 AS b, 'x' AS c; END",
	"CREATE PROCEDURE warn() BEGIN DECLARE x TINYINT; SET sql_mode = ''; SET x = 999; SELECT x; END",
	"CREATE PROCEDURE fails() SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'as asked'",
	"CREATE PROCEDURE begins() BEGIN START TRANSACTION; SELECT 1; END",
	"CREATE FUNCTION set_var_f(x INT) RETURNS INT BEGIN SET @f = x; RETURN x; END",
	"CREATE FUNCTION lock_f(name VARCHAR(60)) RETURNS INT RETURN GET_LOCK(name, 0)",
	"CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN 2 * x",
}

// serverFlags make conflicts an answer instead of a wait, so that steps can go one after another, and the servers quick.
var serverFlags = []string{
	"--innodb-lock-wait-timeout=0", "--lock-wait-timeout=0", "--innodb-flush-log-at-trx-commit=0", "--skip-innodb-doublewrite",
	"--innodb-stats-persistent=OFF", "--thread-cache-size=32", "--log-warnings=0",
}

// store is one MariaDB server with the data of the cases on it.
type store struct {
	*mariadbtest.Instance
	admin *sql.DB         // one connection
	fresh map[string]bool // schemas that are as every case finds them
}

func startStore() (*store, error) {
	db, err := mariadbtest.Start(mariadbtest.WithFlags(serverFlags...), mariadbtest.WithDatabase(schemaLib, schemaNoise))
	if err != nil {
		return nil, err
	}
	s := &store{Instance: db, fresh: map[string]bool{}}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *store) prepare() error {
	cfg, err := mysql.ParseDSN(s.DSN(""))
	if err != nil {
		return err
	}
	cfg.MultiStatements = true
	cfg.Params = map[string]string{"lock_wait_timeout": "20"}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	s.admin = sql.OpenDB(connector)
	s.admin.SetMaxOpenConns(1)
	s.admin.SetMaxIdleConns(1)
	if err := s.run("USE lib"); err != nil {
		return err
	}
	for _, routine := range library {
		if err := s.run(routine); err != nil {
			return err
		}
	}
	return s.run("CREATE TABLE noise.n (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=MyISAM AUTO_INCREMENT=7000")
}

func (s *store) run(text string) error {
	_, err := s.admin.Exec(text)
	if err != nil {
		return fmt.Errorf("prepare data: %w: %.80s", err, text)
	}
	return nil
}

func (s *store) stop() error {
	var err error
	if s.admin != nil {
		err = s.admin.Close()
	}
	return errors.Join(err, s.Stop())
}

// reset gives the clients of a case the data that every case starts with.
func (s *store) reset(c Case) error {
	var b strings.Builder
	for _, schema := range c.schemas() {
		if s.fresh[schema] {
			continue
		}
		content := tables
		if schema == schemaTwo {
			content = tablesOfTwo
		}
		fmt.Fprintf(&b, "DROP DATABASE IF EXISTS %s; CREATE DATABASE %s; USE %s; %s", schema, schema, schema, content)
		s.fresh[schema] = true
	}
	if b.Len() == 0 {
		return nil
	}
	return s.run(b.String())
}

// schemas are those that a case can change.
func (c Case) schemas() []string {
	if c.Mode != Free {
		return []string{schemaOne, schemaTwo}
	}
	list := []string{schemaTwo}
	for i := range c.Logins {
		list = append(list, ownSchema(i))
	}
	return list
}

// changing are the words without which a statement leaves data, structure and counters as they are.
var changing = regexp.MustCompile(`(?i)insert|replace|update|delete|load|create|alter|drop|truncate|table|index|call|handler|prepare`)

// changed are the schemas of a case that may not be fresh any more.
func (c Case) changed() (list []string) {
	for _, schema := range c.schemas() {
		if slices.ContainsFunc(c.Steps, func(s Step) bool {
			return (c.Mode != Free || schema == ownSchema(s.Client)) && changing.MatchString(s.Op.Text)
		}) && (schema != schemaTwo || strings.Contains(c.String(), schemaTwo)) {
			list = append(list, schema)
		}
	}
	return list
}

// awaitSilence waits until the sessions of the case before are gone from the server, with their locks, and ends what
// outlives a session: prepared XA transactions.
func (s *store) awaitSilence() error {
	if err := s.awaitNone("user IN ('" + mariadbtest.User + "', 'unauthenticated user') AND id <> CONNECTION_ID()"); err != nil {
		return err
	}
	return s.endBranches()
}

// awaitEnd waits until a session is gone.
func (s *store) awaitEnd(id uint32) error { return s.awaitNone(fmt.Sprintf("id = %d", id)) }

// awaitNone waits until no session is left of which the condition holds.
func (s *store) awaitNone(condition string) error {
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Microsecond) {
		left, err := s.rows("SELECT 1 FROM information_schema.processlist WHERE " + condition)
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(end) {
			return errors.New("sessions do not end though their clients have said goodbye")
		}
	}
}

// endBranches rolls back what was prepared and never ended.
func (s *store) endBranches() error {
	branches, err := s.rows("XA RECOVER")
	if err != nil {
		return err
	}
	for _, b := range branches {
		id := b[strings.LastIndexByte(b, ',')+1:]
		// Refused when the server has rolled the branch back by itself: it is gone then, too.
		var refused *mysql.MySQLError
		if err := s.run("XA ROLLBACK '" + id + "'"); err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return nil
}
