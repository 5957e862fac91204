package config

import (
	"fmt"
	"strings"
)

// suggest is the advice for an unknown key: the nearest known one, or all of them.
func suggest(key string, known []string) string {
	best, least := "", len(key)/3+2
	for _, k := range known {
		if n := distance(strings.ToLower(key), k); n < least {
			best, least = k, n
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known here: " + strings.Join(known, ", ")
}

// distance counts the bytes to insert, delete or replace to get from a to b (Levenshtein, one row).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
