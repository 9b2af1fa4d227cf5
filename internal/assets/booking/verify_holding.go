package booking

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// heldUnit is an asset or a foreign currency on a ledger account.
type heldUnit struct{ account, unit string }

// findUnholdable adds a finding for each account of a source that shows an asset or a foreign currency which none of its sources
// can hold. It returns the sources by their ids.
func findUnholdable(ctx context.Context, tx *db.Tx, b *snapshot.Books, found *finding.List) (map[string]source.Source, error) {
	all, err := source.AllUnchecked(ctx, tx)
	if err != nil {
		return nil, err
	}
	byID, byAccount := map[string]source.Source{}, map[string][]source.Source{}
	for _, s := range all {
		byID[s.ID] = s
		byAccount[s.LedgerAccountID] = append(byAccount[s.LedgerAccountID], s)
	}
	units, err := balance.AllUnits(ctx, tx)
	if err != nil {
		return nil, err
	}
	shown := map[heldUnit]money.Decimal{}
	for k, u := range units {
		if len(byAccount[k.Account]) > 0 {
			at := heldUnit{k.Account, k.Unit}
			shown[at] = shown[at].Add(u.Quantity)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(shown), func(a, b heldUnit) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.unit, b.unit))
	}) {
		if sources := byAccount[at.account]; !shown[at].IsZero() && !slices.ContainsFunc(sources, func(s source.Source) bool {
			return s.Type.Holds(at.unit)
		}) {
			found.Addf("accounts with what their source cannot hold", "the ledger account %s shows %s %s: %s",
				b.Accounts[at.account], shown[at], at.unit, sources[0].RequireHolds(at.unit))
		}
	}
	return byID, nil
}

// findUnholdableLegs adds a finding if an entry books something at a source that cannot hold it.
func findUnholdableLegs(e replay.Effect, sources map[string]source.Source, found *finding.List) {
	legs := slices.Clone(e.Input.Fees)
	for _, l := range []*posting.Leg{e.Input.Out, e.Input.In} {
		if l != nil {
			legs = append(legs, *l)
		}
	}
	for _, l := range legs {
		s, there := sources[l.Source]
		if why := s.RequireHolds(l.Asset.Symbol); there && why != "" {
			found.Addf("entries with what their source cannot hold", "the entry %s books %s: %s", e.EntryID, l.Asset.Symbol, why)
		}
	}
}
