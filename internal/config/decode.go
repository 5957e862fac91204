package config

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// decoder writes a YAML tree over a value that already holds the defaults. yaml.v3's own decoder takes a
// number for text and names Go types instead of paths in its errors; walking the tree ourselves gives every
// problem its path and line, and ${NAME} is replaced after parsing, so that no value can become YAML syntax.
type decoder struct {
	file     string
	env      func(string) (string, bool)
	lines    map[string]int // path -> line of its key
	problems []Problem
}

func newDecoder(file string, env func(string) (string, bool)) *decoder {
	return &decoder{file: file, env: env, lines: map[string]int{}}
}

// syntaxLine is how yaml.v3 says where a syntax error is; it has no type for it.
var syntaxLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// document reads text into the struct that into points at. It is false when text is not YAML
// or not keys and values at all, so that looking further would only add noise.
func (d *decoder) document(text []byte, into any) bool {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return true // an empty file: all defaults
	}
	if err != nil {
		d.syntax(err)
		return false
	}
	top := doc.Content[0]
	d.value("", top, reflect.ValueOf(into).Elem())
	if top.Kind != yaml.MappingNode && !isNull(top) {
		return false
	}
	var more yaml.Node
	if err := dec.Decode(&more); err == nil {
		d.lines[""] = more.Line
		d.add("", "a second document starts here; keep everything in one")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	return true
}

func (d *decoder) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := syntaxLine.FindStringSubmatch(err.Error()); m != nil {
		d.lines[""], _ = strconv.Atoi(m[1]) // the pattern holds digits only
		text = m[2]
	}
	hint := "check the indentation and quotes around this line"
	if strings.Contains(text, "cannot start any token") {
		hint = "indent with spaces, not tabs, and quote text that starts with a special character"
	}
	if strings.HasPrefix(text, "unknown anchor") {
		hint = "define it with & before its first use"
	}
	d.add("", "not valid YAML, %s; %s", text, hint)
}

// value writes n over v. Aliases need no guard against cycles: the depth of our types bounds the walk.
func (d *decoder) value(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case v.Kind() == reflect.Struct:
		d.mapping(path, n, v)
	case v.Kind() == reflect.Slice:
		d.list(path, n, v)
	default:
		d.scalar(path, n, v)
	}
}

// mapping writes a mapping's keys over a struct's fields. A key without any value keeps the defaults, as a
// section does in which every line is a comment.
func (d *decoder) mapping(path string, n *yaml.Node, v reflect.Value) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.add(path, "wants keys (%s), is %s; write them below it", strings.Join(keys(v.Type()), ", "), describe(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		at := join(path, key.Value)
		field, ok := fieldOf(v, key.Value)
		switch first, twice := seen[key.Value]; {
		case key.Tag == "!!merge":
			d.at(at, key.Line, "merge keys are not read; write the keys out")
		case !ok:
			d.at(at, key.Line, "unknown key; %s", suggest(key.Value, keys(v.Type())))
		case twice:
			d.at(at, key.Line, "given twice, first on line %d; keep one", first)
		default:
			d.lines[at] = key.Line
			d.value(at, val, field)
		}
		if _, twice := seen[key.Value]; !twice {
			seen[key.Value] = key.Line
		}
	}
}

// list replaces a slice: entries are not added to the default's.
func (d *decoder) list(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		if isNull(n) {
			d.add(path, "has no value; write [] for an empty list, or delete the line for the default")
			return
		}
		d.add(path, `wants a list, is %s; write one entry per line, each after "- "`, describe(n))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, entry := range n.Content {
		at := join(path, strconv.Itoa(i))
		d.lines[at] = entry.Line
		d.value(at, entry, out.Index(i))
	}
	v.Set(out)
}

// keys are the YAML names of a struct, in its order.
func keys(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("yaml"); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == key && key != "-" && key != "" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
