package transfer

import (
	"fmt"
	"slices"
	"strings"
)

// pairByHash pairs legs with the same transaction hash: first the two sides of transfers, then those of swaps.
func (m *matcher) pairByHash() {
	const name = "transaction hash"
	for _, group := range m.groups(func(t *item) string { return t.hash }) {
		m.pairTransfers(group, ByHash, name)
		m.pairSwaps(group, ByHash, name)
		m.groupsSeen = append(m.groupsSeen, group)
	}
}

// pairByGroup pairs legs to which a platform gave the same id: first the two sides of trades. Two platforms may use the
// same id for different trades, and then a sale on one and a purchase on the other would look like a transfer.
func (m *matcher) pairByGroup() {
	const name = "trade or transfer"
	for _, group := range m.groups(func(t *item) string { return t.leg.GroupKey }) {
		m.pairSwaps(group, ByGroup, name)
		m.pairTransfers(group, ByGroup, name)
		m.groupsSeen = append(m.groupsSeen, group)
	}
}

// partlyPaired reports whether some legs of a group were paired and at least two were not. With fewer legs left, those may
// now be unambiguous.
func (m *matcher) partlyPaired(group []int32) bool {
	left := 0
	for _, leg := range group {
		if m.items[leg].state != paired {
			left++
		}
	}
	return left > 1 && left < len(group)
}

// groups returns the free legs that share a key with another leg, each group sorted by id.
func (m *matcher) groups(key func(*item) string) [][]int32 {
	at := make(map[string]int32, len(m.items))
	var groups [][]int32
	for n := range m.items {
		t := &m.items[n]
		k := key(t)
		if k == "" || t.state != free {
			continue
		}
		seen, ok := at[k]
		switch {
		case !ok:
			at[k] = -1 - int32(n) // alone so far
		case seen < 0:
			at[k] = int32(len(groups))
			groups = append(groups, []int32{-1 - seen, int32(n)})
		default:
			groups[seen] = append(groups[seen], int32(n))
		}
	}
	for _, g := range groups {
		slices.SortFunc(g, func(a, b int32) int { return strings.Compare(m.items[a].leg.ID, m.items[b].leg.ID) })
	}
	return groups
}

// sides are the legs of a bucket by direction.
type sides struct{ outs, ins []int32 }

func (s *sides) add(m *matcher, leg int32) {
	if m.items[leg].leg.Inflow {
		s.ins = append(s.ins, leg)
	} else {
		s.outs = append(s.outs, leg)
	}
}

// buckets groups the free legs of a group by the key that a function returns, in the order of first occurrence. Legs for
// which it returns false are left out.
func buckets[K comparable](m *matcher, group []int32, of func(*item) (K, bool)) []sides {
	at := map[K]int{}
	var all []sides
	for _, leg := range group {
		t := &m.items[leg]
		k, ok := of(t)
		if !ok || t.state != free {
			continue
		}
		n, known := at[k]
		if !known {
			n = len(all)
			at[k] = n
			all = append(all, sides{})
		}
		all[n].add(m, leg)
	}
	return all
}

// pairTransfers pairs one outflow and one inflow of an asset whatever the fee and, if there are several, those that match
// by amount.
func (m *matcher) pairTransfers(group []int32, by Evidence, name string) {
	for _, s := range buckets(m, group, func(t *item) (asset, bool) { return t.asset, true }) {
		if len(s.outs) != 1 || len(s.ins) != 1 {
			m.pairUnique(s.outs, s.ins, by, func(o, i *item) bool { return true })
			continue
		}
		o, i := &m.items[s.outs[0]], &m.items[s.ins[0]]
		switch {
		case cannotMatch(o, i):
		case atMost(i, o):
			m.pair(s.outs[0], s.ins[0], by)
		default:
			why := fmt.Sprintf("more arrived (%s) than left (%s) under the same %s", i.leg.Quantity, o.leg.Quantity, name)
			m.addAmbiguity(s.outs[0], s.ins, why)
			m.addAmbiguity(s.ins[0], s.outs, why)
		}
	}
}

// pairSwaps pairs an outflow of one asset and an inflow of another on the same source. An asset on both sides was not
// swapped: it is change or a fee.
func (m *matcher) pairSwaps(group []int32, by Evidence, name string) {
	for _, s := range buckets(m, group, func(t *item) (string, bool) { return t.leg.SourceID, t.size != 0 }) {
		if len(s.outs) == 0 || len(s.ins) == 0 {
			continue
		}
		outs, ins := s.outs, s.ins
		if len(ins) == 1 {
			outs = m.withoutAsset(outs, m.items[ins[0]].asset)
		}
		if len(outs) == 1 {
			ins = m.withoutAsset(ins, m.items[outs[0]].asset)
		}
		switch {
		case len(outs) == 0 || len(ins) == 0:
		case len(outs) == 1 && len(ins) == 1 && excluded(&m.items[outs[0]], &m.items[ins[0]]):
		case len(outs) == 1 && len(ins) == 1:
			m.pair(outs[0], ins[0], by)
		default:
			why := fmt.Sprintf("several transactions of one source share the same %s (%d out, %d in)", name, len(outs), len(ins))
			for _, o := range outs {
				m.addAmbiguity(o, ins[:min(len(ins), candidatesMax)], why)
			}
			for _, i := range ins {
				m.addAmbiguity(i, outs[:min(len(outs), candidatesMax)], why)
			}
		}
	}
}

func (m *matcher) withoutAsset(legs []int32, a asset) []int32 {
	return slices.DeleteFunc(slices.Clone(legs), func(leg int32) bool { return m.items[leg].asset == a })
}

// route is the sending address, the receiving address, or both.
type route struct {
	asset
	from, to string
}

// pairByAddress pairs by both addresses, then by the recipient, then by the sender.
func (m *matcher) pairByAddress() {
	for _, of := range []func(t *item) (route, bool){
		func(t *item) (route, bool) { return route{t.asset, t.from, t.to}, t.from != "" && t.to != "" },
		func(t *item) (route, bool) { return route{t.asset, "", t.to}, t.to != "" },
		func(t *item) (route, bool) { return route{t.asset, t.from, ""}, t.from != "" },
	} {
		for _, s := range buckets(m, m.allLegs(), of) {
			m.pairUnique(s.outs, s.ins, ByAddresses, func(o, i *item) bool { return !contradict(o, i) })
		}
	}
}

// pairByAmount pairs legs that match only in asset, amount and time.
func (m *matcher) pairByAmount() {
	for _, s := range buckets(m, m.allLegs(), func(t *item) (asset, bool) { return t.asset, true }) {
		m.pairUnique(s.outs, s.ins, ByAmount, func(o, i *item) bool { return !contradict(o, i) })
	}
}

func (m *matcher) allLegs() []int32 {
	legs := make([]int32, len(m.items))
	for n := range legs {
		legs[n] = int32(n)
	}
	return legs
}
