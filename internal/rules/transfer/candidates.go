package transfer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// predicate reports whether two legs may be one transfer.
type predicate func(o, i *item) bool

// pairUnique pairs the legs of a bucket that are each other's only candidate, and reports the others that have candidates
// as ambiguous.
func (m *matcher) pairUnique(outs, ins []int32, by Evidence, fits predicate) {
	if len(outs) == 0 || len(ins) == 0 {
		return
	}
	before := len(m.result.Pairs)
	m.sortLegs(outs)
	m.sortLegs(ins)
	ofOuts, ofIns := make([]candidates, len(outs)), make([]candidates, len(ins))
	for n, o := range outs {
		ofOuts[n] = m.candidateInflows(o, ins, fits)
	}
	for n, i := range ins {
		ofIns[n] = m.candidateOutflows(i, outs, fits)
	}
	only := make(map[int32]int32, min(len(outs), len(ins)))
	for n, i := range ins {
		if ofIns[n].single() {
			only[i] = ofIns[n].legs[0]
		}
	}
	for n, o := range outs {
		if f := ofOuts[n]; f.single() {
			if back, ok := only[f.legs[0]]; ok && back == o {
				m.pair(o, f.legs[0], by)
			}
		}
	}
	m.reportAmbiguous(outs, ofOuts, by)
	m.reportAmbiguous(ins, ofIns, by)
	m.truncated = m.truncated || len(m.result.Pairs) > before && (anyTruncated(ofOuts) || anyTruncated(ofIns))
}

// reportAmbiguous reports the legs that have candidates but were not paired.
func (m *matcher) reportAmbiguous(legs []int32, all []candidates, by Evidence) {
	for n, leg := range legs {
		f := all[n]
		if m.items[leg].state != free || len(f.legs) == 0 {
			continue
		}
		why := reason(len(f.legs), string(by))
		if f.truncated {
			why = "at least " + fmt.Sprintf(severalMatch, len(f.legs), by)
		}
		m.addAmbiguity(leg, f.legs, why)
	}
}

const severalMatch = "%d transactions match by %s"

// reason says why a leg with a number of candidates is ambiguous.
func reason(candidates int, by string) string {
	if candidates == 1 {
		return fmt.Sprintf("the only transaction that matches by %s matches others as well", by)
	}
	return fmt.Sprintf(severalMatch, candidates, by)
}

// Recount returns the reason of an ambiguity as it is if only some of its candidates are considered.
func Recount(why string, candidates int) string {
	if _, by, ok := strings.Cut(why, " transactions match by "); ok {
		return reason(candidates, by)
	}
	return why
}

// sortLegs sorts by day, then amount, then time. The candidates of a leg are then one contiguous run in each of the two or
// three days in question, and legs of equal amount within the time window are adjacent.
func (m *matcher) sortLegs(legs []int32) {
	slices.SortFunc(legs, func(a, b int32) int {
		x, y := &m.items[a], &m.items[b]
		if c := cmp.Or(x.compare(y), cmp.Compare(x.at, y.at)); c != 0 {
			return c
		}
		return strings.Compare(x.leg.ID, y.leg.ID)
	})
}

// candidates are the candidates of a leg. If truncated, the search was stopped at a limit and there may be more.
type candidates struct {
	legs      []int32
	truncated bool
}

// anyTruncated reports whether any search was stopped at a limit.
func anyTruncated(all []candidates) bool {
	return slices.ContainsFunc(all, func(f candidates) bool { return f.truncated })
}

// single reports whether there is exactly one candidate.
func (f candidates) single() bool { return len(f.legs) == 1 && !f.truncated }

// candidateInflows finds the inflows that may belong to an outflow: from the minimum that must arrive up to all of it.
func (m *matcher) candidateInflows(out int32, ins []int32, fits predicate) candidates {
	o := &m.items[out]
	return m.search(o, ins, o.sizeMin, func(i *item) (end, ok bool) {
		return !atMost(i, o), covers(o, i) && !cannotMatch(o, i) && fits(o, i)
	})
}

// candidateOutflows finds the outflows that may belong to an inflow: from its own amount up to where too much would be
// missing.
func (m *matcher) candidateOutflows(in int32, outs []int32, fits predicate) candidates {
	i := &m.items[in]
	return m.search(i, outs, i.size, func(o *item) (end, ok bool) {
		return !atLeast(i, o), covers(o, i) && !cannotMatch(o, i) && fits(o, i)
	})
}

// search examines legs in ascending size, starting at from, until look reports the end, for each day in the time window.
func (m *matcher) search(t *item, legs []int32, from magnitude, look func(*item) (end, ok bool)) (f candidates) {
	earliest, latest := t.bounds()
	left := examinedMax
	for day := dayOf(earliest); day <= dayOf(latest); day++ {
		n, _ := slices.BinarySearchFunc(legs, from, func(leg int32, from magnitude) int {
			return cmp.Or(cmp.Compare(m.items[leg].day, day), cmp.Compare(m.items[leg].size, from))
		})
		for n < len(legs) {
			other := &m.items[legs[n]]
			end, ok := look(other)
			if end || other.day != day {
				break
			}
			if left--; left < 0 {
				f.truncated = true
				return f
			}
			switch {
			case other.at < earliest:
				n = m.skip(legs, n, earliest)
				continue
			case other.at > latest:
				n = m.skip(legs, n, math.MaxInt64)
				continue
			case ok && other.state == free && f.add(legs[n]):
				return f
			}
			n++
		}
	}
	return f
}

// skip returns the index of the next leg that has another day or amount, or is not earlier than until.
func (m *matcher) skip(legs []int32, n int, until int64) int {
	this := &m.items[legs[n]]
	next := n + 1
	if next == len(legs) || m.items[legs[next]].size != this.size {
		return next
	}
	offset, _ := slices.BinarySearchFunc(legs[next:], until, func(leg int32, until int64) int {
		t := &m.items[leg]
		return cmp.Or(t.compare(this), cmp.Compare(t.at, until))
	})
	return next + offset
}

// compare orders by day and amount.
func (t *item) compare(other *item) int {
	if c := cmp.Or(cmp.Compare(t.day, other.day), cmp.Compare(t.size, other.size)); c != 0 {
		return c
	}
	return t.leg.Quantity.Cmp(other.leg.Quantity)
}

// add adds a candidate. It reports whether the list was already full, and then marks it as truncated.
func (f *candidates) add(leg int32) bool {
	if len(f.legs) == candidatesMax {
		f.truncated = true
		return true
	}
	f.legs = append(f.legs, leg)
	return false
}
