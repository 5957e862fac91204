package config

import (
	"fmt"
	"regexp"
	"strings"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces every ${NAME} in s; $${ becomes ${ and any other $ stays. What a variable holds is taken
// as it is and not expanded again. problem is empty when all went well.
func expand(s string, env func(string) (string, bool)) (out, problem string) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), ""
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return "", "${ has no closing }; write ${NAME}, or $${ for a literal ${"
		}
		name := s[i+2 : i+end]
		if !variableName.MatchString(name) {
			return "", "between ${ and } is not a variable's name; write ${NAME}, or $${ for a literal ${"
		}
		value, ok := env(name)
		if !ok {
			return "", fmt.Sprintf("the environment variable %s is not set; set it before the start", name)
		}
		b.WriteString(s[:i] + value)
		s = s[i+end+1:]
	}
}
