package revaluation

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Verify returns a text for every inconsistency in the revaluations of an organization: a wrong status, which includes two runs in force
// for the same legal entity, period and kind, an entry that does not exist, and rows that do not add up to their item. It is a building
// block.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	marked, err := selectWrongStatus(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, p := range marked {
		out = append(out, fmt.Sprintf("revaluation %s: %s of the legal entity %s is marked as %s, but is %s", p.RunID, p.Kind, p.LegalEntityID,
			p.Status, p.Expected))
	}
	lost, err := selectMissingEntries(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, i := range lost {
		out = append(out, fmt.Sprintf("revaluation %s: the entry %s for %s does not exist", i.RunID, i.EntryID, i.Unit))
	}
	sums, err := selectSums(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, s := range sums {
		rows := money.Decimal{}
		if s.Rows != nil {
			rows = *s.Rows
		}
		if !rows.Equal(s.After) {
			out = append(out, fmt.Sprintf("revaluation %s: after %s of %s, the adjustment of the legal entity %s is %s, but its rows add up to %s",
				s.RunID, s.Kind, s.Unit, s.LegalEntityID, s.After, rows))
		}
	}
	return out, nil
}
