package attribution

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultConfigIsValid(t *testing.T) {
	if problems := DefaultConfig().Validate(); len(problems) > 0 {
		t.Errorf("got %v", problems)
	}
}

func TestValidateNamesFieldAndValue(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		want   []string
	}{
		"no keys":        {Config{MaxCallers: 1}, []string{"keys: must name at least one tag; write for example [conn_tag]"}},
		"empty key":      {Config{Keys: []string{""}, MaxCallers: 1}, []string{"keys[0]: must not be empty; write for example conn_tag"}},
		"key with colon": {Config{Keys: []string{"a:b"}, MaxCallers: 1}, []string{`keys[0]: must be letters, digits, _ - or . only, is "a:b"; write for example conn_tag`}},
		"key twice":      {Config{Keys: []string{"app", "App"}, MaxCallers: 1}, []string{`keys[1]: "App" is already keys[0] (case does not matter); remove one`}},
		"no room":        {Config{Keys: []string{"app"}}, []string{"max_callers: must be between 1 and 10000, is 0; write for example 200"}},
		"callers": {Config{Keys: []string{"app"}, MaxCallers: 1, Callers: []string{"a", "", "a", " b", "__other__"}}, []string{
			"callers[1]: must not be empty; remove it",
			`callers[2]: "a" is already callers[0]; remove one`,
			`callers[3]: a tag " b" is charged to "b"; write that`,
			`callers[4]: a tag "__other__" is charged to "_other__"; write that`,
		}},
	} {
		var got []string
		for _, problem := range c.config.Validate() {
			got = append(got, problem.Error())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestValidateReportsEveryProblemAtOnce(t *testing.T) {
	problems := Config{Keys: []string{"a b", "", "ok"}, MaxCallers: -1, Callers: []string{strings.Repeat("x", 65)}}.Validate()
	wantCount(t, "problems", len(problems), 4)
}
