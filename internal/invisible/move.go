package invisible

import (
	"fmt"
	"strings"
)

// move is a few commands of one client that belong together.
type move struct {
	weight int
	needs  string // the exclusions, separated by spaces, that leave it out
	turns  bool   // only where clients take turns: it would touch what others have
	lib    bool   // calls a routine of schema lib
	write  func(a *author) []Op
}

// line is one command of a script: one of several texts.
type line []string

// say is a move of one statement, which is one of the texts; as text or, now and then, prepared. See author.fill for what
// is written in braces. No text may leave the order of its rows, or what it shows, to the optimizer: two servers with the
// same data need not choose the same.
func say(weight int, texts ...string) move { return script(weight, texts) }

// script is a move of several statements, one after another.
func script(weight int, lines ...line) move {
	return move{weight: weight, write: func(a *author) (ops []Op) {
		for _, texts := range lines {
			ops = append(ops, a.say(a.pick(texts...))...)
		}
		return ops
	}}
}

// raw is a move of one statement that is only sent as text, and as it is.
func raw(weight int, texts ...string) move {
	return move{weight: weight, write: func(a *author) []Op { return []Op{{Verb: Query, Text: a.fill(a.pick(texts...))}} }}
}

// commands is a move of commands that the function writes.
func commands(weight int, write func(a *author) []Op) move { return move{weight: weight, write: write} }

func (m move) unless(exclusions string) move { m.needs = exclusions; return m }

func (m move) inTurns() move { m.turns = true; return m }

func (m move) calls() move { m.lib = true; return m }

// fill replaces what stands in braces: {id} is one of the few keys that clients meet on, {home} the client's schema,
// {other} one that it may look at, {x} the same of two digits throughout a move, and {me} makes a server-wide name the
// client's own where clients run at once.
func (a *author) fill(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		var name string
		name, text, _ = strings.Cut(rest, "}")
		b.WriteString(a.value(name))
	}
}

func (a *author) value(name string) string {
	switch name {
	case "id":
		return fmt.Sprint(1 + a.rng.IntN(6))
	case "home":
		return a.home()
	case "other":
		return a.other()
	case "x":
		return fmt.Sprint(a.digit)
	case "me":
		if a.mode == Free {
			return fmt.Sprintf("_%d", a.client)
		}
		return ""
	}
	panic("invisible: a text has {" + name + "} in it")
}
