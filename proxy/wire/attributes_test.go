package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// boundValue is one value of a command as it is bound.
type boundValue struct {
	name string
	kind uint16
	null bool
	data []byte // nil: sent ahead
}

func drawValue(t *rapid.T, attribute bool) boundValue {
	v := boundValue{kind: uint16(rapid.SampledFrom([]int{typeTiny, typeShort, typeLong, typeFloat, typeDouble, typeNull, 7, typeLongLong, typeInt24, 10, 11,
		12, typeYear, typeVarchar, 16, typeBool, 245, 246, 249, 252, 253, typeString, 255}).Draw(t, "type")), null: rapid.Bool().Draw(t, "null")}
	if rapid.Bool().Draw(t, "unsigned") {
		v.kind |= 0x8000
	}
	if attribute {
		v.name = strings.Repeat("n", rapid.SampledFrom([]int{0, 1, 10, 300}).Draw(t, "name"))
	}
	size, fixed := map[uint16]int{typeTiny: 1, typeBool: 1, typeShort: 2, typeYear: 2, typeLong: 4, typeInt24: 4, typeFloat: 4,
		typeLongLong: 8, typeDouble: 8, typeNull: 0}[v.kind&0xff]
	v.data = []byte{}
	switch {
	case v.null:
	case fixed:
		v.data = make([]byte, size)
	default:
		v.data = AppendLenString(nil, strings.Repeat("v", rapid.SampledFrom([]int{0, 4, 7, 11, 250, 251, 70000}).Draw(t, "length")))
	}
	return v
}

// appendBound encodes values after dst, with their names or without, as the two pages of the protocol say.
func appendBound(dst []byte, values []boundValue, typed, named bool) []byte {
	nulls := make([]byte, (len(values)+7)/8)
	for i, v := range values {
		if v.null {
			nulls[i/8] |= 1 << (i % 8)
		}
	}
	dst = append(dst, nulls...)
	if !typed {
		dst = append(dst, 0)
	} else {
		dst = append(dst, 1)
		for _, v := range values {
			if dst = binary.LittleEndian.AppendUint16(dst, v.kind); named {
				dst = AppendLenString(dst, v.name)
			}
		}
	}
	for _, v := range values {
		dst = append(dst, v.data...)
	}
	return dst
}

// texts are the attributes that Next should find.
func texts(values []boundValue) (want []Attr) {
	for _, v := range values {
		if kind := v.kind & 0xff; !v.null && (kind == typeVarchar || kind >= typeBlobs && kind <= typeString) {
			want = append(want, Attr{v.name, FirstLenString(v.data)})
		}
	}
	return want
}

func allAttributes(a Attributes) (got []Attr) {
	for {
		name, text, ok := a.Next()
		if !ok {
			return got
		}
		got = append(got, Attr{string(name), string(text)})
	}
}

func drawValues(t *rapid.T, what string, attribute bool) (values []boundValue) {
	for range rapid.SampledFrom([]int{0, 1, 2, 7, 8, 9, 20}).Draw(t, what) {
		values = append(values, drawValue(t, attribute))
	}
	return values
}

func TestQueryAttributesAreReadExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues(t, "attributes", true)
		p := append(AppendLenInt([]byte{byte(ComQuery)}, uint64(len(values))), 1)
		if len(values) > 0 {
			p = appendBound(p, values, true, true)
		}
		head := len(p)
		p = append(p, "SELECT 1"...)
		text, a, err := TakeQueryAttributes(p)
		if err != nil || text != head {
			t.Fatalf("text at %d, want %d: %v", text, head, err)
		}
		if got, want := allAttributes(a), texts(values); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if cut := rapid.IntRange(1, head-1).Draw(t, "cut"); len(values) > 0 {
			if _, _, err := TakeQueryAttributes(p[:cut]); !errors.Is(err, ErrMalformed) {
				t.Fatalf("cut to %d of %d bytes: %v", cut, head, err)
			}
		}
	})
}

func TestExecutesBecomeClassicOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own, attrs := drawValues(t, "parameters", false), []boundValue(nil)
		typed := rapid.Bool().Draw(t, "typed")
		if typed {
			attrs = drawValues(t, "attributes", true)
		}
		var long []uint16
		for i := range own {
			if rapid.IntRange(0, 4).Draw(t, "long") == 0 && !own[i].null {
				own[i].data, long = nil, append(long, uint16(i))
			}
		}
		head := []byte{byte(ComStmtExecute), 1, 2, 3, 4, 1, 1, 0, 0, 0}
		classic := bytes.Clone(head)
		if len(own) > 0 {
			classic = appendBound(classic, own, typed, false)
		}
		p := bytes.Clone(head)
		if len(own)+len(attrs) > 0 {
			p[5] |= paramCountAvailable
			p = appendBound(AppendLenInt(p, uint64(len(own)+len(attrs))), slices.Concat(own, attrs), typed, true)
		}
		e, err := ParseExecute(p, len(own), long)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := allAttributes(e.Attributes), texts(attrs); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		got := e.Classic()
		if n := len(own) % 8; n > 0 && len(attrs) > 0 { // the bitmap's last byte has bits of attributes, which servers don't look at
			last := executeHead + len(own)/8
			got[last] &= 1<<n - 1
		}
		if !bytes.Equal(got, classic) {
			t.Fatalf("got %x, want %x", got, classic)
		}
	})
}

func TestMalformedAttributesAreRefused(t *testing.T) {
	for name, p := range map[string]string{
		"nothing":                   "\x03",
		"no set count":              "\x03\x00",
		"two sets":                  "\x03\x00\x02SELECT 1",
		"count without values":      "\x03\x01\x01",
		"untyped":                   "\x03\x01\x01\x00\x00SELECT 1",
		"unknown bind flag":         "\x03\x01\x01\x00\x02\xfe\x00\x01a\x01bSELECT 1",
		"name longer than all":      "\x03\x01\x01\x00\x01\xfe\x00\x7fa\x01bSELECT 1",
		"value longer than all":     "\x03\x01\x01\x00\x01\xfe\x00\x01a\x7fbSELECT 1",
		"more values than bytes":    "\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x01",
		"NULL for a count":          "\x03\xfb\x01SELECT 1",
		"more values than there is": "\x03\xfc\xff\xff\x01\x00\x01",
	} {
		if _, _, err := TakeQueryAttributes([]byte(p)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, p := range map[string]string{
		"short":                    "\x17\x01\x00\x00\x00\x08\x01\x00\x00",
		"no count":                 "\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00",
		"fewer than parameters":    "\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00\x00",
		"untyped attribute":        "\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00\x02\x00\x00",
		"value that is not there":  "\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00\x02\x00\x01\xfe\x00\x00\xfe\x00\x01a\x01b",
		"types that are not there": "\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00\x01\x00\x01\xfe",
	} {
		if _, err := ParseExecute([]byte(p), 1, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("execute, %s: got %v", name, err)
		}
	}
}

func FuzzTakeQueryAttributes(f *testing.F) {
	f.Add(append(AppendAttributes([]byte{byte(ComQuery)}, []Attr{{"conn_tag", "checkout"}, {"trace", ""}}), "SELECT 1"...))
	f.Add([]byte("\x03\x00\x01SELECT 1"))
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) == 0 {
			return
		}
		text, a, err := TakeQueryAttributes(p)
		if err != nil {
			return
		}
		if text < 3 || text > len(p) {
			t.Fatalf("text at %d of %d", text, len(p))
		}
		allAttributes(a)
	})
}

func FuzzParseExecute(f *testing.F) {
	f.Add([]byte("\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00\x02\x00\x01\xfe\x00\x00\xfe\x00\x01a\x01b\x01c"), byte(1), byte(0))
	f.Add([]byte("\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00"), byte(1), byte(0))
	f.Fuzz(func(t *testing.T, p []byte, params, long byte) {
		before := bytes.Clone(p)
		e, err := ParseExecute(p, int(params), []uint16{uint16(long)})
		if err != nil {
			return
		}
		allAttributes(e.Attributes)
		if !bytes.Equal(p, before) {
			t.Fatal("reading changed the packet")
		}
		classic := e.Classic()
		if len(classic) > len(p) || len(classic) < executeHead || classic[5]&paramCountAvailable != 0 {
			t.Fatalf("%x became %x", before, classic)
		}
	})
}
