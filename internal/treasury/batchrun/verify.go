package batchrun

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
)

// Say adds a finding about a run if it is broken.
type Say func(broken bool, format string, args ...any)

// Verify finds runs that contradict themselves or their results. The function check finds what else is wrong with a run of this kind.
func (k *Kind[R, W]) Verify(ctx context.Context, tx *db.Tx, found *finding.List, check func(r R, say Say) error) error {
	rows, err := k.selectAllRows(ctx, tx)
	if err != nil {
		return err
	}
	counted, err := k.countResults(ctx, tx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		r, err := k.FromRow(row)
		c := k.Common(&r)
		if err != nil {
			found.Addf("runs that cannot be read", "run %s: its filter or its counts cannot be read", c.ID)
			continue
		}
		say := func(broken bool, format string, args ...any) {
			if broken {
				found.Addf("runs that contradict themselves", "run "+c.ID+": "+format, args...)
			}
		}
		if err := k.verifyCounts(ctx, tx, *c, counted, say); err != nil {
			return err
		}
		if err := check(r, say); err != nil {
			return err
		}
	}
	for of := range counted {
		found.Addf("results without a run", "there are results %s of the run %s, which does not exist", of.Outcome, of.RunID)
	}
	return nil
}

// verifyCounts compares a run with its results, and removes what it has compared from the counts.
func (k *Kind[R, W]) verifyCounts(ctx context.Context, tx *db.Tx, r Run, counted map[resultsOf]int64, say Say) error {
	say(!slices.Contains(statuses, r.Status), "its status %q is not a valid one", r.Status)
	say(r.Status.Ended() != (r.FinishedAt != nil), "it must have an end time if, and only if, it has ended")
	say((r.Status == Failed) != (r.Error != ""), "it must have an error message if, and only if, it failed")
	say(r.Status == Completed && r.Total != r.Done(), "it is completed with %d of %d %s", r.Done(), r.Total, k.Items)
	for _, outcome := range k.Outcomes {
		of := resultsOf{r.ID, string(outcome)}
		say(counted[of] != r.Counts[outcome], "%d results are %s, but its count is %d", counted[of], outcome, r.Counts[outcome])
		delete(counted, of)
	}
	last, err := k.lastPosition(ctx, tx, r.ID)
	say(err == nil && last != r.Done(), "the position of its last result is %d, but it processed %d", last, r.Done())
	return err
}
