package classification

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/bursarhq/bursar/internal/base/finding"
	"github.com/bursarhq/bursar/internal/db"
)

// Check finds what must not be: runs whose results are not those that they count, and votes that nothing speaks for.
func Check(ctx context.Context, tx *db.Tx) ([]string, error) {
	found := finding.About("classification")
	if err := checkRuns(ctx, tx, found); err != nil {
		return nil, err
	}
	if err := checkVotes(ctx, tx, found); err != nil {
		return nil, err
	}
	return found.All(), nil
}

func checkRuns(ctx context.Context, tx *db.Tx, found *finding.List) error {
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
		say(!slices.Contains(Statuses, r.Status), "it cannot be %q", r.Status)
		say(!slices.Contains(Actions, r.Action), "it cannot %q", r.Action)
		say(r.Status.Ended() != (r.FinishedAt != nil), "it has ended and has no end, or the other way round")
		say((r.Status == Failed) != (r.Error != ""), "it failed and does not say why, or the other way round")
		say(r.Status == Completed && r.Total != r.Done(), "it is completed with %d of %d", r.Done(), r.Total)
		for _, outcome := range Outcomes {
			c := counted[resultCount{r.ID, string(outcome)}]
			say(c.Count != r.Counts[outcome], "%d results are %s where it counts %d", c.Count, outcome, r.Counts[outcome])
			delete(counted, resultCount{r.ID, string(outcome)})
		}
		last, err := lastPosition(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		say(last != r.Done(), "its last result is %d of %d", last, r.Done())
	}
	for k := range counted {
		found.Addf("results without a run", "results %s of the run %s: it is not there", k.Outcome, k.RunID)
	}
	return nil
}

// checkVotes counts what features speak for anew.
func checkVotes(ctx context.Context, tx *db.Tx, found *finding.List) error {
	votes, err := selectAllVotes(ctx, tx)
	if err != nil {
		return err
	}
	want := map[voteKey]int64{}
	for after := ""; ; {
		rows, err := selectPrecedentsAfter(ctx, tx, after, learnBatch)
		if err != nil {
			return err
		}
		for _, r := range rows {
			var features []string
			if err := json.Unmarshal([]byte(r.Features), &features); err != nil {
				found.Addf("precedents that cannot be read", "the precedent of %s cannot be read", r.TransactionID)
			}
			for _, f := range features {
				want[voteKey{f, r.LedgerAccountID, r.Type}]++
			}
			after = r.TransactionID
		}
		if len(rows) < learnBatch {
			break
		}
	}
	for _, v := range votes {
		k := voteKey{v.Feature, v.LedgerAccountID, v.Type}
		if want[k] != v.Count {
			found.Addf("votes that are counted wrong", "%q speaks %d times for %s to %s where precedents do %d times", v.Feature, v.Count, v.Type, v.LedgerAccountID, want[k])
		}
		delete(want, k)
	}
	for k, n := range want {
		found.Addf("votes that are counted wrong", "%q speaks %d times for %s to %s and nobody counted it", k.feature, n, k.kind, k.account)
	}
	return nil
}
