package invisible

import (
	"fmt"
)

// pair is one client twice: on a connection of its own, and through what is judged.
type pair struct {
	direct, proxied *client
}

// connect logs a client in on both sides. The login itself must look the same, too.
func connect(directAddr, proxiedAddr string, l Login) (p pair, d *Difference, err error) {
	var direct, proxied Answer
	err = both(
		func() (err error) { p.direct, direct, err = dial(directAddr, l); return err },
		func() (err error) { p.proxied, proxied, err = dial(proxiedAddr, l); return err },
	)
	if err != nil {
		p.close()
		return pair{}, nil, fmt.Errorf("log in: %w", err)
	}
	return p, compare(direct, proxied), nil
}

// do sends the same command on both sides at once and compares the answers.
func (p pair) do(op Op) *Difference {
	var direct, proxied Answer
	_ = both(
		func() error { direct = p.direct.do(op); return nil },
		func() error { proxied = p.proxied.do(op); return nil },
	)
	return compare(direct, proxied)
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
		p, d, err := connect(s.direct.Addr(), m.Addr(), l)
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
