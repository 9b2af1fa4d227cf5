package holdings

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/observation"
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

// Difference returns what the books had less what was observed.
func (o Observed) Difference() money.Decimal { return o.Book.Sub(o.Quantity) }

// SourceBalances returns a page of what a source holds, by asset. An asset that was observed and is not in the books is included.
func (s *Service) SourceBalances(ctx context.Context, sourceID string, pr page.Request) (page.Page[SourceBalance], error) {
	key := func(b SourceBalance) []string { return b.key() }
	return page.List("source-balances", sourceID, pr, key, func(after []string, limit int) (rows []SourceBalance, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = sourceBalances(ctx, tx, sourceID)
			return err
		})
		rows = slices.DeleteFunc(rows, func(b SourceBalance) bool { return after != nil && slices.Compare(b.key(), after) <= 0 })
		return rows[:min(len(rows), limit)], err
	})
}

func sourceBalances(ctx context.Context, tx *db.Tx, sourceID string) ([]SourceBalance, error) {
	src, err := source.Find(ctx, tx, sourceID)
	if err != nil {
		return nil, err
	}
	covered, err := newScope(ctx, tx, Filter{SourceIDs: []string{src.ID}})
	if err != nil {
		return nil, err
	}
	held, err := covered.heldAt(ctx, tx, covered.endOf("", tx.Now()), nil, 0)
	if err != nil {
		return nil, err
	}
	out := make([]SourceBalance, len(held))
	for i, p := range held {
		out[i].Position = p
	}
	observed, err := covered.observed(ctx, tx, src, held)
	if err != nil {
		return nil, err
	}
	for asset, o := range observed {
		at := slices.IndexFunc(out, func(b SourceBalance) bool { return b.AssetType == asset })
		switch {
		case at >= 0:
			out[at].Observed = o
		case !o.Quantity.IsZero() || !o.Book.IsZero():
			out = append(out, SourceBalance{Observed: o, Position: Position{LegalEntityID: src.LegalEntityID, SourceID: src.ID,
				LedgerAccountID: src.LedgerAccountID, AssetType: asset}})
		}
	}
	slices.SortFunc(out, func(a, b SourceBalance) int { return slices.Compare(a.key(), b.key()) })
	return out, nil
}

// observed returns the latest observed balances of a source by asset: see compared.
func (s *scope) observed(ctx context.Context, tx *db.Tx, src source.Source, held []Position) (map[string]*Observed, error) {
	stated, err := observation.Latest(ctx, tx, src.ID)
	if err != nil {
		return nil, err
	}
	return s.compared(ctx, tx, src, held, stated)
}

// observedAt returns the latest observed balances of some assets of a source up to an instant: see compared.
func (s *scope) observedAt(
	ctx context.Context, tx *db.Tx, src source.Source, at time.Time, held []Position, assets []string,
) (map[string]*Observed, error) {
	found, err := observation.Before(ctx, tx, src.ID, at, assets...)
	if err != nil {
		return nil, err
	}
	stated := make([]observation.Balance, len(found))
	for n, o := range found {
		stated[n] = o.Balance
	}
	return s.compared(ctx, tx, src, held, stated)
}

// compared returns observed balances of a source by asset, with what the books had at their times. If an asset has several positions, such
// as those of several chains, it is not known which of them a balance is of, and it is left out. So is money of an account that several
// sources share.
func (s *scope) compared(
	ctx context.Context, tx *db.Tx, src source.Source, held []Position, stated []observation.Balance,
) (map[string]*Observed, error) {
	sources, err := s.allSources(ctx, tx)
	if err != nil {
		return nil, err
	}
	shared, positions := sharesAccount(sources, src), map[string]int{}
	for _, p := range held {
		positions[p.AssetType]++
	}
	out, assets := map[string]*Observed{}, map[time.Time][]string{}
	for _, o := range stated {
		if positions[o.AssetType] > 1 || shared && money.IsFiat(o.AssetType) {
			continue
		}
		out[o.AssetType] = &Observed{Quantity: o.Quantity, At: o.At}
		end := clock.Stamp(o.At).Add(time.Millisecond)
		assets[end] = append(assets[end], o.AssetType)
	}
	for end, some := range assets {
		narrowed := *s
		narrowed.SourceIDs, narrowed.AssetTypes = []string{src.ID}, some
		before, err := narrowed.heldAt(ctx, tx, end, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, p := range before {
			out[p.AssetType].Book = out[p.AssetType].Book.Add(p.Quantity)
		}
	}
	return out, nil
}

// sharesAccount reports whether another source has the same ledger account of the same legal entity. Wallets hold no money.
func sharesAccount(all []source.Source, src source.Source) bool {
	return slices.ContainsFunc(all, func(other source.Source) bool {
		return other.ID != src.ID && other.LegalEntityID == src.LegalEntityID && other.LedgerAccountID == src.LedgerAccountID &&
			other.Type != source.Wallet && other.DeletedAt == nil
	})
}

// HeldBySource returns what a source holds in the books up to an instant, by asset: of some assets, or of all if assetTypes is nil.
// Positions of one asset are added up. Money of an account that several sources share is left out: see SharesAccount. It is a building
// block and does not check what the actor may see.
func HeldBySource(ctx context.Context, tx *db.Tx, src source.Source, at time.Time, assetTypes []string) (map[string]money.Decimal, error) {
	s := &scope{Filter: Filter{LegalEntityIDs: []string{src.LegalEntityID}, SourceIDs: []string{src.ID}, AssetTypes: assetTypes}}
	all, err := snapshot.Entities(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.ID == src.LegalEntityID {
			s.entities = append(s.entities, e)
		}
	}
	if s.periods, err = snapshot.Periods(ctx, tx); err != nil {
		return nil, err
	}
	end, out := clock.Stamp(at).Add(time.Millisecond), map[string]money.Decimal{}
	var held, cash []Position
	if assetTypes == nil || slices.ContainsFunc(assetTypes, func(asset string) bool { return !money.IsFiat(asset) }) {
		if held, err = s.positionsAt(ctx, tx, end, s.Filter, nil, 0); err != nil {
			return nil, err
		}
	}
	if assetTypes == nil || slices.ContainsFunc(assetTypes, money.IsFiat) {
		if cash, err = s.moneyAt(ctx, tx, end); err != nil {
			return nil, err
		}
	}
	for _, p := range slices.Concat(held, cash) {
		out[p.AssetType] = out[p.AssetType].Add(p.Quantity)
	}
	return out, nil
}

// SharesAccount reports whether another source has the same ledger account, so that what the account has of money cannot be told apart.
// It is a building block.
func SharesAccount(ctx context.Context, tx *db.Tx, src source.Source) (bool, error) {
	all, err := source.AllUnchecked(ctx, tx)
	return sharesAccount(all, src), err
}
