// Package diff computes the difference of two texts, line by line, in the unified format that people and patch read.
package diff

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// context is how many lines around a change are shown.
	context = 3
	// editsMax bounds the search for the shortest edit script: with more changed lines, all lines between the first
	// change and the last are shown as replaced.
	editsMax = 1000
)

// Unified returns the difference from old to new under the given names, or "" if they are equal.
func Unified(oldName, newName, old, new string) string {
	if old == new {
		return ""
	}
	a, b := split(old), split(new)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range hunks(changes(a, b), len(a)) {
		h.write(&out, a, b)
	}
	return out.String()
}

// split splits a text after each line break. Text after the last one is a line too, unless it is empty.
func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// change replaces a range of lines of the old text by a range of lines of the new one.
type change struct{ oldFrom, oldTo, newFrom, newTo int }

// changes returns the changes that turn a into b.
func changes(a, b []string) []change {
	x, y := lineNumbers(a, b)
	start := 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		start++
	}
	end := 0
	for end < len(x)-start && end < len(y)-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	middle := shortest(x[start:len(x)-end], y[start:len(y)-end])
	for i := range middle {
		c := &middle[i]
		*c = change{c.oldFrom + start, c.oldTo + start, c.newFrom + start, c.newTo + start}
	}
	return middle
}

// lineNumbers maps equal lines to equal numbers, so that texts are compared only once.
func lineNumbers(a, b []string) (x, y []int) {
	known := map[string]int{}
	number := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, line := range lines {
			n, there := known[line]
			if !there {
				n = len(known)
				known[line] = n
			}
			out[i] = n
		}
		return out
	}
	return number(a), number(b)
}

// shortest is Myers' greedy search: how far each diagonal is reached with d edits, for d = 0, 1, 2 and so on.
func shortest(x, y []int) []change {
	most := min(len(x)+len(y), editsMax)
	reached := make([]int, 2*most+3) // by diagonal, most+1 being the main one
	at := func(k int) *int { return &reached[k+most+1] }
	var before [][]int
	for d := 0; d <= most; d++ {
		before = append(before, slices.Clone(reached[most+1-d-1:most+1+d+2]))
		for k := -d; k <= d; k += 2 {
			i := *at(k - 1) + 1
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				i = *at(k + 1)
			}
			j := i - k
			for i < len(x) && j >= 0 && j < len(y) && x[i] == y[j] {
				i, j = i+1, j+1
			}
			*at(k) = i
			if i >= len(x) && j >= len(y) {
				return trace(before, len(x), len(y))
			}
		}
	}
	return []change{{0, len(x), 0, len(y)}}
}

// trace follows the edit script back to its start and merges its edits into changes.
func trace(before [][]int, i, j int) (out []change) {
	for d := len(before) - 1; d > 0; d-- {
		at := func(k int) int { return before[d][k+d+1] }
		k := i - j
		down := k == -d || k != d && at(k-1) < at(k+1)
		fromI := at(k - 1)
		if down {
			fromI = at(k + 1)
		}
		fromJ := fromI - (k - 1)
		c := change{fromI, fromI + 1, fromJ, fromJ}
		if down {
			fromJ = fromI - (k + 1)
			c = change{fromI, fromI, fromJ, fromJ + 1}
		}
		if n := len(out); n > 0 && out[n-1].oldFrom == c.oldTo && out[n-1].newFrom == c.newTo {
			out[n-1].oldFrom, out[n-1].newFrom = c.oldFrom, c.newFrom
		} else {
			out = append(out, c)
		}
		i, j = fromI, fromJ
	}
	slices.Reverse(out)
	return out
}
