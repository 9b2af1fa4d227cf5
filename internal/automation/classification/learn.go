package classification

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// learnBatch is how many changes are processed in one database transaction at most.
const learnBatch = 1000

// learn updates the precedents from the bookings since the last call. It reads the audit log, which has all changes in
// the order of their commits. The precedent of each transaction is stored, so that it can be removed when its entry is.
// The latest precedents of each feature are stored together, so that reading them costs the same however long the
// history is.
func (s *Service) learn(ctx context.Context, organizationID string) error {
	pace := s.DB.NewPace(learnBatch)
	for end := false; !end; {
		size := pace.Next()
		err := s.DB.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := orgstate.Lock(ctx, tx); err != nil { // two concurrent calls would count twice
				return err
			}
			defer pace.Measure(size)()
			after, err := selectMark(ctx, tx)
			if err != nil {
				return err
			}
			touched, err := audit.Since(ctx, tx, after, size, transaction.ActionUpdated, transaction.ActionClassified)
			if err != nil || len(touched) == 0 {
				end = true
				return err
			}
			end = len(touched) < size
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

// learnFrom updates the precedents of some transactions to their current state.
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
	c := &changes{features: map[string]*featureChange{}}
	for _, t := range all {
		was, ok := known[t.ID]
		var is *precedentRow
		if target, booked := targets[t.JournalEntryID]; booked && t.Status == transaction.Posted {
			is = precedentOf(t, target)
		}
		if ok && is != nil && was.same(*is) {
			continue
		}
		if ok {
			c.unlearn(was)
		}
		if is != nil {
			c.learn(*is)
		}
	}
	return c.write(ctx, tx)
}

// precedentOf returns the precedent of a transaction, or nil if there is nothing to learn from it.
func precedentOf(t transaction.Transaction, to booking.Target) *precedentRow {
	var keys []string
	for _, f := range classify.Features(subjectOf(t)) {
		keys = append(keys, f.Key())
	}
	if len(keys) == 0 {
		return nil
	}
	features, _ := json.Marshal(keys) // texts can always be encoded
	return &precedentRow{TransactionID: t.ID, LedgerAccountID: to.LedgerAccountID, Type: to.Type, At: t.At, Features: string(features)}
}

// featureChange is how the precedents of a feature change.
type featureChange struct {
	added   []classify.Precedent
	removed []string
}

// changes are the precedents added and removed in one database transaction.
type changes struct {
	added    []precedentRow
	removed  []string
	features map[string]*featureChange
}

func (c *changes) featuresOf(p precedentRow) (out []*featureChange) {
	for _, f := range p.features() {
		if c.features[f] == nil {
			c.features[f] = &featureChange{}
		}
		out = append(out, c.features[f])
	}
	return out
}

func (c *changes) unlearn(p precedentRow) {
	c.removed = append(c.removed, p.TransactionID)
	for _, t := range c.featuresOf(p) {
		t.removed = append(t.removed, p.TransactionID)
	}
}

func (c *changes) learn(p precedentRow) {
	c.added = append(c.added, p)
	for _, t := range c.featuresOf(p) {
		t.added = append(t.added, p.precedent())
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
	stored, err := selectFeatures(ctx, tx, keys)
	if err != nil {
		return err
	}
	written := make(map[string][]classify.Precedent, len(keys))
	for _, k := range keys {
		written[k] = c.features[k].apply(stored[k])
	}
	return writeFeatures(ctx, tx, written)
}

// apply returns the stored precedents with the change, limited to the latest.
func (t *featureChange) apply(stored []classify.Precedent) []classify.Precedent {
	all := slices.DeleteFunc(stored, func(p classify.Precedent) bool { return slices.Contains(t.removed, p.TransactionID) })
	return classify.LatestFirst(append(all, t.added...))
}

// precedentCache holds the precedents that a run has read, by feature.
type precedentCache map[string]*classify.BookingHistory

// precedentCacheMax bounds how many features a run caches.
const precedentCacheMax = 100_000

// load reads the precedents of features that are not cached.
func (h precedentCache) load(ctx context.Context, tx *db.Tx, d *decider, features []string) error {
	if len(h) > precedentCacheMax {
		clear(h)
	}
	missing := slices.DeleteFunc(features, func(f string) bool { _, known := h[f]; return known })
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if len(missing) == 0 {
		return nil
	}
	found, err := selectFeatures(ctx, tx, missing)
	if err != nil {
		return err
	}
	hidden, err := hiddenPrecedents(ctx, tx, found)
	if err != nil {
		return err
	}
	for _, f := range missing {
		h[f] = classify.NewBookingHistory(slices.DeleteFunc(found[f], func(p classify.Precedent) bool {
			a, ok := d.books.Accounts[p.LedgerAccountID]
			return !ok || a.ArchivedAt != nil || !a.Postable || d.foreign[a.ID] || hidden[p.TransactionID]
		}))
	}
	return nil
}

// hiddenPrecedents returns the transactions among precedents that the actor may not see. How another legal entity books its transactions
// is none of its business.
func hiddenPrecedents(ctx context.Context, tx *db.Tx, found map[string][]classify.Precedent) (map[string]bool, error) {
	who := actor.From(ctx)
	if !who.Limited() {
		return nil, nil
	}
	var ids []string
	for _, precedents := range found {
		for _, p := range precedents {
			ids = append(ids, p.TransactionID)
		}
	}
	slices.Sort(ids)
	all, err := transaction.FindSomeUnchecked(ctx, tx, slices.Compact(ids))
	hidden := map[string]bool{}
	for _, t := range all {
		hidden[t.ID] = !who.Sees(t.Source.LegalEntityID)
	}
	return hidden, err
}

// propose suggests classifications from precedents for transactions that no rule decided.
func (h precedentCache) propose(ctx context.Context, tx *db.Tx, d *decider, all []transaction.Transaction, results []Result) error {
	var features []string
	for i, t := range all {
		if results[i].Outcome == Unmatched {
			for _, f := range classify.Features(subjectOf(t)) {
				features = append(features, f.Key())
			}
		}
	}
	if err := h.load(ctx, tx, d, features); err != nil {
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
		r.Outcome, r.LedgerAccountID, r.Type, r.Confidence, r.Examples = Suggested, p.LedgerAccountID, p.TransactionType,
			int64(p.Confidence), p.Examples
		for _, reason := range p.Reasons { // replace the account's id by its name, which people know
			r.Reasons = append(r.Reasons, strings.ReplaceAll(reason, p.LedgerAccountID, d.books.Accounts[p.LedgerAccountID].String()))
		}
	}
	return nil
}
