package proxy

import (
	"bytes"
	"maps"
	"strings"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/sqlscan"
)

// preparedText is what is known of a text that PREPARE has given a name.
type preparedText struct {
	effects  []effect
	flags    sqlscan.Flags
	variable string // the user variable that has the text; only the server knows what it says
	doubtful bool   // PREPARE may have failed on its own syntax, so that the name may still stand for what it did
}

// unknownText is a text that is computed, or that nobody here has seen: whatever it does, the connection is kept.
var unknownText = &preparedText{effects: []effect{{kind: effectPin, reason: attribution.Unknown, whether: true}}}

func readText(sql []byte, mode sqlscan.Mode) *preparedText {
	st := sqlscan.Scan(sql, mode)
	t := &preparedText{flags: st.Flags}
	if mayTouchState(&st, true) {
		t.effects = readEffects(sql, &st, mode)
	}
	return t
}

// prepare reads PREPARE name FROM {'text' | @variable | expression}.
func (r *effectReader) prepare(h []sqlscan.Token) {
	if len(h) < 3 {
		return
	}
	r.add(effect{kind: effectOwnState})
	text := *r.text(h[2:])
	text.doubtful = len(h) != 3
	r.add(effect{kind: effectPrepare, name: strings.ToLower(h[0].Ident()), text: &text})
}

// text is the text that an expression stands for.
func (r *effectReader) text(h []sqlscan.Token) *preparedText {
	switch {
	case len(h) != 1:
	case h[0].Kind == sqlscan.TokenString:
		return readText(unescape(h[0], r.mode), r.mode)
	case h[0].Kind == sqlscan.TokenUserVar:
		t := *unknownText
		t.variable = h[0].Ident()
		return &t
	}
	return unknownText
}

func (r *effectReader) deallocate(name sqlscan.Token) {
	r.add(effect{kind: effectOwnState})
	r.add(effect{kind: effectDeallocate, name: strings.ToLower(name.Ident())})
}

// execute reads EXECUTE name [USING …], and EXECUTE IMMEDIATE {'text' | @variable | expression} [USING …].
func (r *effectReader) execute(h []sqlscan.Token) {
	if len(h) == 0 {
		return
	}
	if len(h) == 1 || !h[0].Is("immediate") {
		r.add(effect{kind: effectExecute, name: strings.ToLower(h[0].Ident())})
		return
	}
	h = h[1:]
	for i, t := range h {
		if t.Is("using") {
			h = h[:i]
			break
		}
	}
	if t := r.text(h); t.variable != "" {
		r.add(effect{kind: effectExecuteVariable, name: t.variable})
	} else {
		r.add(effect{kind: effectExecute, text: t})
	}
}

// expand puts the effects of its text in the place of each EXECUTE, and adds the text's marks to flags. Names that the same
// command prepares are known, too.
func (s *state) expand(effects []effect, flags *sqlscan.Flags) []effect {
	var out []effect
	texts := maps.Clone(s.held.texts)
	if texts == nil {
		texts = map[string]*preparedText{}
	}
	for _, e := range effects {
		switch e.kind {
		case effectPrepare:
			texts[e.name] = e.text
		case effectExecute:
			if e.text == nil {
				e.text = texts[e.name]
			}
			out = append(out, executed(e, flags)...)
			continue
		}
		out = append(out, e)
	}
	return out
}

func executed(e effect, flags *sqlscan.Flags) []effect {
	if e.text == nil { // if it runs, somebody else's eyes have seen its PREPARE: a procedure's
		return []effect{{kind: effectPin, reason: attribution.Unknown, whether: e.whether}}
	}
	*flags |= e.text.flags &^ sqlscan.MultiStatement
	var out []effect
	for _, inner := range e.text.effects {
		inner.whether = inner.whether || e.whether
		out = append(out, inner)
	}
	return out
}

func runsText(e effect) bool { return e.kind == effectExecute }

// unescape undoes the quoting of a string literal.
func unescape(t sqlscan.Token, mode sqlscan.Mode) []byte {
	text := []byte(t.Ident())
	if mode&sqlscan.NoBackslashEscapes != 0 || bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	// Doubled quotes are undone, but \'' was none of them: the quote behind the backslash is the escaped one.
	text = t.Text
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == t.Quote && i+1 < len(text) && text[i+1] == t.Quote:
			i++
			out = append(out, c)
		case c == '\\' && i+1 < len(text):
			i++
			out = append(out, escaped(text[i])...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// escaped is what a backslash and c stand for.
func escaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'b':
		return "\b"
	case '0':
		return "\x00"
	case 'Z':
		return "\x1a"
	case '%', '_':
		return `\` + string(c)
	}
	return string(c)
}
