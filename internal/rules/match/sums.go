package match

import (
	"cmp"
	"math"
	"slices"
)

// group is the invoices with one amount, in the order in which they are chosen. Invoices with equal amounts lead to the same
// sums, so they are searched once and counted.
type group struct {
	units   int64
	members []int32
}

// solutions counts the ways to reach a sum, and keeps the best of them.
type solutions struct {
	count int64
	best  [][]int32 // each sorted ascending; the oldest invoices first
	keep  int
	less  func(a, b []int32) bool // nil: compares element by element
}

// add adds a solution that stands for a number of equal ones. It copies the members only if it keeps them.
func (s *solutions) add(times int64, members []int32) {
	if s.count > math.MaxInt64-times {
		s.count = math.MaxInt64
	} else {
		s.count += times
	}
	slices.Sort(members)
	less := s.less
	if less == nil {
		less = older
	}
	if len(s.best) == s.keep {
		if s.keep == 0 || !less(members, s.best[len(s.best)-1]) {
			return
		}
		s.best = s.best[:len(s.best)-1]
	}
	at, _ := slices.BinarySearchFunc(s.best, members, func(have, want []int32) int {
		if less(have, want) {
			return -1
		}
		return 1
	})
	s.best = slices.Insert(s.best, at, slices.Clone(members))
}

// older reports whether one solution has the older invoices, after fewer of them.
func older(a, b []int32) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return slices.Compare(a, b) < 0
}

// sums searches for invoices that add up to an amount, and counts its steps.
type sums struct{ steps int }

// grouped returns the groups of some invoices, by ascending amount. The invoices of a group are oldest first, or newest first.
func grouped(invoices []int32, units []int64, newestFirst bool) []group {
	sorted := slices.Clone(invoices)
	slices.SortFunc(sorted, func(a, b int32) int {
		if c := cmp.Compare(units[a], units[b]); c != 0 {
			return c
		}
		if newestFirst {
			a, b = b, a
		}
		return cmp.Compare(a, b)
	})
	var groups []group
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && units[sorted[j]] == units[sorted[i]] {
			j++
		}
		groups = append(groups, group{units[sorted[i]], sorted[i:j]})
		i = j
	}
	return groups
}

// find returns the group with an amount.
func find(groups []group, units int64) (int, bool) {
	return slices.BinarySearchFunc(groups, units, func(g group, u int64) int { return cmp.Compare(g.units, u) })
}

// singles adds the invoices with an amount.
func (s *sums) singles(groups []group, target int64, with []int32, to *solutions) {
	s.steps++
	if i, ok := find(groups, target); ok {
		to.add(int64(len(groups[i].members)), append(slices.Clone(with), groups[i].members[0]))
	}
}

// pairs adds the pairs with a sum, in one pass from both ends.
func (s *sums) pairs(groups []group, target int64, with []int32, to *solutions) {
	buf := make([]int32, 0, len(with)+2)
	for i, j := 0, len(groups)-1; i <= j; {
		s.steps++
		a, b := groups[i], groups[j]
		switch sum := a.units + b.units; {
		case sum < target:
			i++
		case sum > target:
			j--
		case i == j:
			if n := int64(len(a.members)); n > 1 {
				to.add(n*(n-1)/2, append(append(buf, with...), a.members[0], a.members[1]))
			}
			return
		default:
			to.add(int64(len(a.members))*int64(len(b.members)), append(append(buf, with...), a.members[0], b.members[0]))
			i, j = i+1, j-1
		}
	}
}

// triples adds the triples with a sum: a pass from both ends for each smallest amount.
func (s *sums) triples(groups []group, target int64, with []int32, to *solutions) {
	buf := make([]int32, 0, len(with)+3)
	for i := range groups {
		a := groups[i]
		rest := target - a.units
		if 2*a.units > rest {
			return
		}
		for j, k := i, len(groups)-1; j <= k; {
			s.steps++
			switch sum := groups[j].units + groups[k].units; {
			case sum < rest:
				j++
			case sum > rest:
				k--
			default:
				chosen := append(append(buf, with...), a.members[0])
				if n, members := choose(chosen, i, j, k, groups); n > 0 {
					to.add(n, members)
				}
				j, k = j+1, k-1
			}
		}
	}
}

// choose counts the triples from three groups, of which some may be the same, and appends the second and third invoice.
func choose(chosen []int32, i, j, k int, groups []group) (int64, []int32) {
	a, b, c := groups[i].members, groups[j].members, groups[k].members
	x, y, z := int64(len(a)), int64(len(b)), int64(len(c))
	switch {
	case i == j && j == k:
		if x < 3 {
			return 0, nil
		}
		return x * (x - 1) / 2 * (x - 2) / 3, append(chosen, a[1], a[2])
	case i == j:
		if x < 2 {
			return 0, nil
		}
		return x * (x - 1) / 2 * z, append(chosen, a[1], c[0])
	case j == k:
		if y < 2 {
			return 0, nil
		}
		return y * (y - 1) / 2 * x, append(chosen, b[0], b[1])
	}
	return x * y * z, append(chosen, b[0], c[0])
}

// windows calls visit for each run of consecutive invoices, at least two, with a sum.
func (s *sums) windows(invoices []int32, units []int64, target int64, visit func(from, to int)) {
	sum, from := int64(0), 0
	for i, v := range invoices {
		s.steps++
		if units[v] > target {
			sum, from = 0, i+1
			continue
		}
		for sum += units[v]; sum > target; from++ {
			sum -= units[invoices[from]]
			s.steps++
		}
		if sum == target && i > from {
			visit(from, i+1)
		}
	}
}

// many is where the counting of equal solutions ends: the product with a number of invoices still fits.
const many = 1 << 40

// bounded searches for several invoices with a sum, the largest first, up to a number of nodes and of solutions.
type bounded struct {
	groups    []group // by descending amount
	units     []int64 // their amounts
	reach     []int64 // the sum of all invoices from a group on
	with      []int32
	nodesMax  int
	nodes     int
	stopAfter int
	found     int
	stopped   bool
	to        *solutions
}

func newBounded(ascending []group, nodesMax, stopAfter int, with []int32, to *solutions) *bounded {
	groups := slices.Clone(ascending)
	slices.Reverse(groups)
	b := &bounded{groups: groups, units: make([]int64, len(groups)), reach: make([]int64, len(groups)+1), with: with, nodesMax: nodesMax,
		stopAfter: stopAfter, to: to}
	for i := len(groups) - 1; i >= 0; i-- {
		b.units[i] = groups[i].units
		n := int64(len(groups[i].members))
		b.reach[i] = b.reach[i+1]
		if groups[i].units > (unitMax-b.reach[i])/n {
			b.reach[i] = unitMax
		} else {
			b.reach[i] += n * groups[i].units
		}
	}
	return b
}

// firstUpTo returns the first group from an index on whose amount is at most the rest: everything larger is skipped at once.
func (b *bounded) firstUpTo(rest int64, from int) int {
	to := len(b.units)
	for from < to {
		if middle := int(uint(from+to) >> 1); b.units[middle] > rest {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}

// search adds the ways to reach rest with at most left more invoices from a group on. times counts the equal ones.
func (b *bounded) search(from int, rest int64, left int, chosen []int32, times int64) {
	for i := b.firstUpTo(rest, from); i < len(b.groups); i++ {
		if b.stopped = b.stopped || b.nodes >= b.nodesMax || b.found >= b.stopAfter; b.stopped {
			return
		}
		if b.reach[i] < rest || b.units[i]*int64(left) < rest {
			return // All that follow are too small.
		}
		b.nodes++
		g := b.groups[i]
		ways := times
		for n := 1; n <= min(left, len(g.members)); n++ {
			ways = min(ways*int64(len(g.members)-n+1)/int64(n), many)
			taken := int64(n) * g.units
			if taken > rest {
				break
			}
			with := append(chosen, g.members[:n]...)
			if taken == rest {
				b.found++
				b.to.add(ways, append(slices.Clone(b.with), with...))
				break
			}
			if left > n {
				b.search(i+1, rest-taken, left-n, with, ways)
			}
		}
	}
}
