package invisible

import (
	"errors"
	"slices"

	"github.com/conntag/conntag/proxy"
)

// overstay is how many more steps a client may do on a connection that others wait for, before it is made to let go.
const overstay = 6

// letGo is what makes a client let go of its connection, the mildest first.
var letGo = []Op{{Verb: Query, Text: "ROLLBACK"}, {Verb: Query, Text: "UNLOCK TABLES"}, {Verb: ResetConn}}

// push is the next thing to make a client let go.
func (t *turns) push() Op {
	op := letGo[min(t.pushed, len(letGo)-1)]
	t.pushed++
	if op.Verb == ResetConn && t.stage.excluded.any("resetinsertid") {
		op.Verb = Reconnect
	}
	return op
}

// turns plays a case one step after another. Who may move follows from who holds a connection at the moment, so that no
// client ever waits for another.
type turns struct {
	stage  *Stage
	middle Middle
	mode   Mode
	pairs  []pair
	noise  *noise // nil in S1
	queue  []Step
	played []Step
	holds  []hold
	last   int // the client that moved last; -1: none
	stayed int // steps done by holders while others waited
	pushed int // how often a holder was told to let go
	counts Counts
}

// hold is how a client stands to the backend connections.
type hold struct {
	now, pinned bool
	since       int    // number of the step that began it
	backend     uint32 // the connection it used last, where that is known
}

func playTurns(s *Stage, m Middle, c Case) (r Result, err error) {
	t := &turns{stage: s, middle: m, mode: c.Mode, queue: slices.Clone(c.Steps), holds: make([]hold, len(c.Logins)), last: -1}
	defer func() {
		t.counts.Pins = pinsIn(m.Snapshot())
		t.counts.Sequences, t.counts.Statements = 1, len(t.played)
		r.Counts, r.Played = t.counts, c
		r.Played.Steps = t.played
	}()
	if c.Mode == S2 {
		if t.noise, err = newNoise(m, c); err != nil {
			return r, err
		}
		defer t.noise.close()
	}
	t.pairs, r.Difference, err = connectAll(s, m, c)
	if err == nil && r.Difference == nil {
		r.Difference, err = t.play()
	}
	closeAll(t.pairs)
	return r, err
}

func (t *turns) play() (*Difference, error) {
	if err := t.observe(); err != nil {
		return nil, err
	}
	for {
		step, ok := t.next()
		if !ok {
			return nil, nil
		}
		var noise *noiseError
		if err := t.clear(step.Client); errors.As(err, &noise) {
			d := noise.difference()
			d.At = len(t.played) - 1
			return d, nil
		} else if err != nil {
			return nil, err
		}
		t.begin(step)
		d, err := t.do(step)
		if err != nil {
			return nil, err
		}
		t.played = append(t.played, step)
		t.last = step.Client
		if d != nil {
			d.Step, d.At = step, len(t.played)-1
			return d, nil
		}
		if step.Op.Verb.silent() {
			continue // only its next answer will tell that the command was read
		}
		if err := t.observe(); err != nil {
			return nil, err
		}
	}
}

func (t *turns) do(s Step) (*Difference, error) {
	p := &t.pairs[s.Client]
	if s.Op.Verb == Reconnect {
		return p.reconnect(t.stage, t.middle)
	}
	return p.do(s.Op), nil
}

// next takes the next step: the first of a client that can move. A silent command is followed by one of the same client.
func (t *turns) next() (Step, bool) {
	if t.afterSilence() {
		return t.nextOf(t.last, Op{Verb: Ping}), true
	}
	if len(t.queue) == 0 {
		return Step{}, false
	}
	first := t.queue[0].Client
	if t.mayMove(first) {
		t.stayed, t.pushed = 0, 0
		return t.take(0), true
	}
	holder := t.longestHolder()
	if t.stayed++; t.stayed <= overstay {
		for i, s := range t.queue {
			if t.holds[s.Client].now {
				return t.take(i), true
			}
		}
	}
	return Step{holder, t.push()}, true
}

// afterSilence says that nobody knows yet what the last command did.
func (t *turns) afterSilence() bool {
	n := len(t.played)
	return n > 0 && t.played[n-1].Op.Verb.silent()
}

func (t *turns) take(i int) Step {
	s := t.queue[i]
	t.queue = slices.Delete(t.queue, i, i+1)
	return s
}

// nextOf takes a client's next step, or makes one of otherwise.
func (t *turns) nextOf(client int, otherwise Op) Step {
	if i := slices.IndexFunc(t.queue, func(s Step) bool { return s.Client == client }); i >= 0 {
		return t.take(i)
	}
	return Step{client, otherwise}
}

func (t *turns) mayMove(client int) bool {
	holding := 0
	for _, h := range t.holds {
		if h.now {
			holding++
		}
	}
	return t.holds[client].now || holding < t.mode.pool()
}

func (t *turns) longestHolder() int {
	longest := -1
	for i, h := range t.holds {
		if h.now && (longest < 0 || h.since < t.holds[longest].since) {
			longest = i
		}
	}
	return longest
}

// clear makes sure that the client finds a connection, in S2 another one than its last.
func (t *turns) clear(client int) error {
	h := &t.holds[client]
	if t.noise == nil || h.now || t.afterSilence() {
		return nil
	}
	backend, err := t.noise.offer(h.backend, len(t.played))
	if err != nil {
		return err
	}
	if h.backend != 0 && backend != h.backend {
		t.counts.Switches++
	}
	h.backend = backend
	return nil
}

// begin counts a hold that this step begins.
func (t *turns) begin(s Step) {
	h := &t.holds[s.Client]
	if h.now || s.Op.Verb.atRest() {
		return
	}
	t.counts.Holds++
	h.since, h.pinned = len(t.played), false
	if t.last >= 0 && t.last != s.Client && t.mode == S1 {
		t.counts.Takeovers++
	}
}

// observe looks who holds a connection now that all are at rest.
func (t *turns) observe() error {
	sessions, err := settled(t.middle)
	if err != nil {
		return err
	}
	for i, p := range t.pairs {
		h := &t.holds[i]
		at := slices.IndexFunc(sessions, func(s proxy.SessionInfo) bool { return s.ID == p.proxied.id })
		h.now = at >= 0 && sessions[at].BackendID != 0
		if h.now && len(sessions[at].PinReasons) > 0 && !h.pinned {
			h.pinned = true
			t.counts.PinnedHolds++
		}
	}
	if t.pushed > len(letGo)+1 {
		return errStuck
	}
	return nil
}

var errStuck = errors.New("a client holds its connection even after a reset")
