package replay

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
)

// verifyTotals compares the stored totals with the sums of lots, their corrections and uses. Corrections only say when lots are
// counted: over all periods, nothing remains of them.
func (c *verification) verifyTotals(ctx context.Context) error {
	stored, err := lots.ReadTotals(ctx, c.tx)
	if err != nil {
		return err
	}
	corrections, err := lots.ReadCorrections(ctx, c.tx)
	if err != nil {
		return err
	}
	corrected := maps.Clone(c.totals.Positions)
	for k, p := range corrections {
		corrected[k] = corrected[k].Plus(p)
	}
	anyPeriod := func(k lots.PositionKey) lots.PositionKey { k.PeriodID = ""; return k }
	for _, of := range []struct {
		kept, want map[lots.PositionKey]lots.Position
	}{
		{sumBy(stored.Positions, anyPeriod), sumBy(c.totals.Positions, anyPeriod)},
		{stored.Positions, corrected},
	} {
		kept, want := of.kept, of.want
		for _, k := range slices.SortedFunc(maps.Keys(union(kept, want)), lots.ComparePositions) {
			if h, w := kept[k], want[k]; !h.Equal(w) {
				c.found.Addf("positions that differ from their lots",
					"the position in %s of the source %q, the account %s and the legal entity %s in the period %q is stored as %s at %s "+
						"in %d lots, with %s at %s added, but lots and uses add up to %s at %s in %d, with %s at %s added",
					k.AssetType, k.SourceID, k.LedgerAccountID, k.LegalEntityID, k.PeriodID, h.Quantity, h.Basis, h.Lots,
					h.AddedQuantity, h.AddedBasis, w.Quantity, w.Basis, w.Lots, w.AddedQuantity, w.AddedBasis)
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(union(stored.Gains, c.totals.Gains)), lots.CompareGains) {
		if h, w := stored.Gains[k], c.totals.Gains[k]; !h.Equal(w) {
			c.found.Addf("gains that differ from their uses",
				"the gains on %s of %s in %s are stored as %s less losses of %s, but its uses add up to %s less %s, or to other terms or proceeds",
				k.AssetType, k.LegalEntityID, k.PeriodID, h.Gain, h.Loss, w.Gain, w.Loss)
		}
	}
	return nil
}

// union returns a map with the keys of both.
func union[K comparable, V any](a, b map[K]V) map[K]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// sumBy adds up positions that have the same key after of.
func sumBy(all map[lots.PositionKey]lots.Position, of func(lots.PositionKey) lots.PositionKey) map[lots.PositionKey]lots.Position {
	out := map[lots.PositionKey]lots.Position{}
	for k, p := range all {
		out[of(k)] = out[of(k)].Plus(p)
	}
	return out
}

// holding is an asset on an account of a legal entity.
type holding struct{ entity, account, unit string }

// verifyAccounts verifies that the balance of each account is the basis of its lots, in every accounting period. An asset
// that leaves a clearing account without having been parked there credits its value, for which there is no lot. Accounts
// without lots may have any balance.
func (c *verification) verifyAccounts(ctx context.Context) error {
	stored, err := lots.ReadTotals(ctx, c.tx)
	if err != nil {
		return err
	}
	units, err := balance.AllUnits(ctx, c.tx)
	if err != nil {
		return err
	}
	basis, carries := map[balance.UnitKey]money.Decimal{}, map[holding]bool{}
	for k, p := range stored.Positions {
		at := balance.UnitKey{Entity: k.LegalEntityID, Account: k.LedgerAccountID, Unit: k.AssetType, Period: k.PeriodID}
		basis[at] = basis[at].Add(p.Basis)
		carries[holding{k.LegalEntityID, k.LedgerAccountID, k.AssetType}] = true
	}
	balances := map[balance.UnitKey]money.Decimal{}
	for k, u := range units {
		if carries[holding{k.Entity, k.Account, k.Unit}] {
			balances[k] = u.Amount
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(union(basis, balances)), func(a, b balance.UnitKey) int {
		return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Unit, b.Unit),
			cmp.Compare(a.Period, b.Period))
	}) {
		if !basis[k].Equal(balances[k]) && !c.overdrawn[holding{k.Entity, k.Account, k.Unit}] {
			c.found.Addf("accounts that differ from their lots",
				"the balance of %s on the account %s of %s changed by %s in %s, but the basis of its lots by %s",
				k.Unit, k.Account, k.Entity, balances[k], k.Period, basis[k])
		}
	}
	return nil
}
