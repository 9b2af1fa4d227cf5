package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// bar shows the progress of long work: as a bar on a terminal, otherwise as a line for every tenth if lines are wanted.
type bar struct {
	terminal io.Writer // nil without a terminal
	lines    io.Writer // nil without a line for every tenth
	what     string
	last     int64 // the percentage shown last, or -1
}

// bar returns a bar that is shown on a terminal only.
func (s *settings) bar(what string) *bar {
	b := &bar{what: what, last: -1}
	if f, ok := s.err.(*os.File); ok && isTerminal(f) {
		b.terminal = f
	}
	return b
}

// barOrLines returns a bar that prints a line for every tenth where there is no terminal, for work that takes minutes.
func (s *settings) barOrLines(what string) *bar {
	b := s.bar(what)
	if b.terminal == nil {
		b.lines, b.last = s.err, 0
	}
	return b
}

// show updates the bar whenever the percentage changes.
func (b *bar) show(done, total int64) {
	const width = 40
	percent := 100 * done / max(total, 1)
	switch {
	case b.terminal != nil && percent != b.last:
		b.last = percent
		full := int(percent) * width / 100
		fmt.Fprintf(b.terminal, "\r[%s%s] %3d%% %s", strings.Repeat("#", full), strings.Repeat(".", width-full), percent, b.what)
	case b.lines != nil && percent/10 > b.last/10 && percent < 100:
		b.last = percent
		fmt.Fprintf(b.lines, "%d%% %s\n", percent/10*10, b.what)
	}
}

// end moves to the next line, whether the bar is full or not.
func (b *bar) end() {
	if b.terminal != nil && b.last >= 0 {
		fmt.Fprintln(b.terminal)
	}
}

// interrupted explains what it means that the user interrupted a command. Other errors are returned as they are.
func interrupted(err error, consequence string) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: %s", consequence)
	}
	return err
}
