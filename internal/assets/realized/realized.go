// Package realized computes realized gains as the books have them. A disposal is booked against cost; if its lot was impaired or
// revalued before (IAS 38), the next revaluation releases the adjustment of what was disposed of and corrects the realized gain
// by it. So the gain in the books is proceeds less carrying amount, and the gain for tax is proceeds less cost.
//
// The corrections are those of the revaluation entries in force, so that book gains equal the balances of the realized gain and
// loss accounts in every period. A correction is divided among the disposals of its period: each gets the share that its units
// had of the adjustment of their lot, and a revaluation computes it from the same disposals. If a late event changes which lots
// a disposal of a closed period consumed, the correction of the disposal restores the share of the lot that is held again. A lot that
// becomes another asset, or goes to another legal entity at its cost, takes its share along, and a disposal of it there releases that.
// What belongs to no disposal is divided among the disposals of the period by quantity; it is in the total only if there are none.
// Before the revaluation of a period, the books have no correction, and book gain and tax gain are the same; so it is for a disposal
// that was booked since, until the revaluation is run again.
package realized

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// Key identifies an asset of a legal entity.
type Key struct{ LegalEntityID, AssetType string }

// Filter narrows totals by every field that is not empty.
type Filter struct{ LegalEntityIDs, AssetTypes, SourceIDs []string }

// usesMax is how many uses are read at once.
const usesMax = 1000

// InPeriod returns what revaluations added to the gains that were realized in a period, by asset. Only amounts other than zero
// are in the result. It is a building block.
func InPeriod(ctx context.Context, tx *db.Tx, month period.Period, f Filter) (map[Key]money.Decimal, error) {
	out := map[Key]money.Decimal{}
	items, err := selectItems(ctx, tx, itemFilter{entities: f.LegalEntityIDs, units: f.AssetTypes, periodID: month.ID})
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		k := Key{i.legalEntityID, i.unit}
		if out[k] = out[k].Add(i.correction); out[k].IsZero() {
			delete(out, k)
		}
	}
	if len(f.SourceIDs) == 0 || len(out) == 0 {
		return out, nil
	}
	clear(out)
	err = eachUse(ctx, tx, lots.UseFilter{LegalEntityIDs: f.LegalEntityIDs, AssetTypes: f.AssetTypes, SourceIDs: f.SourceIDs,
		From: month.Start, Until: month.End, Realized: true}, func(uses []lots.Use) error {
		added, err := OfUses(ctx, tx, uses)
		for _, u := range uses {
			if amount := added[u.ID]; !amount.IsZero() {
				k := Key{u.LegalEntityID, u.AssetType}
				out[k] = out[k].Add(amount)
			}
		}
		return err
	})
	return out, err
}

// eachUse reads uses in batches.
func eachUse(ctx context.Context, tx *db.Tx, f lots.UseFilter, do func([]lots.Use) error) error {
	var after *lots.UseCursor
	for {
		uses, err := lots.ListUses(ctx, tx, f, after, usesMax)
		if err != nil {
			return err
		}
		if err := do(uses); err != nil || len(uses) < usesMax {
			return err
		}
		last := uses[len(uses)-1]
		after = &lots.UseCursor{Date: last.AccountingDate, ID: last.ID}
	}
}

// group is the disposals of an asset by a legal entity in a period.
type group struct {
	Key
	periodID string
}

// OfUses returns what revaluations added to the gains of uses, by use. Only amounts other than zero are in the result. It is a
// building block.
func OfUses(ctx context.Context, tx *db.Tx, uses []lots.Use) (map[string]money.Decimal, error) {
	out := map[string]money.Decimal{}
	groups, f := map[group]bool{}, itemFilter{}
	for _, u := range uses {
		if u.Realizes() {
			groups[group{Key{u.LegalEntityID, u.AssetType}, u.PeriodID}] = true
			f.entities, f.units = append(f.entities, u.LegalEntityID), append(f.units, u.AssetType)
		}
	}
	if len(groups) == 0 {
		return out, nil
	}
	slices.Sort(f.entities)
	slices.Sort(f.units)
	f.entities, f.units = slices.Compact(f.entities), slices.Compact(f.units)
	items, err := selectItems(ctx, tx, f)
	if err != nil || len(items) == 0 {
		return out, err
	}
	months, err := snapshot.Periods(ctx, tx)
	if err != nil {
		return nil, err
	}
	for g := range groups {
		at := slices.IndexFunc(months, func(p period.Period) bool { return p.ID == g.periodID })
		if at < 0 {
			continue
		}
		for n, i := range items {
			if i.legalEntityID != g.LegalEntityID || i.unit != g.AssetType || i.entryPeriodID != g.periodID {
				continue
			}
			h, err := i.history(ctx, tx, items[:n], months)
			if err != nil {
				return nil, err
			}
			if err := divide(ctx, tx, i, h, months[at], out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// divide divides the correction of an item among the disposals of its period, and adds the shares to what is known by use. What was
// disposed of before the period, because that was not measured, has its share too, which no disposal of the period shows.
func divide(ctx context.Context, tx *db.Tx, i item, h History, month period.Period, shares map[string]money.Decimal) error {
	current, err := h.current(ctx, tx, month.End)
	if err != nil || i.correction.IsZero() && !slices.ContainsFunc(slices.Collect(maps.Values(current)), isAdjusted) {
		return err
	}
	releases, err := h.Releases(ctx, tx, current, month.End)
	if err != nil {
		return err
	}
	places, _ := money.MinorUnits(i.currency)
	rest := remainder{amount: i.correction, count: int64(len(current)), places: places}
	add := func(r Released, amount money.Decimal) {
		rest.amount = rest.amount.Sub(amount)
		if r.AccountingDate.Before(month.Start) {
			return
		}
		if shares[r.ID] = shares[r.ID].Add(amount); shares[r.ID].IsZero() {
			delete(shares, r.ID)
		}
	}
	var known, lost, later, shown []Released
	for _, r := range releases {
		switch {
		case r.Later:
			later = append(later, r)
		case r.State != nil:
			known = append(known, r)
			add(r, r.Share.Neg())
		case r.Lost:
			lost = append(lost, r)
		}
		if !r.AccountingDate.Before(month.Start) {
			shown = append(shown, r)
		}
	}
	rest.count += int64(len(known))
	if len(known) > 0 && len(lost) == 0 && rest.isRounding() {
		add(known[len(known)-1], rest.amount)
		return nil
	}
	// Disposals that the run knew may have been replaced since by later ones, or withdrawn. Until the next run the correction stands.
	for _, group := range [][]Released{lost, later, shown} {
		if len(group) > 0 && !rest.amount.IsZero() {
			for n, share := range rest.split(group) {
				add(group[n], share)
			}
		}
	}
	return nil
}

// current returns the lots after the latest run, and after handovers before an instant.
func (h History) current(ctx context.Context, tx *db.Tx, before time.Time) (map[string]measure.State, error) {
	stored := map[string]measure.State{}
	var err error
	if len(h.Runs) > 0 {
		if stored, err = selectStates(ctx, tx, h); err != nil {
			return nil, err
		}
	}
	all, err := Handovers(ctx, tx, h.Since(), before, nil)
	if err != nil {
		return nil, err
	}
	out := map[string]measure.State{}
	for _, s := range h.Apply(slices.Collect(maps.Values(stored)), all) {
		out[s.Lot] = s
	}
	return out, nil
}

func isAdjusted(s measure.State) bool { return !s.Adjustment.IsZero() }

// remainder is what is left of a correction when every disposal has its share.
type remainder struct {
	amount money.Decimal
	count  int64 // how many amounts were rounded
	places int32
}

// isRounding reports whether the remainder can be a rounding difference. Runs of earlier versions rounded each lot and each disposal.
// A larger one belongs to no disposal.
func (r remainder) isRounding() bool {
	unit := money.FromInt(1)
	for range r.places {
		unit = unit.Quo(money.FromInt(10), r.places)
	}
	return r.amount.Abs().Cmp(unit.Mul(money.FromInt(r.count))) <= 0
}

// split divides the remainder among disposals by quantity.
func (r remainder) split(among []Released) []money.Decimal {
	weights := make([]money.Decimal, len(among))
	for i, d := range among {
		weights[i] = d.Quantity.Abs()
	}
	if money.Sum(weights...).IsZero() || !r.amount.Round(r.places).Equal(r.amount) {
		return nil
	}
	return money.Split(r.amount, weights, r.places)
}
