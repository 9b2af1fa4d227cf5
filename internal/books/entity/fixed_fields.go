package entity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// changesElection reports whether a change is a new election of cost basis.
func (e LegalEntity) changesElection(after LegalEntity) bool {
	return e.election(time.Time{}) != after.election(time.Time{})
}

// validateFixedFields returns a conflict that lists every changed field that existing bookings depend on.
func (s *Service) validateFixedFields(ctx context.Context, tx *db.Tx, before, after LegalEntity) error {
	var fields []fault.Field
	blame := func(field, why string) {
		if why != "" {
			fields = append(fields, fault.Field{Name: field, Message: why})
		}
	}
	for _, f := range []struct{ name, was, is string }{
		{"base_currency", before.BaseCurrency, after.BaseCurrency}, {"cost_basis_scope", before.CostBasisScope, after.CostBasisScope},
	} {
		if f.was == f.is {
			continue
		}
		why, err := reasonFixed(ctx, tx, f.name, after.ID)
		if err != nil {
			return err
		}
		blame(f.name, why)
	}
	if before.changesElection(after) {
		why, err := s.reasonTooEarly(ctx, tx, after)
		if err != nil {
			return err
		}
		blame("cost_basis_from", why)
	}
	if before.changesMeasurement(after) {
		why, err := s.reasonNotFrom(ctx, tx, after)
		if err != nil {
			return err
		}
		blame("measurement_from", why)
	}
	if len(fields) == 0 {
		return nil
	}
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.Name + " " + f.Message
	}
	return fault.ConflictAt(fields, "%s", strings.Join(texts, "; "))
}

// reasonFixed returns why a field cannot change, or nothing if it can: booked amounts are in the base currency of the legal entity,
// and lots are in the pools of its scope.
func reasonFixed(ctx context.Context, tx *db.Tx, field, legalEntityID string) (string, error) {
	uses, err := reference.Fixing(ctx, tx, table, field, legalEntityID)
	if err != nil || len(uses) == 0 {
		return "", err
	}
	return "cannot be changed after something was booked with it: the legal entity has " + uses.String(), nil
}

// reasonTooEarly returns why an election cannot be effective from its first day on, or nothing if it can: it must not change
// disposals that are booked.
func (s *Service) reasonTooEarly(ctx context.Context, tx *db.Tx, e LegalEntity) (string, error) {
	last, err := s.lastDisposal(ctx, tx, e.ID)
	if err != nil || last == nil {
		return "", err
	}
	name, err := orgstate.Timezone(ctx, tx)
	if err != nil {
		return "", err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return "", err
	}
	day := last.In(zone).Format(time.DateOnly)
	if e.CostBasisFrom > day {
		return "", nil
	}
	return fmt.Sprintf("must be after %s, the day of the last disposal, because an election of cost basis holds for the future", day), nil
}
