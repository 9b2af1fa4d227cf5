package classification

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

// Verify returns the violated invariants of runs and precedents: counts that do not match the results, and features
// whose precedents do not match those of the transactions.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	found := finding.New("classification")
	if err := verifyRuns(ctx, tx, found); err != nil {
		return nil, err
	}
	if err := verifyPrecedents(ctx, tx, found); err != nil {
		return nil, err
	}
	return found.Messages(), nil
}

func verifyRuns(ctx context.Context, tx *db.Tx, found *finding.List) error {
	rows, err := selectAllRuns(ctx, tx)
	if err != nil {
		return err
	}
	counted, err := countResults(ctx, tx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		r, err := row.run()
		if err != nil {
			found.Addf("runs that cannot be read", "run %s: its filter or its counts cannot be read", row.ID)
			continue
		}
		say := func(broken bool, format string, args ...any) {
			if broken {
				found.Addf("runs that contradict themselves", "run "+r.ID+": "+format, args...)
			}
		}
		say(!slices.Contains(statuses, r.Status), "its status %q is not a valid one", r.Status)
		say(!slices.Contains(actions, r.Action), "its action %q is not a valid one", r.Action)
		say(r.Status.Ended() != (r.FinishedAt != nil), "it must have an end time if, and only if, it has ended")
		say((r.Status == Failed) != (r.Error != ""), "it must have an error message if, and only if, it failed")
		say(r.Status == Completed && r.Total != r.Done(), "it is completed with %d of %d transactions", r.Done(), r.Total)
		for _, outcome := range outcomes {
			c := counted[resultCount{r.ID, string(outcome)}]
			say(c.Count != r.Counts[outcome], "%d results are %s, but its count is %d", c.Count, outcome, r.Counts[outcome])
			delete(counted, resultCount{r.ID, string(outcome)})
		}
		last, err := lastPosition(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		say(last != r.Done(), "the position of its last result is %d, but it processed %d", last, r.Done())
	}
	for k := range counted {
		found.Addf("results without a run", "there are results %s of the run %s, which does not exist", k.Outcome, k.RunID)
	}
	return nil
}

// verifyPrecedents compares the precedents of features with those of the transactions.
func verifyPrecedents(ctx context.Context, tx *db.Tx, found *finding.List) error {
	has := map[string]int{} // the number of precedents with each feature
	learned := map[string]precedentRow{}
	for after := ""; ; {
		rows, err := selectPrecedentsAfter(ctx, tx, after, learnBatch)
		if err != nil {
			return err
		}
		for _, r := range rows {
			learned[r.TransactionID] = r
			for _, f := range r.features() {
				has[f]++
			}
			after = r.TransactionID
		}
		if len(rows) < learnBatch {
			break
		}
	}
	for after := ""; ; {
		rows, err := selectFeaturesAfter(ctx, tx, after, learnBatch)
		if err != nil {
			return err
		}
		latest, err := precedentsOf(rows)
		if err != nil {
			found.Addf("features that cannot be read", "%v", err)
		}
		for _, row := range rows {
			after = row.Feature
			for _, p := range latest[row.Feature] {
				r, there := learned[p.TransactionID]
				if !there || r.LedgerAccountID != p.LedgerAccountID || r.Type != p.TransactionType || !r.At.Equal(p.At) ||
					!slices.Contains(r.features(), row.Feature) {
					found.Addf("features with a precedent that does not have them",
						"the feature %q lists the precedent %s, which lacks the feature or was booked differently", row.Feature, p.TransactionID)
				}
			}
			if len(latest[row.Feature]) > min(has[row.Feature], classify.PrecedentsMax) {
				found.Addf("features with too many precedents",
					"the feature %q lists %d precedents, but only %d have it", row.Feature, len(latest[row.Feature]), has[row.Feature])
			}
			delete(has, row.Feature)
		}
		if len(rows) < learnBatch {
			break
		}
	}
	for f, n := range has {
		found.Addf("features without precedents", "%d precedents have the feature %q, but it lists none", n, f)
	}
	return nil
}
