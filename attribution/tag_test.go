package attribution

import (
	"strings"
	"testing"

	"github.com/conntag/conntag/internal/sqlscan"
)

// findCaller scans sql and reads its tag; "" stands for untagged.
func findCaller(sql string, mode sqlscan.Mode, keys ...string) string {
	text := []byte(sql)
	st := sqlscan.Scan(text, mode)
	value, ok := FindCaller(text, st.Comments(), keys, nil)
	if !ok {
		return ""
	}
	return string(value)
}

func TestTagsOfEveryKnownFormatAreRead(t *testing.T) {
	const traceparent = "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01"
	for _, tt := range []struct{ format, sql, key, want string }{
		{"conn_tag", "/* conn_tag:checkout_completion */ SELECT 1", "conn_tag", "checkout_completion"},
		{"marginalia", "SELECT 1 /*application:BCX,controller:project_imports,action:show*/", "controller", "project_imports"},
		{"marginalia, first", "SELECT 1 /*application:BCX,controller:project_imports,action:show*/", "application", "BCX"},
		{"marginalia, last", "/*application:BCX,controller:project_imports,action:show*/ SELECT 1", "action", "show"},
		{"marginalia, annotation", "SELECT 1 /*application:BCX*/ /*foo*/", "application", "BCX"},
		{"marginalia, comma in a value", "SELECT 1 /*job:a,b,application:BCX*/", "application", "BCX"},
		{"gitlab", "/*application:web,correlation_id:01F,endpoint_id:Projects::BlobController#show*/ SELECT 1", "endpoint_id", "Projects::BlobController#show"},
		{"rails legacy", "SELECT 1 /*application:Shop,controller:orders*/", "application", "Shop"},
		{"rails legacy, broken closer", "SELECT 1 /*application:a* /b*/", "application", "a* /b"},
		{"rails sqlcommenter", "SELECT 1 /*action='index',controller='orders'*/", "controller", "orders"},
		{"sqlcommenter", "SELECT 1 /*action='a',route='%2Fpolls%20x',traceparent='" + traceparent + "'*/", "route", "/polls x"},
		{"sqlcommenter, verbatim", "SELECT 1 /*action='a',traceparent='" + traceparent + "'*/", "traceparent", traceparent},
		{"sqlcommenter, quote", `SELECT 1 /*name='it\'s, here',action='a'*/`, "name", "it's, here"},
		{"sqlcommenter, after a quote", `SELECT 1 /*name='it\'s, here',action='a'*/`, "action", "a"},
		{"opentelemetry", "SELECT 1 /*db_driver='mysql%%3A2',k='a%%20b'*/", "db_driver", "mysql:2"},
		{"datadog", "/*dddbs='svc',dde='prod',ddps='web',ddpv='1.2',traceparent='" + traceparent + "'*/ SELECT 1", "ddps", "web"},
		{"pganalyze k:v", "SELECT 1 /* controller:x */", "controller", "x"},
		{"pganalyze k=v", "SELECT 1 /* controller=x */", "controller", "x"},
		{"pganalyze k='v'", "SELECT 1 /*controller='x'*/", "controller", "x"},
		{"planetscale", "SELECT 1 /*controller='x'*/;", "controller", "x"},
		{"hasura", "SELECT 1 /* request_id=abc-1,field_name=child */", "field_name", "child"},
		{"hibernate", "/* select o from Order o where o.id = ?1 */ select 1", "id", ""},
		{"hibernate, comment", "/* conn_tag */ select 1", "conn_tag", ""},
		{"vitess directive", "SELECT /*vt+ WORKLOAD_NAME=x PRIORITY=50 */ 1", "WORKLOAD_NAME", ""},
		{"vitess directive, leading", "/*VT+ WORKLOAD_NAME=x */ SELECT 1", "WORKLOAD_NAME", ""},
		{"vitess tracing", "/*VT_SPAN_CONTEXT=eyJ1YmVyIjoiMSJ9Cg==*/ SELECT 1", "VT_SPAN_CONTEXT", "eyJ1YmVyIjoiMSJ9Cg=="},
		{"vitess annotation", "/* conn_tag@PRIMARY */ SELECT 1", "conn_tag", ""},
		{"proxysql", "/* ;hostgroup=1;query_timeout=100 */ SELECT 1", "hostgroup", "1"},
		{"proxysql, last", "/* ;hostgroup=1;query_timeout=100 */ SELECT 1", "query_timeout", "100"},
		{"pgdog", "/* pgdog_qos: unit=api.users.read */ SELECT 1", "pgdog_qos", "unit=api.users.read"},
		{"pgdog role", "/* pgdog_role: primary */ SELECT 1", "pgdog_role", "primary"},
		{"maxscale", "/* IP=10.0.0.7 */ SELECT 1", "ip", "10.0.0.7"},
		{"hint", "SELECT /*+ conn_tag:a */ 1", "conn_tag", ""},
		{"executable", "/*!50000 conn_tag:a */ SELECT 1", "conn_tag", ""},
		{"executable, MariaDB", "/*M! conn_tag:a */ SELECT 1", "conn_tag", ""},
		{"dashes", "SELECT 1 -- conn_tag:a", "conn_tag", "a"},
		{"dashes, first", "-- conn_tag:a\r\nSELECT 1", "conn_tag", "a"},
		{"hash", "SELECT 1 # conn_tag:a", "conn_tag", "a"},
		{"two stars", "/** conn_tag:a **/ SELECT 1", "conn_tag", "a"},
		{"inside", "SELECT /* conn_tag:a */ 1", "conn_tag", "a"},
		{"behind the semicolon", "SELECT 1; /* conn_tag:a */", "conn_tag", "a"},
	} {
		if got := findCaller(tt.sql, 0, tt.key); got != tt.want {
			t.Errorf("%s: %s of %q = %q, want %q", tt.format, tt.key, tt.sql, got, tt.want)
		}
	}
}

func TestTagValuesAreReadByTheWrittenRule(t *testing.T) {
	for comment, want := range map[string]string{
		"conn_tag:a":                   "a",
		"CONN_TAG : a":                 "a",
		"conn_tag = a b ":              "a b",
		"conn_tag='a'":                 "a",
		`conn_tag="a b"`:               "a b",
		"conn_tag:'a'":                 "a",
		"conn_tag= ' a ' , x=y":        "a",
		"conn_tag='a'b,x=y":            "a",
		"conn_tag:check%20out":         "check%20out",
		"conn_tag='check%20out'":       "check out",
		"conn_tag='50%'":               "50%",
		"conn_tag='50%%'":              "50%%",
		"conn_tag='%zz%4'":             "%zz%4",
		"conn_tag='%2520'":             "%20",
		"conn_tag='%e2%9C%93'":         "✓",
		"conn_tag='%00%0A'":            "\x00\n",
		`conn_tag='it\'s'`:             "it's",
		`conn_tag='a\\'`:               `a\`,
		`conn_tag='a\b'`:               `a\b`,
		`conn_tag:a\b`:                 `a\b`,
		"conn_tag:'tis":                "'tis",
		"conn_tag:'tis,x:y":            "'tis",
		"conn_tag:naïve✓":              "naïve✓",
		"conn_tag:a\xefb":              "a\xefb",
		"conn_tag:a=b":                 "a=b",
		"conn_tag:a:b":                 "a:b",
		"conn_tag=a:b":                 "a:b",
		"conn_tag:a,b":                 "a",
		"conn_tag:a;b":                 "a",
		"conn_tag:a\nb":                "a\nb",
		"conn_tag:a\x00b":              "a\x00b",
		"x:y;conn_tag:a":               "a",
		"x:y,\n  conn_tag:a,\n":        "a",
		"conn_tag:a,conn_tag:b":        "a",
		"conn_tag:,conn_tag:b":         "b",
		"conn_tag=' ',conn_tag:b":      "b",
		"conn_tag:":                    "",
		"conn_tag=''":                  "",
		"conn_tag":                     "",
		"":                             "",
		",;,":                          "",
		"conn_tags:a":                  "",
		"my conn_tag:a":                "",
		"note:'x,conn_tag:evil'":       "",
		"note='x',conn_tag:a":          "a",
		":a":                           "",
		"conn_tag:" + longValue + ",x": longValue,
	} {
		if got := findCaller("SELECT 1 /*"+comment+"*/", 0, "conn_tag"); got != want {
			t.Errorf("tag in %.80q = %.80q, want %.80q", comment, got, want)
		}
	}
}

var longValue = strings.Repeat("x", 10_000)

func TestWhatIsQuotedIsNoTag(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		mode sqlscan.Mode
		want string
	}{
		{"SELECT '/* conn_tag:evil */'", 0, ""},
		{`SELECT "-- conn_tag:evil"`, 0, ""},
		{"SELECT 1 AS `/* conn_tag:evil */`", 0, ""},
		{"SELECT 'it''s /* conn_tag:evil */'", 0, ""},
		{`SELECT 'a\' /* conn_tag:evil */'`, 0, ""},
		{`SELECT 'a\' /* conn_tag:ok */`, sqlscan.NoBackslashEscapes, "ok"},
		{`SELECT "a\" /* conn_tag:ok */`, sqlscan.AnsiQuotes, "ok"},
		{"/* conn_tag:a */ DROP TABLE t /* */", 0, "a"},
		{"SELECT 1 /* conn_tag:evil", 0, ""},
		{"SELECT 1 --conn_tag:evil", 0, ""},
		{"SELECT '" + longValue + "' /* conn_tag:ok */", 0, "ok"},
	} {
		if got := findCaller(tt.sql, tt.mode, "conn_tag"); got != tt.want {
			t.Errorf("tag of %.80q = %q, want %q", tt.sql, got, tt.want)
		}
	}
}

func TestKeysDecideBeforeComments(t *testing.T) {
	const sql = "/*dddbs='svc',conn_tag=''*/ SELECT 1 /*controller='orders',conn_tag='second'*/ -- conn_tag:third"
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{nil, ""},
		{[]string{"absent"}, ""},
		{[]string{"conn_tag"}, "second"},
		{[]string{"conn_tag", "dddbs"}, "second"},
		{[]string{"absent", "dddbs", "conn_tag"}, "svc"},
		{[]string{"Controller", "dddbs"}, "orders"},
	} {
		if got := findCaller(sql, 0, tt.keys...); got != tt.want {
			t.Errorf("keys %v: %q, want %q", tt.keys, got, tt.want)
		}
	}
}

var tagTexts = []struct{ name, sql string }{
	{"untagged", "SELECT c FROM sbtest1 WHERE id=4711"},
	{"leading", "/* conn_tag:checkout_completion */ SELECT c FROM sbtest1 WHERE id=4711"},
	{"sqlcommenter", "SELECT c FROM sbtest1 WHERE id=4711 /*action='show',application='Shop',conn_tag='checkout_completion'," +
		"controller='orders',traceparent='00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01'*/"},
	{"escaped", "SELECT c FROM sbtest1 WHERE id=4711 /*action='show',conn_tag='checkout%20completion'*/"},
}

func TestFindCallerAllocatesNothing(t *testing.T) {
	keys := []string{"conn_tag"}
	scratch := make([]byte, 0, 256)
	for _, tt := range tagTexts {
		text := []byte(tt.sql)
		n := testing.AllocsPerRun(100, func() {
			st := sqlscan.Scan(text, 0)
			value, _ := FindCaller(text, st.Comments(), keys, scratch)
			CleanName(value, scratch)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations, want 0", tt.name, n)
		}
	}
}

func TestAValueWithoutEscapesNeedsNoScratch(t *testing.T) {
	text := []byte(tagTexts[2].sql)
	st := sqlscan.Scan(text, 0)
	keys := []string{"conn_tag"}
	if n := testing.AllocsPerRun(100, func() { FindCaller(text, st.Comments(), keys, nil) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkFindCaller(b *testing.B) {
	keys := []string{"conn_tag"}
	scratch := make([]byte, 0, 256)
	for _, tt := range tagTexts {
		b.Run(tt.name, func(b *testing.B) {
			text := []byte(tt.sql)
			st := sqlscan.Scan(text, 0)
			b.ReportAllocs()
			for b.Loop() {
				value, _ := FindCaller(text, st.Comments(), keys, scratch)
				CleanName(value, scratch)
			}
		})
	}
}
