package config

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

var durationType = reflect.TypeFor[time.Duration]()

// scalar writes a single value over v.
func (d *decoder) scalar(path string, n *yaml.Node, v reflect.Value) {
	if isNull(n) {
		d.add(path, "has no value; write one, or delete the line for the default")
		return
	}
	if v.Type() == durationType {
		d.duration(path, n, v)
		return
	}
	switch v.Kind() {
	case reflect.String:
		d.text(path, n, v)
	case reflect.Int, reflect.Int64:
		var i int64
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&i) != nil || v.OverflowInt(i) {
			d.add(path, "wants a whole number, is %s; %s", describe(n), orBetter(n, "write for example 10"))
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		var f float64
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&f) != nil || math.IsNaN(f) {
			d.add(path, "wants a number, is %s; %s", describe(n), orBetter(n, "write for example 0.5"))
			return
		}
		v.SetFloat(f)
	case reflect.Bool:
		var b bool
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&b) != nil {
			d.add(path, "wants true or false, is %s; %s", describe(n), orBetter(n, "write true or false without quotes"))
			return
		}
		v.SetBool(b)
	default:
		panic(fmt.Sprintf("config: no decoding for %s at %s", v.Type(), path))
	}
}

// duration takes only what time.ParseDuration takes, and no bare number: 5 may have been meant as 5ms or 5s.
func (d *decoder) duration(path string, n *yaml.Node, v reflect.Value) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == "0":
		d.add(path, "wants a duration with a unit, is 0; write 0s")
	case n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float"):
		d.add(path, "wants a duration with a unit, is %s; write for example %ss or %sms", n.Value, n.Value, n.Value)
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		value, err := time.ParseDuration(n.Value)
		if isBareNumber(n.Value) { // ParseDuration takes "0"
			d.add(path, "wants a duration with a unit, is %s; write for example 500ms, 10s or 5m", describe(n))
			return
		}
		if err != nil {
			d.add(path, "wants a duration, is %s; %s", describe(n), orBetter(n, "write for example 500ms, 10s or 5m"))
			return
		}
		v.SetInt(int64(value))
	default:
		d.add(path, "wants a duration, is %s; write for example 500ms, 10s or 5m", describe(n))
	}
}

// text never shows a value in its problems: it may be a password.
func (d *decoder) text(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.add(path, "wants text, is %s; write one value", describe(n))
		return
	}
	if n.Tag != "!!str" {
		d.add(path, "wants text, is %s; put it in quotes", kind(n))
		return
	}
	value, problem := expand(n.Value, d.env)
	if problem != "" {
		d.add(path, "%s", problem)
		return
	}
	if value == "" && n.Value != "" && strings.HasSuffix(path, "password") {
		d.add(path, "the variable in it is empty, which would be a login without a password; set it before the start")
		return
	}
	if strings.HasSuffix(path, "_file") && value != "" && !filepath.IsAbs(value) {
		value = filepath.Join(filepath.Dir(d.file), value)
	}
	v.SetString(value)
	if strings.HasSuffix(path, "_file") && value != "" {
		d.readable(path, value)
	}
}

// kind says what a node is, without its value.
func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "a number"
	case n.Tag == "!!bool":
		return "true or false"
	case n.Tag == "!!timestamp":
		return "a date"
	case n.Tag == "!!null":
		return "empty"
	case n.Tag == "!!str":
		return "text"
	default:
		return "of type " + n.Tag
	}
}

// describe says what a node is, with its value when that is short.
func describe(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || len(n.Value) > 40 {
		return kind(n)
	}
	if n.Tag == "!!str" {
		return strconv.Quote(n.Value)
	}
	return n.Value
}

// orBetter is the advice for a wrong value, unless a better one can be told from the value.
func orBetter(n *yaml.Node, advice string) string {
	switch {
	case strings.Contains(n.Value, "${"):
		return "variables are only replaced in text, not in numbers, durations or switches"
	case n.Tag == "!!str" && isBareNumber(n.Value):
		return "write it without quotes"
	}
	return advice
}

func isBareNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}
