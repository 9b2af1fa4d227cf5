package diff

import (
	"fmt"
	"strings"
)

// hunk is a group of neighbouring changes with the lines around them.
type hunk struct {
	before, after int // unchanged lines shown
	changes       []change
}

// hunks groups changes whose context overlaps.
func hunks(all []change, oldLines int) (out []hunk) {
	for i, c := range all {
		if i > 0 && c.oldFrom-all[i-1].oldTo <= 2*context {
			last := &out[len(out)-1]
			last.changes = append(last.changes, c)
		} else {
			out = append(out, hunk{before: min(context, c.oldFrom), changes: []change{c}})
		}
		out[len(out)-1].after = min(context, oldLines-c.oldTo)
	}
	return out
}

func (h hunk) write(out *strings.Builder, a, b []string) {
	first, last := h.changes[0], h.changes[len(h.changes)-1]
	oldFrom, newFrom := first.oldFrom-h.before, first.newFrom-h.before
	oldTo, newTo := last.oldTo+h.after, last.newTo+h.after
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(oldFrom, oldTo), span(newFrom, newTo))
	at := oldFrom
	for _, c := range h.changes {
		lines(out, " ", a[at:c.oldFrom])
		lines(out, "-", a[c.oldFrom:c.oldTo])
		lines(out, "+", b[c.newFrom:c.newTo])
		at = c.oldTo
	}
	lines(out, " ", a[at:oldTo])
}

// span formats a range of lines as patch expects it: lines count from 1, and an empty range names the line before it.
func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func lines(out *strings.Builder, sign string, list []string) {
	for _, line := range list {
		out.WriteString(sign + line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
