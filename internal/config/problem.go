package config

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with the file.
type Problem struct {
	File string
	Line int    // from 1; 0 when the problem is not at a line, for example a file that cannot be read
	Path string // list entries by number from 0: "users[0].password"; empty for the whole file
	Text string // what is wrong; what to do
}

// String is FILE:LINE: path: text, without the parts that do not apply.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Path != "" {
		b.WriteString(": " + p.Path)
	}
	b.WriteString(": " + p.Text)
	return b.String()
}

// Problems is everything that is wrong with a file, in the order of its lines.
type Problems struct{ List []Problem }

// Error is one problem per line.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, one := range p.List {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// add keeps a problem. A second one at the same path is dropped: it is a consequence of the first, such as
// an empty name whose value was of the wrong kind.
func (d *decoder) add(path, format string, args ...any) {
	for _, known := range d.problems {
		if known.Path == bracketed(path) && path != "" {
			return
		}
	}
	d.at(path, d.line(path), format, args...)
}

// at adds a problem at a line of its own, as that of a key which is unknown or given a second time.
func (d *decoder) at(path string, line int, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Path: bracketed(path), Text: fmt.Sprintf(format, args...)})
}

// line is where path stands in the file, or the nearest key above it that is there.
func (d *decoder) line(path string) int {
	for {
		if n, ok := d.lines[path]; ok {
			return n
		}
		cut := strings.LastIndexByte(path, '.')
		if cut < 0 {
			return max(d.lines[""], 1)
		}
		path = path[:cut]
	}
}

func (d *decoder) result() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return a.Line - b.Line })
	return &Problems{List: d.problems}
}

// Inside the decoder a list entry is one more dotted part, "users.0.password", so that a path has one
// separator; people see "users[0].password", and sections may write either.
var (
	dottedEntry    = regexp.MustCompile(`\.(\d+)(\.|$)`)
	bracketedEntry = regexp.MustCompile(`\[(\d+)\]`)
)

func bracketed(path string) string { return dottedEntry.ReplaceAllString(path, "[$1]$2") }
func dotted(path string) string    { return bracketedEntry.ReplaceAllString(path, ".$1") }

// join puts a path below another; either may be empty.
func join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}

// reason is what the operating system said, without the operation and the path in front of it.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
