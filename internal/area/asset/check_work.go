package asset

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// CheckWorks holds what is written down of entries, what they ask and make, against what they follow from, and gives the entries as they would be
// made again of the lots they took. It is a building block.
func CheckWorks(ctx context.Context, tx *db.Tx, b *books.Books, works []Work, found *finding.List) (map[string]posting.Entry, error) {
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
func (p *proof) entry(b *books.Books) (posting.Entry, bool) {
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
	return t.pool == o.pool && t.place == o.place && t.kind == o.kind && t.sourceID == o.sourceID && t.accountID == o.accountID && t.chain == o.chain && t.at.Equal(o.at) &&
		t.block == o.block && t.number == o.number && t.transactionID == o.transactionID && t.quantity.Equal(o.quantity) && t.feeQuantity.Equal(o.feeQuantity) &&
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
		wrong = wrong || !l.Quantity.Equal(m.Quantity) || !l.CostBasis.Equal(m.Basis) || !l.AcquiredAt.Equal(m.AcquiredAt) || l.SourceID != m.Source || l.LedgerAccountID != m.Account ||
			l.LegalEntityID != m.Entity || l.AssetType != m.Asset.Symbol
	}
	for _, more := range left {
		wrong = wrong || len(more) > 0
	}
	if wrong {
		found.Addf("entries that made other lots", "the lots of the entry %s are not those it makes of what it took", w.EntryID)
	}
}
