// Package realized computes realized gains as the books have them. A disposal is booked against cost; if its lot was impaired or
// revalued before (IAS 38), the next revaluation releases the adjustment of what was disposed of and corrects the realized gain
// by it. So the gain in the books is proceeds less carrying amount, and the gain for tax is proceeds less cost.
//
// The corrections are those of the revaluation entries in force, so that book gains equal the balances of the realized gain and
// loss accounts in every period. A correction is divided among the disposals of its period: each gets the share that its units
// had of the adjustment of their lot, and the last one the rounding difference. What belongs to no disposal of the period, such
// as that of units that moved to another legal entity, is in the total of the period only. Before the revaluation of a period,
// the books have no correction, and book gain and tax gain are the same.
package realized

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
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
		for n, i := range items {
			before := i.previous(items[:n])
			if i.legalEntityID != g.LegalEntityID || i.unit != g.AssetType || i.entryPeriodID != g.periodID || before == nil {
				continue
			}
			d := division{tx: tx, item: i, before: *before, shares: out}
			at := slices.IndexFunc(months, func(p period.Period) bool { return p.ID == g.periodID })
			if at < 0 {
				continue
			}
			if err := d.divide(ctx, months[at]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// division divides the correction of an item among the disposals of its period.
type division struct {
	tx     *db.Tx
	item   item
	before item                     // the measurement before, whose adjustments were released
	shares map[string]money.Decimal // by use

	states map[string]state  // by lot
	known  map[string]string // by lot, the lot with a state that it is or came from; empty if there is none
}

func (d *division) divide(ctx context.Context, month period.Period) (err error) {
	if d.states, err = selectStates(ctx, d.tx, d.before); err != nil || len(d.states) == 0 {
		return err
	}
	d.known = map[string]string{}
	places, _ := money.MinorUnits(d.item.currency)
	rest, count, last := d.item.correction, int64(len(d.states)), ""
	err = eachUse(ctx, d.tx, lots.UseFilter{LegalEntityIDs: []string{d.item.legalEntityID}, AssetTypes: []string{d.item.unit},
		From: month.Start, Until: month.End, Realized: true}, func(uses []lots.Use) error {
		if err := d.trace(ctx, uses); err != nil {
			return err
		}
		for _, u := range uses {
			s, there := d.states[d.known[u.LotID]]
			if !there {
				continue
			}
			share := s.adjustment.Mul(u.Quantity).Quo(s.quantity, places).Neg()
			d.add(u.ID, share)
			rest, count, last = rest.Sub(share), count+1, u.ID
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Each lot and each disposal was rounded once. A larger difference belongs to no disposal of the period.
	unit := money.FromInt(1).Quo(money.FromInt(pow10(places)), places)
	if last != "" && rest.Abs().Cmp(unit.Mul(money.FromInt(count))) <= 0 {
		d.add(last, rest)
	}
	return nil
}

func (d *division) add(useID string, amount money.Decimal) {
	if d.shares[useID] = d.shares[useID].Add(amount); d.shares[useID].IsZero() {
		delete(d.shares, useID)
	}
}

func pow10(n int32) int64 {
	out := int64(1)
	for range n {
		out *= 10
	}
	return out
}

// generationsMax bounds how often a lot can have been moved since it was measured; more would be a cycle.
const generationsMax = 1000

// trace finds the lots with a state that the lots of uses are, or were moved from within the legal entity.
func (d *division) trace(ctx context.Context, uses []lots.Use) error {
	origin := map[string][]string{} // by lot that is looked for, the lots that came from it
	for _, u := range uses {
		if _, done := d.known[u.LotID]; !done && u.LotID != "" {
			d.known[u.LotID] = ""
			origin[u.LotID] = []string{u.LotID}
		}
	}
	for range generationsMax {
		var next []string
		for at, from := range origin {
			if _, measured := d.states[at]; !measured {
				next = append(next, at)
				continue
			}
			for _, lotID := range from {
				d.known[lotID] = at
			}
		}
		if len(next) == 0 {
			return nil
		}
		slices.Sort(next)
		found, err := lots.ByID(ctx, d.tx, next)
		if err != nil {
			return err
		}
		above := map[string][]string{}
		for _, l := range found {
			if l.ParentID != "" && l.LegalEntityID == d.item.legalEntityID && l.AssetType == d.item.unit {
				above[l.ParentID] = append(above[l.ParentID], origin[l.ID]...)
			}
		}
		origin = above
	}
	return nil
}
