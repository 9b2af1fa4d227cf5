package run

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// Verify returns the violated invariants of runs: counts that do not match the results, and results about cash applications that do not
// exist or are those of other deposits.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	found := finding.New("cash application runs")
	rows, err := db.All[runRow](ctx, tx, selectRunRows+" ORDER BY run_id")
	if err != nil {
		return nil, err
	}
	counted, err := countResults(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		r, err := row.run()
		if err != nil {
			found.Addf("runs that cannot be read", "run %s: its filter or its counts cannot be read", row.ID)
			continue
		}
		if err := verifyRun(ctx, tx, r, counted, found); err != nil {
			return nil, err
		}
	}
	for k := range counted {
		found.Addf("results without a run", "there are results %s of the run %s, which does not exist", k.Outcome, k.RunID)
	}
	return found.Messages(), nil
}

// verifyMade finds results about cash applications that do not exist, or that are those of other deposits.
func verifyMade(ctx context.Context, tx *db.Tx, runID string, found *finding.List) error {
	for above := int64(0); ; {
		rows, err := selectMade(ctx, tx, runID, above, batchMax)
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
			made := slices.Contains([]Outcome{Applied, Voided, Kept}, Outcome(r.Outcome))
			if made != (r.ApplicationID != nil) || made && deposits[*r.ApplicationID] != r.TransactionID {
				found.Addf("results without a cash application", "result %d of the run %s: it is %s, but its deposit has no such cash application",
					r.Position, r.RunID, r.Outcome)
			}
		}
	}
}

// verifyRun compares a run with its results, and removes what it has compared from the counts.
func verifyRun(ctx context.Context, tx *db.Tx, r Run, counted map[resultCount]int64, found *finding.List) error {
	say := func(broken bool, format string, args ...any) {
		if broken {
			found.Addf("runs that contradict themselves", "run "+r.ID+": "+format, args...)
		}
	}
	say(!slices.Contains(statuses, r.Status), "its status %q is not a valid one", r.Status)
	say(r.MinConfidence.Cmp(match.CertainMin) < 0 || r.MinConfidence.Cmp(money.FromInt(1)) > 0, "its confidence is %s", r.MinConfidence)
	say(r.Status.Ended() != (r.FinishedAt != nil), "it must have an end time if, and only if, it has ended")
	say((r.Status == Failed) != (r.Error != ""), "it must have an error message if, and only if, it failed")
	say(r.Status == Completed && r.Total != r.Done(), "it is completed with %d of %d deposits", r.Done(), r.Total)
	for _, outcome := range outcomes {
		k := resultCount{r.ID, string(outcome)}
		say(counted[k] != r.Counts[outcome], "%d results are %s, but its count is %d", counted[k], outcome, r.Counts[outcome])
		delete(counted, k)
		undoes := outcome == Voided || outcome == Kept
		say(r.Counts[outcome] > 0 && undoes != (r.UndoesID != ""), "its results must not be %s", outcome)
		say(r.Counts[outcome] > 0 && (outcome == Applied && r.Dry || outcome == Certain && !r.Dry), "its results must not be %s", outcome)
	}
	last, err := lastPosition(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	say(last != r.Done(), "the position of its last result is %d, but it processed %d", last, r.Done())
	return verifyMade(ctx, tx, r.ID, found)
}
