package revaluation

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Verify finds what must not be in an organization's revaluations: two that stand for the same, an entry that is not
// there, lots that do not add up to the adjustment they share.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	twice, err := selectDuplicates(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, p := range twice {
		out = append(out, fmt.Sprintf("revaluation %s: another one stands for %s of %s in %s", p.RunID, p.Kind, p.LegalEntityID, p.PeriodID))
	}
	lost, err := selectMissingEntries(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, i := range lost {
		out = append(out, fmt.Sprintf("revaluation %s: the entry %s for %s is not there", i.RunID, i.EntryID, i.Unit))
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
			out = append(out, fmt.Sprintf("revaluation %s: %s %s of %s stands at %s and its rows at %s", s.RunID, s.Kind, s.Unit,
				s.LegalEntityID, s.After, rows))
		}
	}
	return out, nil
}
