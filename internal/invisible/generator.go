package invisible

import (
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

// areas are the grammar.
var areas = [][]move{ordinaryMoves, variableMoves, schemaMoves, userVariableMoves, transactionMoves, lastMoves, heldMoves, preparedMoves,
	protocolMoves, routineMoves, mistakeMoves}

// NewGenerator draws from the whole grammar, less the exclusions that are not named in on.
func NewGenerator(seed uint64, on ...string) (*Generator, error) {
	off, err := without(on)
	if err != nil {
		return nil, err
	}
	g := &Generator{rng: rand.New(rand.NewPCG(seed, 0)), off: off}
	for _, area := range areas {
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
	tracks := g.rng.IntN(2) == 0
	authors := make([]*author, clients)
	for i := range authors {
		c.Logins = append(c.Logins, g.login(foundRows, mixed, tracks))
		authors[i] = &author{rng: g.rng, off: g.off, client: i, mode: mode}
	}
	for _, a := range authors {
		a.tracked = slices.ContainsFunc(c.Logins, func(l Login) bool { return l.Track })
	}
	for at := 0; len(c.Steps) < steps; {
		// A client often goes on for a while, as applications do; in between, anybody.
		if g.rng.IntN(2) == 0 {
			at = g.rng.IntN(clients)
		}
		a := authors[at]
		if len(a.pending) == 0 {
			a.digit = 1 + g.rng.IntN(2)
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
func (g *Generator) login(foundRows, mixed, tracks bool) Login {
	l := Login{Schema: schemaOne, Collation: 45, FoundRows: foundRows, Multi: g.rng.IntN(2) == 0, Track: tracks && g.rng.IntN(2) == 0}
	if g.rng.IntN(3) == 0 {
		l.Collation = []byte{8, 33, 63, 46, 224}[g.rng.IntN(5)]
	}
	if mixed {
		l.FoundRows = g.rng.IntN(2) == 0
		if g.rng.IntN(3) == 0 {
			l.Schema = ""
		}
	}
	return l
}

func (g *Generator) move(a *author) move {
	for {
		n := g.rng.IntN(g.total)
		i := slices.IndexFunc(g.moves, func(m move) bool { n -= m.weight; return n < 0 })
		switch m := g.moves[i]; {
		case m.turns && a.mode == Free:
		case m.lib && a.tracked && g.off.any("trackedroutine"):
		default:
			return m
		}
	}
}
