package demo

import (
	"fmt"
	"io"
	"strings"
)

// printEvery looks a frame is printed below the last one; on a terminal each look is drawn in its place.
const printEvery = 5

// screen shows frames. The zero screen shows none.
type screen struct {
	w        io.Writer
	terminal bool
	lines    int // of the last frame
}

// due tells whether the frame of a look, counted from 1, is to be shown.
func (s *screen) due(look int) bool { return s.terminal || look%printEvery == 0 }

// draw shows a frame: in place of the last one on a terminal, else below it.
func (s *screen) draw(frame string) error {
	if s.w == nil {
		return nil
	}
	last := s.lines
	s.lines = strings.Count(frame, "\n")
	if !s.terminal {
		if last > 0 {
			frame = "\n" + frame
		}
		_, err := io.WriteString(s.w, frame)
		return err
	}
	var b strings.Builder
	b.WriteString("\x1b[?7l") // no line wrap: in a narrow window a line still takes one line
	if last > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", last)
	}
	b.WriteString(strings.ReplaceAll(frame, "\n", "\x1b[K\n"))
	b.WriteString("\x1b[J\x1b[?7h")
	_, err := io.WriteString(s.w, b.String()) // in one piece, so that a kill cannot leave wrapping off
	return err
}
