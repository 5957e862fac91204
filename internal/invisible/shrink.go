package invisible

import "slices"

// plays bounds the work of one shrinking.
const plays = 400

// shrinker makes a failing case small: it keeps a smaller case whenever that still fails in the same way.
type shrinker struct {
	stage *Stage
	best  Case
	d     *Difference
	plays int
}

// Shrink returns the smallest case it finds that shows a difference like d, and its difference. c is what was played
// when d was found.
func (s *Stage) Shrink(c Case, d *Difference) (Case, *Difference, error) {
	sh := &shrinker{stage: s, best: c, d: d, plays: plays}
	cut := c
	if d.At+1 < len(c.Steps) {
		cut.Steps = c.Steps[:d.At+1]
	}
	if _, err := sh.try(cut); err != nil {
		return c, d, err
	}
	for before := -1; before != sh.size() && sh.plays > 0; {
		before = sh.size()
		for _, reduce := range []func() error{sh.dropClients, sh.dropSteps, sh.plainLogins} {
			if err := reduce(); err != nil {
				return sh.best, sh.d, err
			}
		}
	}
	return sh.best, sh.d, nil
}

func (sh *shrinker) size() int { return 100*len(sh.best.Steps) + len(sh.best.Logins) }

// try plays a candidate and keeps it if it fails in the same way.
func (sh *shrinker) try(c Case) (bool, error) {
	if sh.plays--; sh.plays < 0 {
		return false, nil
	}
	r, err := sh.stage.Play(c)
	if err != nil || r.Difference == nil || r.Difference.Kind() != sh.d.Kind() {
		return false, err
	}
	if len(r.Played.Steps) <= len(sh.best.Steps) { // making clients let go may have cost more than was saved
		c.Steps = r.Played.Steps
	}
	sh.best, sh.d = c, r.Difference
	return true, nil
}

func (sh *shrinker) dropClients() error {
	for i := len(sh.best.Logins) - 1; i >= 0 && len(sh.best.Logins) > 1; i-- {
		if _, err := sh.try(sh.best.without(i)); err != nil {
			return err
		}
	}
	return nil
}

// without leaves a client and its steps out; those behind it move up.
func (c Case) without(client int) Case {
	c.Logins = slices.Delete(slices.Clone(c.Logins), client, client+1)
	var steps []Step
	for _, s := range c.Steps {
		if s.Client == client {
			continue
		}
		if s.Client > client {
			s.Client--
		}
		steps = append(steps, s)
	}
	c.Steps = steps
	return c
}

// dropSteps leaves out chunks of steps, half of them first, single ones last. The last step is the one that shows it.
func (sh *shrinker) dropSteps() error {
	for size := len(sh.best.Steps) / 2; size >= 1; size /= 2 {
		for at := len(sh.best.Steps) - size; at >= 0; at -= size {
			if at+size > len(sh.best.Steps) {
				continue
			}
			c := sh.best
			c.Steps = slices.Delete(slices.Clone(c.Steps), at, at+size)
			if _, err := sh.try(c); err != nil || sh.plays < 0 {
				return err
			}
		}
	}
	return nil
}

// plainLogins takes away what a client need not ask for.
func (sh *shrinker) plainLogins() error {
	for i := range sh.best.Logins {
		plain := Login{Schema: schemaOne, Collation: 45}
		for _, l := range []Login{plain, {Schema: plain.Schema, Collation: plain.Collation, Multi: sh.best.Logins[i].Multi}} {
			if sh.best.Logins[i] == plain {
				break
			}
			c := sh.best
			c.Logins = slices.Clone(c.Logins)
			c.Logins[i] = l
			if _, err := sh.try(c); err != nil {
				return err
			}
		}
	}
	return nil
}
