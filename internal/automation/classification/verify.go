package classification

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
)

// Verify returns the violated invariants of runs and precedents: counts that do not match the results, and features
// whose precedents do not match those of the transactions.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	found := finding.New("classification")
	err := runs.Verify(ctx, tx, found, func(r Run, say batchrun.Say) error {
		say(!slices.Contains(Actions, r.Action), "its action %q is not a valid one", r.Action)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := verifyPrecedents(ctx, tx, found); err != nil {
		return nil, err
	}
	return found.Messages(), nil
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
