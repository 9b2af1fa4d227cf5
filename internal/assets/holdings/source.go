package holdings

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// SourceBalance is how much of an asset or a currency a source holds in the books, and what was observed, if anything was.
type SourceBalance struct {
	Position
	Observed *Observed
}

// Observed is a balance that an imported file states, and what the books had at that time.
type Observed struct {
	Quantity money.Decimal
	At       time.Time
	Book     money.Decimal
}

// Difference returns what was observed less what the books had.
func (o Observed) Difference() money.Decimal { return o.Quantity.Sub(o.Book) }

// SourceBalances returns a page of what a source holds, by asset. An asset that was observed and is not in the books is included.
func (s *Service) SourceBalances(ctx context.Context, sourceID string, pr page.Request) (page.Page[SourceBalance], error) {
	key := func(b SourceBalance) []string { return b.key() }
	return page.List("source-balances", sourceID, pr, key, func(after []string, limit int) (rows []SourceBalance, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = s.sourceBalances(ctx, tx, sourceID)
			return err
		})
		rows = slices.DeleteFunc(rows, func(b SourceBalance) bool { return after != nil && slices.Compare(b.key(), after) <= 0 })
		return rows[:min(len(rows), limit)], err
	})
}

func (s *Service) sourceBalances(ctx context.Context, tx *db.Tx, sourceID string) ([]SourceBalance, error) {
	src, err := source.Find(ctx, tx, sourceID)
	if err != nil {
		return nil, err
	}
	held, err := s.heldAt(ctx, src, "")
	if err != nil {
		return nil, err
	}
	stated, err := imports.StatedBalances(ctx, tx, src.ID)
	if err != nil {
		return nil, err
	}
	shared, err := sharesAccount(ctx, tx, src)
	if err != nil {
		return nil, err
	}
	out := make([]SourceBalance, len(held))
	for i, p := range held {
		out[i].Position = p
	}
	for _, o := range stated {
		if shared && money.IsFiat(o.AssetType) {
			continue // the balance in the books is that of several sources
		}
		if out, err = s.observe(ctx, src, out, o); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b SourceBalance) int { return slices.Compare(a.key(), b.key()) })
	return out, nil
}

// observe adds an observed balance to the only row of its asset, or as a row of its own if there is none. If an asset has several rows,
// such as those of several chains, it is not known which of them a balance is of.
func (s *Service) observe(ctx context.Context, src source.Source, rows []SourceBalance, o imports.StatedBalance) ([]SourceBalance, error) {
	at := -1
	for i, r := range rows {
		if r.AssetType != o.AssetType {
			continue
		}
		if at >= 0 {
			return rows, nil
		}
		at = i
	}
	before, err := s.heldAt(ctx, src, clock.Format(o.At))
	if err != nil {
		return nil, err
	}
	found := &Observed{Quantity: o.Quantity, At: o.At}
	for _, p := range before {
		if p.AssetType == o.AssetType {
			found.Book = found.Book.Add(p.Quantity)
		}
	}
	switch {
	case at >= 0:
		rows[at].Observed = found
	case !o.Quantity.IsZero() || !found.Book.IsZero():
		rows = append(rows, SourceBalance{Observed: found, Position: Position{LegalEntityID: src.LegalEntityID, SourceID: src.ID,
			LedgerAccountID: src.LedgerAccountID, AssetType: o.AssetType}})
	}
	return rows, nil
}

// heldAt returns what a source holds in the books at an instant, or now if it is empty.
func (s *Service) heldAt(ctx context.Context, src source.Source, asOf string) (out []Position, err error) {
	p := TreasuryParams{Filter: Filter{SourceIDs: []string{src.ID}}, AsOf: asOf}
	for pr := (page.Request{Limit: page.LimitMax}); ; {
		found, err := s.TreasuryBalances(ctx, p, pr)
		if err != nil {
			return nil, err
		}
		for _, b := range found.Items {
			out = append(out, b.Position)
		}
		if !found.HasMore {
			return out, nil
		}
		pr.Cursor = found.NextCursor
	}
}

// sharesAccount reports whether another source has the same ledger account.
func sharesAccount(ctx context.Context, tx *db.Tx, src source.Source) (bool, error) {
	all, err := source.AllUnchecked(ctx, tx)
	return slices.ContainsFunc(all, func(other source.Source) bool {
		return other.ID != src.ID && other.LedgerAccountID == src.LedgerAccountID && other.DeletedAt == nil
	}), err
}
