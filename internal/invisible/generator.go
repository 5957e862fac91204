package invisible

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Generator draws cases. The same seed draws the same cases.
type Generator struct {
	rng   *rand.Rand
	off   excluded
	moves []move
	total int
}

// move is a few commands of one client that belong together.
type move struct {
	weight int
	needs  string // the exclusions, separated by spaces, that leave it out
	turns  bool   // only where clients take turns: it would touch what others have
	// routine is a call of a procedure or function of schema lib.
	routine bool
	write   func(a *author) []Op
}

// NewGenerator draws from the whole grammar, less the exclusions that are not named in on.
func NewGenerator(seed uint64, on ...string) (*Generator, error) {
	off, err := without(on)
	if err != nil {
		return nil, err
	}
	g := &Generator{rng: rand.New(rand.NewPCG(seed, 0)), off: off}
	for _, area := range [][]move{ordinaryMoves, stateMoves, transactionMoves, lastMoves, heldMoves, preparedMoves, protocolMoves, routineMoves, errorMoves} {
		for _, m := range area {
			if !off.any(m.needs) {
				g.moves = append(g.moves, m)
				g.total += m.weight
			}
		}
	}
	return g, nil
}

// Draw draws a case of up to the given number of steps.
func (g *Generator) Draw(mode Mode, steps int) Case {
	c := Case{Mode: mode}
	clients := 2 + g.rng.IntN(3)
	if mode == Free || g.rng.IntN(5) == 0 {
		clients = min(4+g.rng.IntN(5), 1+steps/3)
	}
	foundRows := g.rng.IntN(4) == 0 // of one kind, so that they share connections; see the mixed ones
	mixed := g.rng.IntN(6) == 0
	multi := g.rng.IntN(2) == 0
	authors := make([]*author, clients)
	for i := range authors {
		l := g.login(foundRows, mixed)
		if g.off.any("multioption") {
			l.Multi = multi
		}
		c.Logins = append(c.Logins, l)
		authors[i] = &author{rng: g.rng, off: g.off, client: i, mode: mode, login: l}
	}
	for at := 0; len(c.Steps) < steps; {
		// A client often goes on for a while, as applications do; in between, anybody.
		if g.rng.IntN(2) == 0 {
			at = g.rng.IntN(clients)
		}
		a := authors[at]
		if len(a.pending) == 0 {
			a.pending = g.move(a).write(a)
		}
		n := min(len(a.pending), 1+g.rng.IntN(3))
		for _, op := range a.pending[:n] {
			c.Steps = append(c.Steps, Step{at, op})
		}
		a.pending = a.pending[n:]
	}
	return c
}

// login draws a client. Without mixed, all are of one kind of backend connection.
func (g *Generator) login(foundRows, mixed bool) Login {
	l := Login{Schema: schemaOne, Collation: 45, FoundRows: foundRows, Multi: g.rng.IntN(2) == 0, Track: g.rng.IntN(4) == 0}
	if g.rng.IntN(3) == 0 {
		l.Collation = []byte{8, 33, 63, 46, 224}[g.rng.IntN(g.collations())]
	}
	if mixed {
		l.FoundRows = g.rng.IntN(2) == 0
		if g.rng.IntN(3) == 0 {
			l.Schema = ""
		}
	}
	return l
}

// collations is how many of those in login may be drawn: the last are not their character set's own.
func (g *Generator) collations() int {
	if g.off.any("resultcollation") {
		return 3
	}
	return 5
}

func (g *Generator) move(a *author) move {
	for {
		n := g.rng.IntN(g.total)
		i := slices.IndexFunc(g.moves, func(m move) bool { n -= m.weight; return n < 0 })
		switch m := g.moves[i]; {
		case m.turns && a.mode == Free:
		case m.routine && a.login.Track && g.off.any("trackedroutine"):
		default:
			return m
		}
	}
}

// author writes one client's commands.
type author struct {
	rng     *rand.Rand
	off     excluded
	client  int
	mode    Mode
	login   Login
	pending []Op
	slots   int
}

func (a *author) chance(percent int) bool { return a.rng.IntN(100) < percent }

func (a *author) pick(texts ...string) string { return texts[a.rng.IntN(len(texts))] }

// id is one of the few keys that clients meet on.
func (a *author) id() int { return 1 + a.rng.IntN(6) }

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

// own makes a server-wide name the client's where clients run at once.
func (a *author) own(name string) string {
	if a.mode == Free {
		return fmt.Sprintf("%s_%d", name, a.client)
	}
	return name
}

func (a *author) slot() string {
	a.slots++
	return fmt.Sprintf("p%d", a.slots)
}

// query is a statement as text.
func (a *author) query(format string, args ...any) Op {
	return Op{Verb: Query, Text: a.tag(fmt.Sprintf(format, args...))}
}

// say is a statement as text or, now and then, prepared and executed.
func (a *author) say(format string, args ...any) []Op {
	text := fmt.Sprintf(format, args...)
	if a.chance(80) {
		return []Op{{Verb: Query, Text: a.tag(text)}}
	}
	return a.bind(text)
}

// prepared is a text to prepare.
func (a *author) prepared(text string) string {
	if a.off.any("preparedcontext") { // no two have the same text
		text += fmt.Sprintf(" /* %d.%d */", a.client, a.slots)
	}
	return a.tag(text)
}

// bind prepares and executes a statement with parameters, and closes it more often than not.
func (a *author) bind(text string, params ...Param) []Op {
	slot := a.slot()
	ops := []Op{{Verb: Prepare, Slot: slot, Text: a.prepared(text)}, {Verb: Execute, Slot: slot, Params: params}}
	if a.chance(60) {
		ops = append(ops, Op{Verb: Close, Slot: slot})
	}
	return ops
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

// all joins what several moves say.
func all(parts ...[]Op) []Op { return slices.Concat(parts...) }

func integer(n int) Param { return Param{Int, fmt.Sprint(n)} }

func text(s string) Param { return Param{String, s} }
