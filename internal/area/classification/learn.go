package classification

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/area/booking"
	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/area/head"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

const (
	// learnBatch is how many transactions are learned from in one database transaction.
	learnBatch = 1000
	// overlap is how far is looked back each time: whoever changes a transaction may commit after somebody who began later.
	overlap = 2 * time.Minute
)

// learn follows what was booked since it was last looked at. What was learned of a transaction is kept, so that it can be unlearned when its entry
// is undone; what each feature speaks for is counted, so that to ask costs the same however long the history is.
func (s *Service) learn(ctx context.Context, organizationID string) error {
	for end := false; !end; {
		err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := head.Lock(ctx, tx); err != nil { // two that learn at once would count twice
				return err
			}
			at, err := selectMark(ctx, tx)
			if err != nil {
				return err
			}
			all, err := txn.Changed(ctx, tx, at.UpdatedAt, at.Number, learnBatch)
			if err != nil {
				return err
			}
			if err := learnFrom(ctx, tx, all); err != nil {
				return err
			}
			if end = len(all) < learnBatch; len(all) > 0 {
				last := all[len(all)-1]
				at = mark{last.UpdatedAt, last.Number}
			}
			if back := tx.Now().Add(-overlap); end && at.UpdatedAt.After(back) {
				at = mark{back, 0}
			}
			return upsertMark(ctx, tx, at)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// learnFrom brings what is known of some transactions to what they are now.
func learnFrom(ctx context.Context, tx *db.Tx, all []txn.Transaction) error {
	ids, entries := make([]string, len(all)), []string{}
	for i, t := range all {
		if ids[i] = t.ID; t.Status == txn.Posted && t.GroupID == "" {
			entries = append(entries, t.JournalEntryID)
		}
	}
	targets, err := booking.Targets(ctx, tx, entries)
	if err != nil {
		return err
	}
	known, err := selectPrecedents(ctx, tx, ids)
	if err != nil {
		return err
	}
	c := &changes{votes: map[voteKey]*tally{}}
	for _, t := range all {
		was, there := known[t.ID]
		var is *precedentRow
		if target, booked := targets[t.JournalEntryID]; booked && t.Status == txn.Posted {
			is = precedentOf(t, target)
		}
		if there && is != nil && was.same(*is) {
			continue
		}
		if there {
			c.removed = append(c.removed, t.ID)
			c.count(was, -1)
		}
		if is != nil {
			c.added = append(c.added, *is)
			c.count(*is, 1)
		}
	}
	return c.write(ctx, tx)
}

// precedentOf is what is learned of a transaction; nil where it says nothing.
func precedentOf(t txn.Transaction, to booking.Target) *precedentRow {
	var keys []string
	for _, f := range classify.Features(subjectOf(t)) {
		keys = append(keys, f.Key())
	}
	if len(keys) == 0 {
		return nil
	}
	return &precedentRow{t.ID, to.LedgerAccountID, to.Type, t.At, textOf(keys)}
}

// voteKey is what a feature speaks for.
type voteKey struct{ feature, account, kind string }

// tally is how a count changes.
type tally struct {
	count    int64
	last     time.Time
	examples []example // that came
	gone     []string  // that went
}

// example is a transaction that a vote rests on.
type example struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// examplesKept is how many of them are kept of each vote, the latest.
const examplesKept = 5

// changes are what is learned and unlearned in one transaction.
type changes struct {
	added   []precedentRow
	removed []string
	votes   map[voteKey]*tally
}

func (c *changes) count(p precedentRow, n int64) {
	var features []string
	_ = json.Unmarshal([]byte(p.Features), &features) // it was written by precedentOf
	for _, f := range features {
		k := voteKey{f, p.LedgerAccountID, p.Type}
		if c.votes[k] == nil {
			c.votes[k] = &tally{}
		}
		v := c.votes[k]
		v.count += n
		if n > 0 {
			v.examples = append(v.examples, example{p.TransactionID, p.At})
		} else {
			v.gone = append(v.gone, p.TransactionID)
		}
	}
}

func (c *changes) write(ctx context.Context, tx *db.Tx) error {
	if len(c.votes) == 0 {
		return nil
	}
	if err := replacePrecedents(ctx, tx, c.removed, c.added); err != nil {
		return err
	}
	var features []string
	for k := range c.votes {
		features = append(features, k.feature)
	}
	slices.Sort(features)
	rows, err := selectVotes(ctx, tx, slices.Compact(features))
	if err != nil {
		return err
	}
	standing := map[voteKey]voteRow{}
	for _, r := range rows {
		standing[voteKey{r.Feature, r.LedgerAccountID, r.Type}] = r
	}
	var written []voteRow
	for k, t := range c.votes {
		written = append(written, t.onto(k, standing[k]))
	}
	slices.SortFunc(written, func(a, b voteRow) int { // always in the same order
		return cmp.Or(cmp.Compare(a.Feature, b.Feature), cmp.Compare(a.LedgerAccountID, b.LedgerAccountID), cmp.Compare(a.Type, b.Type))
	})
	return writeVotes(ctx, tx, written)
}

// onto adds a tally to what stands.
func (t *tally) onto(k voteKey, r voteRow) voteRow {
	var all []example
	_ = json.Unmarshal([]byte(r.Examples), &all) // none where there is no row
	all = append(all, t.examples...)
	all = slices.DeleteFunc(all, func(e example) bool {
		return slices.Contains(t.gone, e.ID) && !slices.ContainsFunc(t.examples, func(came example) bool { return came.ID == e.ID })
	})
	slices.SortFunc(all, func(a, b example) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID))
	})
	all = slices.CompactFunc(all, func(a, b example) bool { return a.ID == b.ID })
	r = voteRow{k.feature, k.account, k.kind, r.Count + t.count, r.Last, ""}
	if len(all) > 0 {
		r.Last = all[0].At
	}
	r.Examples = textOf(all[:min(len(all), examplesKept)])
	return r
}

// propose looks at what was booked before for what no rule decided.
func propose(ctx context.Context, tx *db.Tx, b *books.Books, all []txn.Transaction, results []Result) error {
	features := make([][]classify.Feature, len(all))
	var keys []string
	for i, t := range all {
		if results[i].Outcome != Unmatched {
			continue
		}
		features[i] = classify.Features(subjectOf(t))
		for _, f := range features[i] {
			keys = append(keys, f.Key())
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	rows, err := selectVotes(ctx, tx, slices.Compact(keys))
	if err != nil {
		return err
	}
	votes := map[string][]classify.Vote{}
	for _, r := range rows {
		if a, there := b.Accounts[r.LedgerAccountID]; there && a.ArchivedAt == nil && a.Postable {
			votes[r.Feature] = append(votes[r.Feature], r.vote())
		}
	}
	for i := range all {
		p := classify.Propose(features[i], func(f classify.Feature) []classify.Vote { return votes[f.Key()] })
		if p == nil {
			continue
		}
		r := &results[i]
		r.Outcome, r.LedgerAccountID, r.Type, r.Confidence, r.Reasons, r.Examples = Suggested, p.LedgerAccountID, p.TransactionType, p.Confidence, p.Reasons, p.Examples
	}
	return nil
}
