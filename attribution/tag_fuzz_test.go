package attribution

import (
	"bytes"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/conntag/conntag/internal/sqlscan"
)

func FuzzFindCaller(f *testing.F) {
	for _, tt := range tagTexts {
		f.Add([]byte(tt.sql))
	}
	for _, sql := range []string{
		"", "/**/", "/***/", "--", "#", "/*=*/", "/*conn_tag='*/", `/*conn_tag='\*/`, "/*conn_tag='%*/", "/*conn_tag='%%'*/", "/*conn_tag='%%4'*/",
		"/*app:a,conn_tag:b*/ SELECT 1 /* CONN_TAG=\"c\" */", "/*;app=1;*/", "-- conn_tag:a\n# app:b", "/*conn_tag:\xff\xfe*/", "/*conn_tag='%ff'*/",
	} {
		f.Add([]byte(sql))
	}
	keys := []string{"conn_tag", "app"}
	f.Fuzz(func(t *testing.T, sql []byte) {
		before := bytes.Clone(sql)
		st := sqlscan.Scan(sql, 0)
		value, ok := FindCaller(sql, st.Comments(), keys, nil)
		if !bytes.Equal(sql, before) {
			t.Fatalf("FindCaller changed %q to %q", before, sql)
		}
		if ok != (len(value) > 0) {
			t.Fatalf("FindCaller(%q) = %q, %v", sql, value, ok)
		}
		again, _ := FindCaller(sql, st.Comments(), keys, make([]byte, 3, 512))
		if !bytes.Equal(value, again) {
			t.Fatalf("FindCaller(%q) = %q, and with scratch %q", sql, value, again)
		}
		checkName(t, value)
	})
}

func FuzzCleanName(f *testing.F) {
	for _, raw := range []string{"", "a", " a ", "__a", "_\x00_a", "naïve✓", "\xff", "\u202e", "a\nb", longValue[:63] + "é", longValue[:62] + "  é"} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkName(t, raw) })
}

// checkName holds a cleaned name to what labels and the ledger rely on.
func checkName(t *testing.T, raw []byte) {
	t.Helper()
	before := bytes.Clone(raw)
	name := string(CleanName(raw, nil))
	if !bytes.Equal(raw, before) {
		t.Fatalf("CleanName changed %q to %q", before, raw)
	}
	if len(name) > maxName || !utf8.ValidString(name) {
		t.Fatalf("CleanName(%q) = %q", raw, name)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			t.Fatalf("CleanName(%q) = %q with %U", raw, name, r)
		}
	}
	if inPlace := string(CleanName(before, before)); inPlace != name {
		t.Fatalf("CleanName(%q) = %q, in place %q", raw, name, inPlace)
	}
	if name == InvalidName {
		if utf8.Valid(raw) {
			t.Fatalf("CleanName(%q) = %q", raw, name)
		}
		return
	}
	if isReserved([]byte(name)) {
		t.Fatalf("CleanName(%q) = %q is reserved", raw, name)
	}
	if twice := string(CleanName([]byte(name), nil)); twice != name {
		t.Fatalf("CleanName(%q) = %q, and again %q", raw, name, twice)
	}
}
