package invisible

import (
	"database/sql"
	"fmt"
	"strings"
)

// compareData compares what a case left in the tables: a transaction that conntag committed or lost shows here at the
// latest.
func (s *Stage) compareData(c Case) (*Difference, error) {
	var direct, behind string
	err := both(
		func() (err error) { direct, err = s.direct.contents(c); return err },
		func() (err error) { behind, err = s.behind.contents(c); return err },
	)
	if err != nil || direct == behind {
		return nil, err
	}
	return &Difference{Step: Step{Op: Op{Verb: "data left"}}, At: len(c.Steps) - 1, Direct: direct, Proxied: behind, in: "data"}, nil
}

// contents are all rows of the schemas that a case may have changed, as text.
func (s *store) contents(c Case) (string, error) {
	var b strings.Builder
	for _, schema := range c.changed() {
		s.fresh[schema] = false
		names, err := s.rows("SHOW TABLES FROM " + schema)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			rows, err := s.rows(fmt.Sprintf("SELECT * FROM %s.`%s` ORDER BY 1", schema, name))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "%s.%s: %s; ", schema, name, strings.Join(rows, " "))
		}
	}
	return b.String(), nil
}

// rows reads a result as one text a row.
func (s *store) rows(query string) ([]string, error) {
	rows, err := s.admin.Query(query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var list []string
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = v.String
			if !v.Valid {
				words[i] = "NULL"
			}
		}
		list = append(list, strings.Join(words, ","))
	}
	return list, rows.Err()
}
