package revaluation

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// readGone reads which of the lots that were measured before, and of which nothing is held, exist. A replay may have deleted others.
func (l *lotMeasurer) readGone(ctx context.Context) error {
	candidates := maps.Clone(l.units)
	for _, held := range l.subject.lots {
		delete(candidates, held.ID)
	}
	l.gone = map[string]bool{}
	if len(candidates) == 0 {
		return nil
	}
	found, err := lots.ByID(ctx, l.tx, slices.Sorted(maps.Keys(candidates)))
	for _, lot := range found {
		l.gone[lot.ID] = true
	}
	return err
}

// explainBalance returns the rows of an asset with adjustments that add up to the balance of its adjustment account before the
// measurement. What a lot had at the last measurement, and what is held of it no longer has, is added to the row of that lot: it was
// disposed of or handed over since. What a lot took over, and what came back after a correction, is deducted in the same way, because it
// is not on the account. What belongs to no lot, such as an entry by hand, has the account itself as its row.
func (l *lotMeasurer) explainBalance(unit string, rows []Row, measured []measure.Measured, balance money.Decimal) []Row {
	rest := map[string]money.Decimal{}
	for _, s := range l.states[unit] {
		if !s.Gone {
			rest[s.Lot] = rest[s.Lot].Add(s.Adjustment)
		}
	}
	for i, lot := range l.lots[unit] {
		if lot.Predecessor != "" {
			rest[lot.Predecessor] = rest[lot.Predecessor].Sub(measured[i].Carried)
		}
	}
	history := l.history(l.group.kind, unit)
	for _, x := range l.handovers {
		if history.Gave(x) {
			rest[x.State] = rest[x.State].Add(x.Share)
		}
		if history.Took(x) {
			rest[x.To.ID] = rest[x.To.ID].Sub(x.Taken)
		}
	}
	for n, r := range rows {
		rows[n].Before = r.Before.Add(rest[r.SubjectID])
		delete(rest, r.SubjectID)
		balance = balance.Sub(rows[n].Before)
	}
	for _, lotID := range slices.Sorted(maps.Keys(rest)) {
		if l.gone[lotID] && !rest[lotID].IsZero() {
			rows = append(rows, Row{SubjectID: lotID, Cost: &money.Decimal{}, Before: rest[lotID]})
			balance = balance.Sub(rest[lotID])
		}
	}
	if accountID := l.adjustmentAccount(unit); accountID != "" && !balance.IsZero() {
		rows = append(rows, Row{SubjectID: accountID, Before: balance})
	}
	return rows
}

// addRest adds what an item is adjusted to without any lot to the row of the adjustment account, so that the rows add up to the item: a
// period may be measured again whose lots do not exist any more, because the entry that brought them in was reversed in a later one.
func (s *subject) addRest(rows []Row, i Item, role string) []Row {
	value, after := i.Value, i.After
	for _, r := range rows {
		value, after = value.Sub(r.Value), after.Sub(r.After)
	}
	if after.IsZero() {
		return rows
	}
	n := slices.IndexFunc(rows, Row.IsAccount)
	if n < 0 {
		n, rows = len(rows), append(rows, Row{SubjectID: s.roles[role]})
	}
	rows[n].Value, rows[n].After = rows[n].Value.Add(value), rows[n].After.Add(after)
	return rows
}

// adjustmentAccount returns the account on which the adjustment of an asset is, empty if there is none yet.
func (l *lotMeasurer) adjustmentAccount(unit string) string {
	fair, impaired := l.groups()[0].role(unit), l.groups()[1].role(unit)
	if l.group.kind == Impairment {
		return cmp.Or(l.roles[impaired], l.roles[account.RoleTakenOverAdjustment(unit)], l.roles[fair])
	}
	return l.roles[fair]
}
