package asset

import (
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
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
			c.found.Addf("uses that nobody asked for", "%s of the lot %s were taken from the pool %s at %q, but nobody asked for them",
				left[0].Quantity, left[0].LotID, s.Key, place)
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
			c.found.Addf("uses of other holding periods", "the lot %s was held for %d days when the entry %s took it, not for %d", u.LotID,
				u.Days, k.entryID, old.Days)
		}
		if u.Kind == string(relocate) {
			moved = moved.Add(u.Basis)
		}
	}
	if !sameUses(k.old, k.new) {
		c.found.Addf("requests that took other lots", "the entry %s took %s from the pool %s, but takes %s", k.entryID, spell(k.old),
			s.Key, spell(k.new))
	}
	if !moved.IsZero() {
		c.found.Addf("relocations that lose their cost", "the entry %s moves %s within the pool %s, of whose cost %s is lost", k.entryID,
			k.quantity, s.Key, moved)
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
			c.found.Addf("lots that should be others", "%s at %s are left of the lot %s, but should be %s at %s", l.RemainingQuantity,
				l.RemainingBasis, l.ID, now.RemainingQuantity, now.RemainingBasis)
		}
	}
	if !s.Quantity.Equal(kept.Quantity) || !s.Basis.Equal(kept.Basis) {
		c.found.Addf("pools that should be others", "the pool %s is kept as %s at %s, but everything in order comes to %s at %s", s.Key,
			kept.Quantity, kept.Basis, s.Quantity, s.Basis)
	}
}

// CheckWorks holds what is written down of entries, what they ask and make, against what they follow from, and gives
// the entries as they would be made again of the lots they took. It is a building block.
func CheckWorks(ctx context.Context, tx *db.Tx, b *snapshot.Books, works []Work, found *finding.List) (map[string]posting.Entry, error) {
	ids := make([]string, len(works))
	for i, w := range works {
		ids[i] = w.EntryID
	}
	takes, err := selectTakesOfAll(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	uses, err := selectUsesOfTakes(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	lots, err := selectLotsOfAll(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string]posting.Entry, len(works))
	for _, w := range works {
		if e, ok := (&proof{w, takes[w.EntryID], uses, found}).entry(b); ok {
			out[w.EntryID] = e
			if slices.ContainsFunc(takes[w.EntryID], func(t take) bool { return t.kind == relocate }) {
				e.Lots = nil
			}
			w.made(e, lots[w.EntryID], found)
		}
	}
	return out, nil
}

type proof struct {
	Work
	takes []take
	uses  map[useAt][]Use
	found *finding.List
}

// useAt names a request.
type useAt struct {
	pool  string
	place Place
}

// entry makes an entry again.
func (p *proof) entry(b *snapshot.Books) (posting.Entry, bool) {
	wrong := len(p.takes) != len(p.Plan.Takes)
	answers := make([]posting.Answer, len(p.Plan.Takes))
	for i, t := range p.takes {
		if wrong || t.position != i {
			wrong = true
			break
		}
		asked := p.Plan.Takes[i]
		k := &taken{take: takeOf(&p.Work, i, asked, poolOf(b, asked.From, asked.Asset, p.Apart))}
		if t.kind == relocate {
			k.kind = relocate
		}
		k.settle()
		wrong = wrong || !k.take.same(t)
		answers[i] = answer(effective(p.uses[useAt{t.pool, t.place}]))
	}
	if wrong {
		p.found.Addf("entries that ask for something else", "what the entry %s asks of the pools is not what it follows from", p.EntryID)
		return posting.Entry{}, false
	}
	e, err := p.Plan.Entry(answers)
	if err != nil {
		p.found.Addf("entries that cannot be made", "the entry %s cannot be made of the lots it took: %v", p.EntryID, err)
	}
	return e, err == nil
}

func (t take) same(o take) bool {
	return t.pool == o.pool && t.place == o.place && t.kind == o.kind && t.sourceID == o.sourceID && t.accountID == o.accountID &&
		t.chain == o.chain && t.at.Equal(o.at) &&
		t.block == o.block && t.number == o.number && t.transactionID == o.transactionID && t.quantity.Equal(o.quantity) &&
		t.feeQuantity.Equal(o.feeQuantity) &&
		t.proceeds.Equal(o.proceeds) && t.feeProceeds.Equal(o.feeProceeds) && t.costs.Equal(o.costs) && t.net == o.net
}

// made holds the lots of an entry against those it makes.
func (w *Work) made(e posting.Entry, lots []Lot, found *finding.List) {
	left := map[string][]Lot{}
	for _, l := range lots {
		left[l.ParentID] = append(left[l.ParentID], l)
	}
	wrong := false
	for _, m := range e.Lots {
		at := left[m.Parent]
		if len(at) == 0 {
			wrong = true
			break
		}
		l := at[0]
		left[m.Parent] = at[1:]
		wrong = wrong || !l.Quantity.Equal(m.Quantity) || !l.CostBasis.Equal(m.Basis) || !l.AcquiredAt.Equal(m.AcquiredAt) ||
			l.SourceID != m.Source || l.LedgerAccountID != m.Account ||
			l.LegalEntityID != m.Entity || l.AssetType != m.Asset.Symbol
	}
	for _, more := range left {
		wrong = wrong || len(more) > 0
	}
	if wrong {
		found.Addf("entries that made other lots", "the lots of the entry %s are not those it makes of what it took", w.EntryID)
	}
}
