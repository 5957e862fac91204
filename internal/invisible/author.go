package invisible

import (
	"fmt"
	"math/rand/v2"
)

// author writes one client's commands.
type author struct {
	rng     *rand.Rand
	off     excluded
	client  int
	mode    Mode
	tracked bool // one of the clients hears of session state
	pending []Op
	slots   int
	digit   int // {x} of the move at hand
}

func (a *author) chance(percent int) bool { return a.rng.IntN(100) < percent }

func (a *author) pick(texts ...string) string { return texts[a.rng.IntN(len(texts))] }

// home is the client's schema, other one that it may look at.
func (a *author) home() string {
	if a.mode == Free {
		return ownSchema(a.client)
	}
	return schemaOne
}

func (a *author) other() string {
	if a.mode == Free {
		return schemaLib
	}
	return schemaTwo
}

func (a *author) slot() string {
	a.slots++
	return fmt.Sprintf("p%d", a.slots)
}

// query is a statement as text.
func (a *author) query(text string) Op { return Op{Verb: Query, Text: a.tag(a.fill(text))} }

// say is a statement as text or, now and then, prepared and executed.
func (a *author) say(text string) []Op {
	if a.chance(80) {
		return []Op{a.query(text)}
	}
	return a.bind(text)
}

// bind prepares and executes a statement with parameters, and closes it more often than not.
func (a *author) bind(text string, params ...Param) []Op {
	slot := a.slot()
	ops := []Op{a.prepare(slot, text), {Verb: Execute, Slot: slot, Params: params}}
	if a.chance(60) {
		ops = append(ops, Op{Verb: Close, Slot: slot})
	}
	return ops
}

func (a *author) prepare(slot, text string) Op {
	return Op{Verb: Prepare, Slot: slot, Text: a.tag(a.fill(text))}
}

// tag puts a tag in front of a text, into it, behind it, or nowhere.
func (a *author) tag(text string) string {
	tag := fmt.Sprintf("/* conn_tag:client_%d */", a.client)
	switch a.rng.IntN(8) {
	case 0:
		return tag + " " + text
	case 1:
		return fmt.Sprintf("-- conn_tag:client_%d\n%s", a.client, text)
	case 2:
		return text + " " + tag
	case 3:
		for i := range len(text) {
			if text[i] == ' ' {
				return text[:i] + " " + tag + text[i:]
			}
		}
	}
	return text
}

// key is one of the few keys that clients meet on.
func (a *author) key() Param { return integer(1 + a.rng.IntN(6)) }

func integer(n int) Param { return Param{Int, fmt.Sprint(n)} }

func text(s string) Param { return Param{String, s} }
