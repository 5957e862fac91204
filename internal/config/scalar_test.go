package config

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// kinds has one field of every kind that a section may use.
type kinds struct {
	Text   string        `yaml:"text"`
	Count  int           `yaml:"count"`
	Ratio  float64       `yaml:"ratio"`
	On     bool          `yaml:"on"`
	After  time.Duration `yaml:"after"`
	Words  []string      `yaml:"words"`
	Nested []nested      `yaml:"nested"`
}

type nested struct {
	Name string `yaml:"name"`
}

func TestEveryKindOfFieldIsDecoded(t *testing.T) {
	const text = `
text: "a ${APP_PASSWORD} b $${x} $5"
count: 1_000
ratio: 1
on: true
after: 1m30s
words: [a, "2"]
nested:
  - name: x
  - {name: y}
`
	var got kinds
	d := newDecoder("x.yaml", testEnv)
	d.document([]byte(text), &got)
	want := kinds{
		Text: "a from ${the} environment b ${x} $5", Count: 1000, Ratio: 1, On: true, After: 90 * time.Second,
		Words: []string{"a", "2"}, Nested: []nested{{"x"}, {"y"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(d.problems) > 0 {
		t.Errorf("problems %v (-want +got):\n%s", d.problems, diff)
	}
}

func TestAWrongKindIsAProblemAndKeepsTheDefault(t *testing.T) {
	for text, want := range map[string]string{
		"ratio: half":   `x.yaml:1: ratio: wants a number, is "half"; write for example 0.5`,
		"ratio: .nan":   `x.yaml:1: ratio: wants a number, is .nan; write for example 0.5`,
		"on: yes":       `x.yaml:1: on: wants true or false, is "yes"; write true or false without quotes`,
		"on: ${ON}":     `x.yaml:1: on: wants true or false, is "${ON}"; variables are only replaced in text, not in numbers, durations or switches`,
		"after: [1s]":   `x.yaml:1: after: wants a duration, is a list; write for example 500ms, 10s or 5m`,
		"words: [[a]]":  `x.yaml:1: words[0]: wants text, is a list; write one value`,
		"nested: [x]":   `x.yaml:1: nested[0]: wants keys (name), is "x"; write them below it`,
		"text: !!bin 1": `x.yaml:1: text: wants text, is of type !!bin; put it in quotes`,
	} {
		before := kinds{Text: "t", Count: 7, Ratio: 0.7, On: true, After: time.Second}
		got := before
		d := newDecoder("x.yaml", testEnv)
		d.document([]byte(text), &got)
		got.Words, got.Nested = nil, nil
		if err := d.result(); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
		if !reflect.DeepEqual(got, before) {
			t.Errorf("%s: changed to %+v", text, got)
		}
	}
}

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"size", "size", 0}, {"sise", "size", 1}, {"", "size", 4}, {"listen", "lsten", 1}, {"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q): got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
