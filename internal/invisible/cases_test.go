package invisible

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCasesLookTheSame replays what once told conntag from a server. A case of a known difference must show it, so that
// its exclusion goes when it is mended.
func TestCasesLookTheSame(t *testing.T) {
	names, err := filepath.Glob("testdata/*.case")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	bare := &Stage{direct: stage.direct, behind: stage.behind, open: Conntag} // looks at everything
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".case"), func(t *testing.T) {
			c := load(t, name)
			r, err := bare.Play(c)
			if err != nil {
				t.Fatal(err)
			}
			switch _, known := stage.excluded[c.Known]; {
			case !known && r.Difference != nil:
				t.Errorf("%s%v", c.Note, r.Difference)
			case known && r.Difference == nil:
				t.Errorf("this looks the same now: take the exclusion %q out of exclusion.go", c.Known)
			}
		})
	}
}

func load(t *testing.T, name string) Case {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	c, err := Parse(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

func TestACaseIsWhatItsTextSays(t *testing.T) {
	g, err := NewGenerator(7, everything()...)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		for _, mode := range Modes {
			text := g.Draw(mode, 40).String()
			c, err := Parse(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if again := c.String(); again != text {
				t.Fatalf("read back:\n%s\nwas:\n%s", again, text)
			}
		}
	}
}

func TestTheSameSeedDrawsTheSameCase(t *testing.T) {
	var texts [2]string
	for i := range texts {
		g, err := NewGenerator(3)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = g.Draw(S2, 60).String()
	}
	if texts[0] != texts[1] {
		t.Errorf("two draws of one seed:\n%s\n%s", texts[0], texts[1])
	}
}

func TestACaseThatMakesNoSenseIsRefusedByItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"mode s1\nA query SELECT 1":                                  "line 2",
		"mode s1\nclient schema=one color=red":                       "line 2",
		"mode s1\nclient schema=one\nA sing":                         "line 3",
		"mode s1\nclient schema=one\nA execute p nonsense":           "line 3",
		"mode s1\nclient schema=one\nA query \"unterminated":         "line 3",
		"mode s1\nclient schema=one collation=300\nA query SELECT 1": "line 2",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one that names %s", text, err, want)
		}
	}
}
