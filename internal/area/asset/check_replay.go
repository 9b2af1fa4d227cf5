package asset

import (
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// again lets everything happen to a pool from nothing, and holds what that takes and leaves against what is written down.
func (c *checking) again(s *session, lots []Lot, takes []take, uses []Use, averaged bool) {
	s.engine = lot.New(s.config)
	byPlace := map[Place][]Use{}
	for _, u := range uses {
		byPlace[u.Place] = append(byPlace[u.Place], u)
	}
	for _, e := range history(lots, takes) {
		if e.take == nil {
			if err := s.accept(e, e.enter); err != nil {
				c.found.Addf("pools that cannot happen", "the lot %s cannot enter the pool %s: %v", e.enter[0].ID, s.Key, err)
				return
			}
			continue
		}
		k := e.take
		k.old = effective(byPlace[k.place])
		delete(byPlace, k.place)
		if err := s.apply(k); err != nil {
			c.found.Addf("pools that cannot happen", "what the entry %s asks of the pool %s cannot be taken: %v", k.entryID, s.Key, err)
			return
		}
		c.answer(s, k)
		c.leave(k)
	}
	for place, rows := range byPlace {
		if left := effective(rows); len(left) > 0 {
			c.found.Addf("uses that nobody asked for", "%s of the lot %s were taken from the pool %s at %q, but nobody asked for them", left[0].Quantity, left[0].LotID, s.Key, place)
		}
	}
	c.leaves(s, lots, averaged)
}

// history is everything that happens to a pool, in order. What arrives with an entry arrives at once.
func history(lots []Lot, takes []take) (out []*event) {
	for _, l := range lots {
		if n := len(out); n > 0 && l.Origin != Manual && out[n-1].place == l.Place && out[n-1].enter[0].JournalEntryID == l.JournalEntryID {
			out[n-1].enter = append(out[n-1].enter, &l)
			continue
		}
		out = append(out, &event{place: l.Place, enter: []*Lot{&l}})
	}
	for _, t := range takes {
		out = append(out, &event{place: t.place, take: &taken{take: t}})
	}
	slices.SortStableFunc(out, func(a, b *event) int { return strings.Compare(string(a.place), string(b.place)) })
	return out
}

// answer holds what a request takes against what is written down that it took.
func (c *checking) answer(s *session, k *taken) {
	was := map[useKey]Use{}
	for _, u := range k.old {
		was[u.key()] = u
	}
	var moved money.Decimal
	for i, u := range k.new {
		old := was[u.key()]
		// Days are counted where the books are kept, which may have been elsewhere.
		if away := u.Days - old.Days; away == 1 || away == -1 {
			k.new[i].Days, k.new[i].Term = old.Days, old.Term
		}
		if u.Days != old.Days && k.new[i].Days != old.Days && len(k.old) == len(k.new) {
			c.found.Addf("uses of other holding periods", "the lot %s was held for %d days when the entry %s took it, not for %d", u.LotID, u.Days, k.entryID, old.Days)
		}
		if u.Kind == string(relocate) {
			moved = moved.Add(u.Basis)
		}
	}
	if !sameUses(k.old, k.new) {
		c.found.Addf("requests that took other lots", "the entry %s took %s from the pool %s, but takes %s", k.entryID, spell(k.old), s.Key, spell(k.new))
	}
	if !moved.IsZero() {
		c.found.Addf("relocations that lose their cost", "the entry %s moves %s within the pool %s, of whose cost %s is lost", k.entryID, k.quantity, s.Key, moved)
	}
}

// spell says what was taken.
func spell(uses []Use) string {
	if len(uses) == 0 {
		return "nothing"
	}
	parts := make([]string, len(uses))
	for i, u := range uses {
		parts[i] = u.Quantity.String() + " of " + u.LotID + " at " + u.Basis.String()
	}
	return strings.Join(parts, ", ")
}

// leaves holds what is left against what is written down.
func (c *checking) leaves(s *session, lots []Lot, averaged bool) {
	kept := *s.pool
	s.left()
	for _, l := range lots {
		now := s.lots[l.ID]
		if !now.RemainingQuantity.Equal(l.RemainingQuantity) || !averaged && !now.RemainingBasis.Equal(l.RemainingBasis) {
			c.found.Addf("lots that should be others", "%s at %s are left of the lot %s, but should be %s at %s", l.RemainingQuantity, l.RemainingBasis, l.ID, now.RemainingQuantity, now.RemainingBasis)
		}
	}
	if !s.Quantity.Equal(kept.Quantity) || !s.Basis.Equal(kept.Basis) {
		c.found.Addf("pools that should be others", "the pool %s is kept as %s at %s, but everything in order comes to %s at %s", s.Key, kept.Quantity, kept.Basis, s.Quantity, s.Basis)
	}
}
