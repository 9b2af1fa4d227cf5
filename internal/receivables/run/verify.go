package run

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/rules/match"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
)

// Verify returns the violated invariants of runs: counts that do not match the results, and results about cash applications that do not
// exist or are those of other deposits.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	found := finding.New("cash application runs")
	err := runs.Verify(ctx, tx, found, func(r Run, say batchrun.Say) error {
		say(r.MinConfidence.Cmp(match.CertainMin) < 0 || r.MinConfidence.Cmp(money.FromInt(1)) > 0, "its confidence is %s", r.MinConfidence)
		for _, outcome := range runs.Outcomes {
			n, undoes := r.Counts[outcome], outcome == Voided || outcome == Kept
			say(n > 0 && undoes != (r.UndoesID != ""), "its results must not be %s", outcome)
			say(n > 0 && (outcome == Applied && r.Dry || outcome == Certain && !r.Dry), "its results must not be %s", outcome)
		}
		return verifyMade(ctx, tx, r.ID, found)
	})
	return found.Messages(), err
}

// verifyMade finds results about cash applications that do not exist, or that are those of other deposits.
func verifyMade(ctx context.Context, tx *db.Tx, runID string, found *finding.List) error {
	for above := int64(0); ; {
		rows, err := selectMade(ctx, tx, runID, above, readMax)
		if err != nil || len(rows) == 0 {
			return err
		}
		var ids []string
		for _, r := range rows {
			if r.ApplicationID != nil {
				ids = append(ids, *r.ApplicationID)
			}
		}
		deposits, err := application.DepositsUnchecked(ctx, tx, ids)
		if err != nil {
			return err
		}
		for _, r := range rows {
			above = r.Position
			made := slices.Contains([]batchrun.Outcome{Applied, Voided, Kept}, batchrun.Outcome(r.Outcome))
			if made != (r.ApplicationID != nil) || made && deposits[*r.ApplicationID] != r.TransactionID {
				found.Addf("results without a cash application", "result %d of the run %s: it is %s, but its deposit has no such cash application",
					r.Position, r.RunID, r.Outcome)
			}
		}
	}
}
