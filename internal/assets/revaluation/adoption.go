package revaluation

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// adopt plans the entries with which a legal entity adopts fair value at the beginning of the period: the difference between the fair
// value and the carrying amount of what it held then goes to retained earnings. Entries of an adoption that was moved to another day
// are withdrawn.
func (s *subject) adopt(ctx context.Context) error {
	adopts, err := entity.AdoptsFairValueOn(ctx, s.tx, s.LegalEntity, s.period.Key+"-01")
	if err != nil {
		return err
	}
	count := len(s.items)
	if adopts {
		if err := s.adoptAssets(ctx); err != nil {
			return err
		}
	}
	if !s.includes(Adoption) {
		return nil // the lots of other kinds begin with the adoption all the same
	}
	for key, own := range s.own {
		if _, planned := s.opening[key[1]]; key[0] == string(Adoption) && own.EntryID != nil && !planned {
			s.addAdoption(Item{Kind: Adoption, Unit: key[1], Cost: &money.Decimal{}}, nil, nil)
		}
	}
	if adopts || len(s.items) > count {
		s.parts = append(s.parts, Part{s.ID, Adoption, Posted})
	}
	return nil
}

// adoptAssets plans the adoption for every asset that was held at the beginning of the period and is measured at fair value from then
// on. What was booked as its impairment is released.
func (s *subject) adoptAssets(ctx context.Context) error {
	before, err := s.atOpening(ctx)
	if err != nil {
		return err
	}
	fair := before.groups()[0]
	units := before.candidates(fair)
	quotes, err := before.prices(ctx, fair, units)
	if err != nil {
		return err
	}
	for _, f := range before.missing {
		s.addMissing(f)
	}
	s.unpriced = append(s.unpriced, before.unpriced...)
	lots := &lotMeasurer{subject: before, group: assetGroup{kind: Impairment, model: measure.Revalued}, quotes: quotes}
	if err := lots.read(ctx, units); err != nil { // also to compare: what was handed over since has its share of these lots
		return err
	}
	for _, unit := range units {
		h := before.held[unit]
		adjusted := before.adjustment(account.RoleFairValueAdjustment(unit))
		impaired := before.adjustment(account.RoleAccumulatedImpairment(unit))
		upward := before.adjustment(account.RoleTakenOverAdjustment(unit))
		booked := money.Sum(adjusted, impaired, upward)
		value, effect := measure.FairValue(h.quantity, quotes[unit].valueOr(money.Decimal{}), h.cost, adjusted, s.digits)
		rows, _ := lots.measure(unit, measure.Revalued, booked)
		i := Item{Kind: Adoption, Unit: unit, Quantity: h.quantity, Cost: &h.cost, Before: booked,
			Price: quotes[unit], Value: value, After: value.Sub(h.cost)}
		debits := map[string]money.Decimal{account.RoleFairValueAdjustment(unit): effect.Adjustment,
			account.RoleAccumulatedImpairment(unit): impaired.Neg(), account.RoleTakenOverAdjustment(unit): upward.Neg()}
		s.addAdoption(i, debits, s.addRest(rows, i, account.RoleFairValueAdjustment(unit)))
	}
	return nil
}

// atOpening returns the legal entity as it was at the end of the period before, to be measured at fair value.
func (s *subject) atOpening(ctx context.Context) (*subject, error) {
	month, err := calendar.ParseKey(s.period.Key)
	if err != nil {
		return nil, err
	}
	p := &planner{tx: s.tx, books: s.books, period: s.period, asOf: s.period.Start.Add(-time.Millisecond), roles: s.roles}
	p.period.Key = month.Prev().Key()
	out, err := p.read(ctx, s.LegalEntity)
	if err != nil {
		return nil, err
	}
	out.Measurement, out.own, out.earlier = entity.MeasuredAtFairValue, nil, s.earlier
	return out, nil
}

// addAdoption adds the adoption for an asset to the plan. Debits are those on its adjustment accounts, by role; retained earnings are
// credited with all of them.
func (s *subject) addAdoption(i Item, debits map[string]money.Decimal, rows []Row) {
	s.opening[i.Unit] = rows
	if !s.includes(Adoption) {
		return
	}
	var retained money.Decimal
	for _, role := range account.AdjustmentRoles(i.Unit) {
		s.adopted[role] = debits[role].Sub(s.ownOn(Adoption, i.Unit, s.roles[role]))
		i.Lines = append(i.Lines, s.lines(measure.Effect{Adjustment: debits[role]}, role)...)
		retained = retained.Add(debits[role])
	}
	i.Lines = append(i.Lines, s.lines(measure.Effect{Retained: retained}, "")...)
	s.setOutcome(i, rows)
}

// precedes reports whether an item is of a period before the legal entity adopted fair value for its unit, so that the adoption has
// released what it adjusted.
func (s *subject) precedes(at postedItem) bool {
	return s.MeasurementFrom != "" && s.Framework == entity.FrameworkUSGAAP && at.Key+"-01" < s.MeasurementFrom &&
		s.isMeasured(s.groups()[0], at.Unit)
}
