package wire

// Column is the part of a column definition that says what its values are.
// Layout: dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html.
type Column struct {
	Length uint32 // of what is displayed, in bytes
	Type   byte
	Flags  uint16
}

// Column types and flags that the proxy tells apart in its own queries.
const (
	TypeDouble     byte   = 0x05
	TypeLongLong   byte   = 0x08
	TypeNewDecimal byte   = 0xf6
	FlagUnsigned   uint16 = 0x20
)

// ParseColumn decodes the payload of a column definition.
func ParseColumn(p []byte) (c Column, valid bool) {
	r := reader{p: p}
	for range 6 { // catalog, schema, table, original table, name, original name
		r.lenBytes()
	}
	r.lenInt() // length of what follows
	r.uint16() // character set
	c.Length = r.uint32()
	c.Type = r.byte()
	c.Flags = r.uint16()
	return c, !r.bad
}

// ParseTextRow decodes a row of n columns in the text protocol. NULL is nil; other values are slices of p.
func ParseTextRow(p []byte, n int) (values [][]byte, valid bool) {
	r := reader{p: p}
	values = make([][]byte, n)
	for i := range values {
		if len(r.p) > 0 && r.p[0] == 0xfb {
			r.byte()
			continue
		}
		if values[i] = r.lenBytes(); values[i] == nil {
			values[i] = []byte{}
		}
	}
	return values, !r.bad && len(r.p) == 0
}
