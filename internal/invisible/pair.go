package invisible

import (
	"fmt"
)

// pair is one client twice: on a connection of its own, and through what is judged.
type pair struct {
	direct, proxied *client
	excluded        excluded
}

// connect logs a client in on both sides. The login itself must look the same, too.
func connect(s *Stage, m Middle, l Login) (p pair, d *Difference, err error) {
	p.excluded = s.excluded
	var direct, proxied Answer
	err = both(
		func() (err error) { p.direct, direct, err = dial(s.direct.Addr(), l); return err },
		func() (err error) { p.proxied, proxied, err = dial(m.Addr(), l); return err },
	)
	if err != nil {
		p.close()
		return pair{}, nil, fmt.Errorf("log in: %w", err)
	}
	return p, p.compare(direct, proxied), nil
}

// do sends the same command on both sides at once and compares the answers.
func (p pair) do(op Op) *Difference {
	var direct, proxied Answer
	_ = both(
		func() error { direct = p.direct.do(op); return nil },
		func() error { proxied = p.proxied.do(op); return nil },
	)
	return p.compare(direct, proxied)
}

// reconnect says goodbye on both sides and logs in anew, once nothing is left of the sessions that ended: a server frees
// what they held only after it has closed their connections.
func (p *pair) reconnect(s *Stage, m Middle) (*Difference, error) {
	l := p.direct.login
	p.close()
	err := both(
		func() error { return s.direct.awaitEnd(p.direct.id) },
		func() error { return awaitEnd(m, p.proxied.id) },
	)
	if err != nil {
		return nil, err
	}
	again, d, err := connect(s, m, l)
	if err == nil {
		*p = again
	}
	return d, err
}

func (p pair) compare(direct, proxied Answer) *Difference {
	return compare(p.excluded.blank(direct), p.excluded.blank(proxied))
}

func (p pair) close() {
	for _, c := range []*client{p.direct, p.proxied} {
		if c != nil {
			c.close()
		}
	}
}

// connectAll logs all clients of a case in; after a difference the rest is left out.
func connectAll(s *Stage, m Middle, c Case) (pairs []pair, d *Difference, err error) {
	for i, l := range c.Logins {
		if c.Mode == Free && l.Schema == schemaOne {
			l.Schema = ownSchema(i)
		}
		p, d, err := connect(s, m, l)
		if err != nil {
			return pairs, nil, err
		}
		pairs = append(pairs, p)
		if d != nil {
			d.Step = Step{Client: i, Op: Op{Verb: "login"}}
			return pairs, d, nil
		}
	}
	return pairs, nil, nil
}

func closeAll(pairs []pair) {
	for _, p := range pairs {
		p.close()
	}
}
