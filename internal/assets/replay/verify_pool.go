package replay

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// recompute applies all events of a pool in order, starting empty, and compares the resulting uses and lots with the stored ones.
func (c *verification) recompute(s *session, all []lots.Lot, consumptions []lots.Consumption, uses []lots.Use, averaged bool) {
	s.engine = lot.New(s.config)
	byKey := map[lot.OrderKey][]lots.Use{}
	for _, u := range uses {
		byKey[u.OrderKey] = append(byKey[u.OrderKey], u)
	}
	for _, e := range history(all, consumptions) {
		if e.consumption == nil {
			if err := s.accept(e, e.enter); err != nil {
				c.found.Addf("pools that cannot be recomputed", "the lot %s cannot enter the pool %s: %v", e.enter[0].ID, s.Key, err)
				return
			}
			continue
		}
		k := e.consumption
		k.before = lots.Effective(byKey[k.OrderKey])
		delete(byKey, k.OrderKey)
		if err := s.consume(k); err != nil {
			c.found.Addf("pools that cannot be recomputed", "the entry %s cannot consume from the pool %s: %v", k.EntryID, s.Key, err)
			return
		}
		c.verifyUses(s, k)
		c.noteLeaving(k)
	}
	for key, rows := range byKey {
		if left := lots.Effective(rows); len(left) > 0 {
			c.found.Addf("uses without a consumption",
				"%s of the lot %s were consumed from the pool %s at %q, but no consumption is stored there",
				left[0].Quantity, left[0].LotID, s.Key, key)
		}
	}
	c.verifyRecomputed(s, all, averaged)
}

// history returns all events of a pool in order. The lots of an entry enter together.
func history(all []lots.Lot, consumptions []lots.Consumption) (out []*event) {
	for _, l := range all {
		if n := len(out); n > 0 && l.Origin != lots.Manual && out[n-1].key == l.OrderKey && out[n-1].enter[0].JournalEntryID == l.JournalEntryID {
			out[n-1].enter = append(out[n-1].enter, &l)
			continue
		}
		out = append(out, &event{key: l.OrderKey, enter: []*lots.Lot{&l}})
	}
	for _, k := range consumptions {
		out = append(out, &event{key: k.OrderKey, consumption: &consumption{Consumption: k}})
	}
	slices.SortStableFunc(out, func(a, b *event) int { return cmp.Compare(a.key, b.key) })
	return out
}

// verifyUses compares the recomputed uses of a consumption with the stored ones.
func (c *verification) verifyUses(s *session, k *consumption) {
	was := map[lots.UseKey]lots.Use{}
	for _, u := range k.before {
		was[u.Key()] = u
	}
	var moved money.Decimal
	for i, u := range k.after {
		// Days are counted in the time zone of the organization, which may have been another one.
		if old, there := was[u.Key()]; there {
			u.Days, u.Term = old.Days, old.Term
			if _, held := c.hasRightHoldingPeriod(u); held {
				k.after[i].Term = old.Term
			}
		}
		if u.Kind == lots.Relocated {
			moved = moved.Add(u.Basis)
		}
	}
	if !lots.SameUses(k.before, k.after) {
		c.found.Addf("consumptions of other lots", "the uses of the entry %s in the pool %s are %s, but should be %s", k.EntryID, s.Key,
			describeUses(k.before, k.after), describeUses(k.after, k.before))
	}
	if !moved.IsZero() {
		c.found.Addf("relocations that lose their basis", "the entry %s relocates %s within the pool %s and loses %s of their basis", k.EntryID,
			k.Quantity, s.Key, moved)
	}
}

// describeUses returns uses as text: quantity, lot and basis of each, and whatever else differs from the use of the same lot in
// another list.
func describeUses(uses, others []lots.Use) string {
	if len(uses) == 0 {
		return "nothing"
	}
	parts := make([]string, len(uses))
	for i, u := range uses {
		parts[i] = u.Quantity.String() + " of " + u.LotID + " at " + u.Basis.String()
		if u.LotID == "" {
			parts[i] = u.Quantity.String() + " of no lot at " + u.Basis.String()
		}
		if other := counterpart(u, others); other != nil {
			if differs := differingFields(u, *other); len(differs) > 0 {
				parts[i] += " (" + strings.Join(differs, ", ") + ")"
			}
		}
	}
	return strings.Join(parts, ", ")
}

// counterpart returns the use in a list that has the same key as another one, or else one of the same lot, nil if there is none.
func counterpart(u lots.Use, list []lots.Use) (found *lots.Use) {
	for i := range list {
		switch {
		case list[i].Key() == u.Key():
			return &list[i]
		case found == nil && list[i].LotID == u.LotID:
			found = &list[i]
		}
	}
	return found
}

// differingFields describes the fields of a use that differ from another one, except quantity, lot and basis.
func differingFields(u, other lots.Use) (out []string) {
	for _, f := range []struct{ name, value, other string }{
		{"kind", u.Kind, other.Kind},
		{"source", u.SourceID, other.SourceID},
		{"account", u.LedgerAccountID, other.LedgerAccountID},
		{"proceeds", u.Proceeds.String(), other.Proceeds.String()},
		{"fee", u.Fee.String(), other.Fee.String()},
		{"gain", u.Gain.String(), other.Gain.String()},
		{"acquired at", clock.Format(u.AcquiredAt), clock.Format(other.AcquiredAt)},
		{"term", u.Term, other.Term},
		{"method", u.Method, other.Method},
		{"change in the number of lots", strconv.FormatInt(u.LotCount, 10), strconv.FormatInt(other.LotCount, 10)},
	} {
		if f.value != f.other {
			out = append(out, f.name+" "+cmp.Or(f.value, "none"))
		}
	}
	return out
}

// verifyRecomputed compares the recomputed lots and sums of a pool with the stored ones.
func (c *verification) verifyRecomputed(s *session, all []lots.Lot, averaged bool) {
	stored := *s.Pool
	s.finish()
	for _, l := range all {
		now := s.lots[l.ID]
		if !now.RemainingQuantity.Equal(l.RemainingQuantity) || !averaged && !now.RemainingBasis.Equal(l.RemainingBasis) {
			c.found.Addf("lots that differ from their history",
				"the lot %s is stored with %s at %s remaining, but recomputing its pool leaves %s at %s", l.ID, l.RemainingQuantity,
				l.RemainingBasis, now.RemainingQuantity, now.RemainingBasis)
		}
	}
	if !s.Quantity.Equal(stored.Quantity) || !s.Basis.Equal(stored.Basis) {
		c.found.Addf("pools that differ from their history", "the pool %s is stored as %s at %s, but recomputing it leaves %s at %s", s.Key,
			stored.Quantity, stored.Basis, s.Quantity, s.Basis)
	}
}
