package sqlscan

import "testing"

func TestAppendGapLeavesOutExecutableMarkersOnly(t *testing.T) {
	for gap, want := range map[string]string{
		"  ":                    "  ",
		" /* a */ ":             " /* a */ ",
		" /*! ":                 "  ",
		" /*!50100 ":            "  ",
		"/*M!100100 ":           " ",
		" */ ":                  "  ",
		" /*!/* /*! */ */ x":    " /* /*! */  x",
		" -- */ \n */ # /*!\n.": " -- */ \n  # /*!\n.",
	} {
		if got := string(AppendGap(nil, []byte(gap))); got != want {
			t.Errorf("%q: got %q, want %q", gap, got, want)
		}
	}
}
