package classification

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// learnBatch is how many changes are learned from in one database transaction.
const learnBatch = 1000

// learn follows what was booked since it was last looked at, by the log of all changes, which has them in the order
// in which they were committed. What was learned of a transaction is kept, so that it can be unlearned when its entry
// is undone; of each feature the latest precedents stand together, so that to ask costs the same however long the
// history is.
func (s *Service) learn(ctx context.Context, organizationID string) error {
	for end := false; !end; {
		err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := orgstate.Lock(ctx, tx); err != nil { // two that learn at once would count twice
				return err
			}
			after, err := selectMark(ctx, tx)
			if err != nil {
				return err
			}
			touched, err := audit.Since(ctx, tx, after, learnBatch, transaction.ActionUpdated, transaction.ActionClassified)
			if err != nil || len(touched) == 0 {
				end = true
				return err
			}
			end = len(touched) < learnBatch
			ids := make([]string, len(touched))
			for i, t := range touched {
				ids[i] = t.ResourceID
			}
			slices.Sort(ids)
			all, err := transaction.FindSomeUnchecked(ctx, tx, slices.Compact(ids))
			if err != nil {
				return err
			}
			if err := learnFrom(ctx, tx, all); err != nil {
				return err
			}
			return upsertMark(ctx, tx, touched[len(touched)-1].Sequence)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// learnFrom brings what is known of some transactions to what they are now.
func learnFrom(ctx context.Context, tx *db.Tx, all []transaction.Transaction) error {
	ids, entries := make([]string, len(all)), []string{}
	for i, t := range all {
		if ids[i] = t.ID; t.Status == transaction.Posted && t.GroupID == "" {
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
	c := &changes{features: map[string]*turnover{}}
	for _, t := range all {
		was, there := known[t.ID]
		var is *precedentRow
		if target, booked := targets[t.JournalEntryID]; booked && t.Status == transaction.Posted {
			is = precedentOf(t, target)
		}
		if there && is != nil && was.same(*is) {
			continue
		}
		if there {
			c.unlearn(was)
		}
		if is != nil {
			c.learn(*is)
		}
	}
	return c.write(ctx, tx)
}

// precedentOf is what is learned of a transaction; nil where it says nothing.
func precedentOf(t transaction.Transaction, to booking.Target) *precedentRow {
	var keys []string
	for _, f := range classify.Features(subjectOf(t)) {
		keys = append(keys, f.Key())
	}
	if len(keys) == 0 {
		return nil
	}
	return &precedentRow{TransactionID: t.ID, LedgerAccountID: to.LedgerAccountID, Type: to.Type, At: t.At, Features: textOf(keys)}
}

// turnover is how the precedents of a feature change.
type turnover struct {
	came []classify.Precedent
	went []string
}

// changes are what is learned and unlearned in one transaction.
type changes struct {
	added    []precedentRow
	removed  []string
	features map[string]*turnover
}

func (c *changes) of(p precedentRow) (out []*turnover) {
	for _, f := range p.features() {
		if c.features[f] == nil {
			c.features[f] = &turnover{}
		}
		out = append(out, c.features[f])
	}
	return out
}

func (c *changes) unlearn(p precedentRow) {
	c.removed = append(c.removed, p.TransactionID)
	for _, t := range c.of(p) {
		t.went = append(t.went, p.TransactionID)
	}
}

func (c *changes) learn(p precedentRow) {
	c.added = append(c.added, p)
	for _, t := range c.of(p) {
		t.came = append(t.came, p.precedent())
	}
}

func (c *changes) write(ctx context.Context, tx *db.Tx) error {
	if len(c.features) == 0 {
		return nil
	}
	if err := replacePrecedents(ctx, tx, c.removed, c.added); err != nil {
		return err
	}
	keys := slices.Sorted(maps.Keys(c.features))
	standing, err := selectFeatures(ctx, tx, keys)
	if err != nil {
		return err
	}
	written := make(map[string][]classify.Precedent, len(keys))
	for _, k := range keys {
		written[k] = c.features[k].onto(standing[k])
	}
	return writeFeatures(ctx, tx, written)
}

// onto changes what stands, and keeps the latest.
func (t *turnover) onto(standing []classify.Precedent) []classify.Precedent {
	all := slices.DeleteFunc(standing, func(p classify.Precedent) bool { return slices.Contains(t.went, p.TransactionID) })
	return classify.LatestFirst(append(all, t.came...))
}

// precedentCache are how transactions were booked, by feature, as far as a run has asked. What it knows once it does not ask again.
type precedentCache map[string]*classify.BookingHistory

// precedentCacheMax bounds how many features a run remembers.
const precedentCacheMax = 100_000

// load finds the habits of features that were not asked for before.
func (h precedentCache) load(ctx context.Context, tx *db.Tx, b *snapshot.Books, features []string) error {
	if len(h) > precedentCacheMax {
		clear(h)
	}
	asked := slices.DeleteFunc(features, func(f string) bool { _, known := h[f]; return known })
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if len(asked) == 0 {
		return nil
	}
	found, err := selectFeatures(ctx, tx, asked)
	if err != nil {
		return err
	}
	for _, f := range asked {
		h[f] = classify.NewBookingHistory(slices.DeleteFunc(found[f], func(p classify.Precedent) bool {
			a, there := b.Accounts[p.LedgerAccountID]
			return !there || a.ArchivedAt != nil || !a.Postable
		}))
	}
	return nil
}

// propose looks at what was booked before for what no rule decided.
func (h precedentCache) propose(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []transaction.Transaction, results []Result) error {
	var features []string
	for i, t := range all {
		if results[i].Outcome == Unmatched {
			for _, f := range classify.Features(subjectOf(t)) {
				features = append(features, f.Key())
			}
		}
	}
	if err := h.load(ctx, tx, b, features); err != nil {
		return err
	}
	for i, t := range all {
		if results[i].Outcome != Unmatched {
			continue
		}
		p := classify.Propose(subjectOf(t), func(f classify.Feature) *classify.BookingHistory { return h[f.Key()] })
		if p == nil {
			continue
		}
		r := &results[i]
		r.Outcome, r.LedgerAccountID, r.Type, r.Confidence, r.Examples = Suggested, p.LedgerAccountID, p.TransactionType, int64(
			p.Confidence), p.Examples
		for _, reason := range p.Reasons { // people know accounts by their names
			r.Reasons = append(r.Reasons, strings.ReplaceAll(reason, p.LedgerAccountID, b.Accounts[p.LedgerAccountID].String()))
		}
	}
	return nil
}
