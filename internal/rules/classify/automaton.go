package classify

import (
	"bytes"
	"math/bits"
)

// denseMax is how many transitions are kept in the dense table: those of the states near the root, which are visited most.
const denseMax = 1 << 16

// automaton finds all occurring patterns in one pass over a text (Aho-Corasick). States are numbered breadth first, so that
// the children of a state are contiguous and sorted by label, and states visited often are close in memory. State 0 is the
// root; pattern 0 means none.
type automaton struct {
	class       [256]uint8 // of each byte; bytes that occur in no pattern have class 0
	shift       int        // log2 of the length of a row
	dense       []uint32   // by state and class, the next state
	denseStates uint32     // states from this number on have no row

	first []uint32 // by state, its first child; its last one precedes the first child of the next state
	label []byte   // by state, the byte that leads to it
	fail  []uint32 // by state, the state of its longest proper suffix
	ends  []uint32 // by state, the longest pattern that ends with it

	shorter []uint32 // by pattern, the longest other pattern that is its suffix
}

// span is a state under construction: the patterns from lo to hi have their first bytes, as many as depth, in common.
type span struct{ lo, hi, depth int }

// newAutomaton returns an automaton for sorted, distinct, non-empty patterns. Pattern n is patterns[n-1].
func newAutomaton(patterns []string) *automaton {
	a := &automaton{label: []byte{0}, shorter: make([]uint32, len(patterns)+1)}
	var own []uint32 // by state, the pattern that it is
	states := []span{{0, len(patterns), 0}}
	for i := 0; i < len(states); i++ {
		s := states[i]
		own = append(own, 0)
		if s.lo < s.hi && len(patterns[s.lo]) == s.depth {
			s.lo++
			own[i] = uint32(s.lo)
		}
		a.first = append(a.first, uint32(len(states)))
		for s.lo < s.hi {
			c, end := patterns[s.lo][s.depth], s.lo+1
			for end < s.hi && patterns[end][s.depth] == c {
				end++
			}
			states = append(states, span{s.lo, end, s.depth + 1})
			a.label = append(a.label, c)
			s.lo = end
		}
	}
	a.first = append(a.first, uint32(len(states)))
	a.classify()
	a.link(own)
	return a
}

// classify numbers the bytes that occur and decides which states have a row in the dense table.
func (a *automaton) classify() {
	var occurs [256]bool
	for _, c := range a.label[1:] {
		occurs[c] = true
	}
	classes := 1
	for c, yes := range occurs {
		if yes {
			a.class[c] = uint8(classes) // text has no byte 0xFF, so that there are never more than 256
			classes++
		}
	}
	a.shift = bits.Len(uint(classes - 1))
	a.denseStates = uint32(min(len(a.label), max(1, denseMax>>a.shift)))
	a.dense = make([]uint32, int(a.denseStates)<<a.shift)
}

// link computes the fail state of each state. A fail state is shorter, so it has been linked before.
func (a *automaton) link(own []uint32) {
	a.fail, a.ends = make([]uint32, len(a.label)), own
	for s := range uint32(len(a.label)) {
		if p := a.ends[s]; p == 0 {
			a.ends[s] = a.ends[a.fail[s]]
		} else {
			a.shorter[p] = a.ends[a.fail[s]]
		}
		if s < a.denseStates && s > 0 {
			copy(a.row(s), a.row(a.fail[s]))
		}
		for child := a.first[s]; child < a.first[s+1]; child++ {
			if s > 0 {
				a.fail[child] = a.next(a.fail[s], a.label[child])
			}
			if s < a.denseStates {
				a.row(s)[a.class[a.label[child]]] = child
			}
		}
	}
}

func (a *automaton) row(s uint32) []uint32 { return a.dense[s<<a.shift : (s+1)<<a.shift] }

func (a *automaton) next(s uint32, c byte) uint32 {
	for s >= a.denseStates {
		first := a.first[s]
		if i := bytes.IndexByte(a.label[first:a.first[s+1]], c); i >= 0 {
			return first + uint32(i)
		}
		s = a.fail[s]
	}
	return a.dense[s<<a.shift|uint32(a.class[c])]
}

// find appends the patterns that occur in a text and have not been seen yet. Finding a pattern also finds its suffixes, so
// that the search can stop at the first one already seen.
func (a *automaton) find(text []byte, found []uint32, seen []uint32, now uint32) []uint32 {
	s := uint32(0)
	for _, c := range text {
		s = a.next(s, c)
		for p := a.ends[s]; p != 0 && seen[p] != now; p = a.shorter[p] {
			seen[p] = now
			found = append(found, p)
		}
	}
	return found
}
