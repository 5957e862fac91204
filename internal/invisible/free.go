package invisible

import "sync"

// playFree runs every client on its own goroutine. What they do to each other is only to compete for connections, so
// each must be told what it would be told alone.
func playFree(s *Stage, m Middle, c Case) (r Result, err error) {
	r.Played = c
	pairs, d, err := connectAll(s, m, c)
	if err != nil || d != nil {
		closeAll(pairs)
		r.Difference = d
		return r, err
	}
	var (
		mu    sync.Mutex // guards the result
		group sync.WaitGroup
	)
	for i, p := range pairs {
		group.Go(func() {
			statements, d := p.run(i, c.Steps)
			p.close() // what it still holds goes to those who wait
			mu.Lock()
			defer mu.Unlock()
			r.Counts.Statements += statements
			if d != nil && (r.Difference == nil || d.At < r.Difference.At) {
				r.Difference = d
			}
		})
	}
	group.Wait()
	r.Counts.Sequences, r.Counts.Pins = 1, pinsIn(m.Snapshot())
	return r, nil
}

// run does one client's steps up to the first difference.
func (p pair) run(client int, steps []Step) (done int, d *Difference) {
	for at, step := range steps {
		if step.Client != client {
			continue
		}
		done++
		if d := p.do(step.Op); d != nil {
			d.Step, d.At = step, at
			return done, d
		}
	}
	return done, nil
}
