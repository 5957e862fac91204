package sqlscan

import (
	"strings"
	"testing"
)

func BenchmarkScan(b *testing.B) {
	for _, bb := range []struct{ name, sql string }{
		{"point_select", pointSelect},
		{"insert", insert},
		{"orm_join", ormJoin},
		{"sqlcommenter_tail", sqlcommenter},
		{"leading_tag", "/* conn_tag:checkout_completion */ " + pointSelect},
		{"begin", "BEGIN"},
		{"megabyte_string", "INSERT INTO t VALUES ('" + strings.Repeat("0123456789abcdef", 1<<16) + "')"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			text := []byte(bb.sql)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				st := Scan(text, 0)
				sink += int(st.n)
			}
		})
	}
}

func BenchmarkLexer(b *testing.B) {
	text := []byte("SET SESSION sql_mode = 'STRICT_TRANS_TABLES', time_zone = '+00:00'")
	b.ReportAllocs()
	for b.Loop() {
		l := NewLexer(text, 0)
		for t := l.Next(); t.Kind != TokenEnd; t = l.Next() {
			sink += len(t.Text)
		}
	}
}
