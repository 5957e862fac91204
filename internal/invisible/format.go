package invisible

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A case's text, one line each:
//
//	# why it is kept
//	known warnings        (only while there is such an exclusion)
//	mode s2
//	client schema=one collation=45 found_rows multi track
//	client schema= collation=8
//	A query SELECT 1
//	B prepare p SELECT ? + 1
//	B execute p cursor unbound int:5 string:"a b" null
//
// Clients are A, B, … in the order of their lines. A text that is not plain is written as a Go string.

// String is the case's text, which Parse reads.
func (c Case) String() string {
	var b strings.Builder
	for line := range strings.Lines(c.Note) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSpace(line))
	}
	if c.Known != "" {
		fmt.Fprintf(&b, "known %s\n", c.Known)
	}
	fmt.Fprintf(&b, "mode %s\n", c.Mode)
	for _, l := range c.Logins {
		fmt.Fprintf(&b, "client schema=%s collation=%d", l.Schema, l.Collation)
		for _, f := range l.flags() {
			if *f.set {
				b.WriteString(" " + f.name)
			}
		}
		b.WriteByte('\n')
	}
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "%s\n", s)
	}
	return b.String()
}

type loginFlag struct {
	name string
	set  *bool
}

func (l *Login) flags() []loginFlag {
	return []loginFlag{{"found_rows", &l.FoundRows}, {"multi", &l.Multi}, {"track", &l.Track}}
}

// ClientName is how a case's text names client number i.
func ClientName(i int) string { return string(rune('A' + i)) }

func (s Step) String() string { return ClientName(s.Client) + " " + s.Op.String() }

func (o Op) String() string {
	words := []string{string(o.Verb)}
	switch o.Verb {
	case Query, InitDB, ChangeUser, FieldList:
		words = append(words, quote(o.Text))
	case Prepare:
		words = append(words, o.Slot, quote(o.Text))
	case Close, Reset:
		words = append(words, o.Slot)
	case Fetch:
		words = append(words, o.Slot, strconv.Itoa(o.N))
	case Long:
		words = append(words, o.Slot, strconv.Itoa(o.N), quote(o.Text))
	case SetOption:
		words = append(words, strconv.Itoa(o.N))
	case Execute:
		words = append(words, o.Slot)
		if o.Cursor {
			words = append(words, "cursor")
		}
		if o.Unbound {
			words = append(words, "unbound")
		}
		for _, p := range o.Params {
			words = append(words, p.String())
		}
	}
	return strings.Join(words, " ")
}

func (p Param) String() string {
	switch p.Kind {
	case Null, Piece:
		return string(p.Kind)
	case String:
		return string(p.Kind) + ":" + strconv.Quote(p.Text)
	}
	return string(p.Kind) + ":" + p.Text
}

// quote writes a text as it is where a line can hold it.
func quote(text string) string {
	plain := text != "" && utf8.ValidString(text) && text[0] != '"' && strings.TrimSpace(text) == text
	if plain && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	return strconv.Quote(text)
}

func unquote(text string) (string, error) {
	if strings.HasPrefix(text, `"`) {
		return strconv.Unquote(text)
	}
	return text, nil
}

// Parse reads a case's text. Errors name the line.
func Parse(r io.Reader) (Case, error) {
	var c Case
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := c.parseLine(strings.TrimSpace(lines.Text())); err != nil {
			return c, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return c, lines.Err()
}

func (c *Case) parseLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "":
	case word == "#":
		c.Note += rest + "\n"
	case word == "known":
		c.Known = rest
	case word == "mode":
		c.Mode = Mode(rest)
	case word == "client":
		l, err := parseLogin(rest)
		c.Logins = append(c.Logins, l)
		return err
	case len(word) == 1 && word[0] >= 'A' && int(word[0]-'A') < len(c.Logins):
		op, err := parseOp(rest)
		c.Steps = append(c.Steps, Step{int(word[0] - 'A'), op})
		return err
	default:
		return fmt.Errorf("no client is called %q", word)
	}
	return nil
}

func parseLogin(text string) (l Login, err error) {
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "schema":
			l.Schema = value
		case "collation":
			n, err := strconv.ParseUint(value, 10, 8)
			if err != nil {
				return l, fmt.Errorf("collation: %w", err)
			}
			l.Collation = byte(n)
		default:
			known := false
			for _, f := range l.flags() {
				if f.name == name {
					*f.set, known = true, true
				}
			}
			if !known {
				return l, fmt.Errorf("a client has no %q", name)
			}
		}
	}
	return l, nil
}

func parseOp(text string) (o Op, err error) {
	verb, rest, _ := strings.Cut(text, " ")
	o.Verb = Verb(verb)
	switch o.Verb {
	case Query, InitDB, ChangeUser, FieldList:
		o.Text, err = unquote(rest)
	case Prepare:
		o.Slot, rest, _ = strings.Cut(rest, " ")
		o.Text, err = unquote(rest)
	case Close, Reset:
		o.Slot = rest
	case Fetch, Long:
		var n string
		o.Slot, rest, _ = strings.Cut(rest, " ")
		n, rest, _ = strings.Cut(rest, " ")
		if o.N, err = strconv.Atoi(n); err == nil {
			o.Text, err = unquote(rest)
		}
	case SetOption:
		o.N, err = strconv.Atoi(rest)
	case Execute:
		o.Slot, rest, _ = strings.Cut(rest, " ")
		err = o.parseParams(rest)
	case Ping, Statistics, ResetConn, Reconnect:
	default:
		err = fmt.Errorf("no command is called %q", verb)
	}
	return o, err
}

func (o *Op) parseParams(rest string) error {
	for rest != "" {
		if quoted, ok := strings.CutPrefix(rest, string(String)+":"); ok {
			literal, err := strconv.QuotedPrefix(quoted)
			if err != nil {
				return fmt.Errorf("parameter %s: %w", rest, err)
			}
			value, _ := strconv.Unquote(literal)
			o.Params = append(o.Params, Param{String, value})
			rest = strings.TrimPrefix(quoted[len(literal):], " ")
			continue
		}
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		kind, value, _ := strings.Cut(word, ":")
		switch {
		case word == "cursor":
			o.Cursor = true
		case word == "unbound":
			o.Unbound = true
		case kind == string(Null), kind == string(Int), kind == string(Double), kind == string(Piece):
			o.Params = append(o.Params, Param{ParamKind(kind), value})
		default:
			return fmt.Errorf("no parameter is like %q", word)
		}
	}
	return nil
}
