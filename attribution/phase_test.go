package attribution

import (
	"fmt"
	"testing"
)

func TestEveryPhaseReasonAndClassHasItsOwnWord(t *testing.T) {
	kinds := map[string]struct {
		n    int
		word func(int) fmt.Stringer
	}{
		"phase":  {NumPhases, func(i int) fmt.Stringer { return Phase(i) }},
		"reason": {NumPinReasons, func(i int) fmt.Stringer { return PinReason(i) }},
		"class":  {NumErrorClasses, func(i int) fmt.Stringer { return ErrorClass(i) }},
	}
	for kind, k := range kinds {
		seen := map[string]int{}
		for i := range k.n {
			word := k.word(i).String()
			if at, twice := seen[word]; twice || word == "" {
				t.Errorf("%s %d is called %q, as is %d", kind, i, word, at)
			}
			seen[word] = i
		}
		if got, want := k.word(k.n).String(), fmt.Sprint(k.n); got != want {
			t.Errorf("%s out of range is called %q, want %q", kind, got, want)
		}
	}
}

func TestClassOfGroupsErrorCodes(t *testing.T) {
	for code, want := range map[uint16]ErrorClass{
		0: Other, 1213: Deadlock, 1205: LockTimeout, 3572: LockTimeout, 1064: Syntax, 1149: Syntax, 1044: Access,
		1045: Access, 1142: Access, 1143: Access, 1227: Access, 1062: Duplicate, 1586: Duplicate, 1053: Gone,
		1927: Gone, 2006: Gone, 2013: Gone, 1040: Other, 1146: Other, 1317: Other,
	} {
		if got := ClassOf(code); got != want {
			t.Errorf("ClassOf(%d) = %v, want %v", code, got, want)
		}
	}
}
