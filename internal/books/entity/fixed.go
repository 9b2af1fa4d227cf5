package entity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// elects tells whether a change is a new election of cost basis.
func (e LegalEntity) elects(after LegalEntity) bool {
	return e.election(time.Time{}) != after.election(time.Time{})
}

// checkFixed refuses to change what the books that there are already follow from, and says all of it.
func checkFixed(ctx context.Context, tx *db.Tx, before, after LegalEntity) error {
	var fields []fault.Field
	blame := func(field, why string) {
		if why != "" {
			fields = append(fields, fault.Field{Name: field, Message: why})
		}
	}
	for _, f := range fixed {
		if f.of(before) == f.of(after) {
			continue
		}
		why, err := f.why(ctx, tx, after.ID)
		if err != nil {
			return err
		}
		blame(f.name, why)
	}
	if before.elects(after) {
		why, err := whyTooEarly(ctx, tx, after)
		if err != nil {
			return err
		}
		blame("cost_basis_from", why)
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

// fixed are the fields that cannot change once some tables name the entity: amounts are in its currency, and lots in
// the pools of its scope.
var fixed = []fixedField{
	{"base_currency", func(e LegalEntity) string { return e.BaseCurrency }, []string{"journal_lines", "lots"}},
	{"cost_basis_scope", func(e LegalEntity) string { return e.CostBasisScope }, []string{"lots", "lot_uses"}},
}

type fixedField struct {
	name   string
	of     func(LegalEntity) string
	tables []string
}

// why says what keeps a field from being changed, if anything does.
func (f fixedField) why(ctx context.Context, tx *db.Tx, legalEntityID string) (string, error) {
	var uses []string
	for _, r := range referrers {
		if !slices.Contains(f.tables, r.table) {
			continue
		}
		used, err := selectUse(ctx, tx, r.count, legalEntityID)
		if err != nil {
			return "", err
		}
		if used.Count > 0 {
			uses = append(uses, used.text(r.label))
		}
	}
	if uses == nil {
		return "", nil
	}
	return "is fixed once something was booked by it, and the legal entity has " + strings.Join(uses, ", "), nil
}

// whyTooEarly says why an election cannot hold from its first day on: it would rewrite what was booked.
func whyTooEarly(ctx context.Context, tx *db.Tx, e LegalEntity) (string, error) {
	last, err := selectLastDisposal(ctx, tx, e.ID)
	if err != nil || last.At == nil {
		return "", err
	}
	zone, err := time.LoadLocation(last.Zone)
	if err != nil {
		return "", err
	}
	day := last.At.In(zone).Format(time.DateOnly)
	if e.CostBasisFrom > day {
		return "", nil
	}
	return fmt.Sprintf("must be after %s, the day of the last disposal, because an election of cost basis holds for the future", day), nil
}
