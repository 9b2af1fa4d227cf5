package transfers

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/transfer"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Ambiguity is a transaction with several possible partners, so that a person must choose.
type Ambiguity struct {
	TransactionID string
	Number        int64
	SourceID      string
	At            time.Time
	Candidates    []string // transaction ids; only the first if there are very many
	Why           string
	FoundAt       time.Time
}

func (a Ambiguity) equal(b Ambiguity) bool {
	return a.Why == b.Why && slices.Equal(a.Candidates, b.Candidates)
}

// Ambiguous lists the ambiguous transactions by number, with those candidates that the actor may see.
func (s *Service) Ambiguous(ctx context.Context, p page.Request) (page.Page[Ambiguity], error) {
	key := func(a Ambiguity) []string { return []string{strconv.FormatInt(a.Number, 10)} }
	return page.List("ambiguous-transactions", struct{}{}, p, key, func(after []string, limit int) (rows []Ambiguity, err error) {
		above := int64(0)
		if after != nil {
			if above, err = strconv.ParseInt(after[0], 10, 64); err != nil {
				return nil, err
			}
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectVisible(ctx, tx, above, limit)
			return err
		})
		return rows, err
	})
}

// selectVisible reads the ambiguities that the actor may see. A limited key sees those that exist among the transactions that it may see:
// the transaction has several candidates there, or its only candidate does.
func selectVisible(ctx context.Context, tx *db.Tx, above int64, limit int) (out []Ambiguity, err error) {
	who := actor.From(ctx)
	if !who.Limited() {
		return selectAmbiguities(ctx, tx, nil, above, limit)
	}
	sources, err := source.IDsOfEntities(ctx, tx, who.LegalEntityIDs)
	if err != nil {
		return nil, err
	}
	for {
		rows, err := selectAmbiguities(ctx, tx, sources, above, limit)
		if err != nil {
			return nil, err
		}
		last := len(rows) < limit
		if !last {
			above = rows[len(rows)-1].Number
		}
		if rows, err = withVisible(ctx, tx, rows); err != nil {
			return nil, err
		}
		if out = append(out, rows...); last || len(out) >= limit {
			return out[:min(len(out), limit)], nil
		}
	}
}

// withVisible returns ambiguities with those candidates that the actor may see, without the ambiguities that do not exist among these.
func withVisible(ctx context.Context, tx *db.Tx, rows []Ambiguity) ([]Ambiguity, error) {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.Candidates...)
	}
	ofCandidates, err := selectAmbiguitiesByID(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for _, a := range ofCandidates {
		ids = append(ids, a.Candidates...)
	}
	visible, err := visibleOf(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	choices := map[string]int{}
	for _, a := range ofCandidates {
		choices[a.TransactionID] = len(a.among(visible).Candidates)
	}
	out := rows[:0]
	for _, r := range rows {
		if r = r.among(visible); len(r.Candidates) > 1 || len(r.Candidates) == 1 && choices[r.Candidates[0]] > 1 {
			out = append(out, r)
		}
	}
	return out, nil
}

// among returns the ambiguity with those candidates only that are visible, and counts these in its reason.
func (a Ambiguity) among(visible map[string]bool) Ambiguity {
	all := len(a.Candidates)
	a.Candidates = slices.DeleteFunc(slices.Clone(a.Candidates), func(id string) bool { return !visible[id] })
	if n := len(a.Candidates); n < all {
		a.Why = transfer.Recount(a.Why, n)
	}
	return a
}

// visibleOf returns which of some transactions the actor may see.
func visibleOf(ctx context.Context, tx *db.Tx, ids []string) (map[string]bool, error) {
	found, err := transaction.FindSomeUnchecked(ctx, tx, ids)
	visible := make(map[string]bool, len(found))
	for _, t := range found {
		visible[t.ID] = actor.From(ctx).Sees(t.Source.LegalEntityID)
	}
	return visible, err
}

// changedAmbiguities compares the stored ambiguities of a span of time with those that were found now. A limited key leaves those as they
// are that concern a transaction which it may not see.
func changedAmbiguities(ctx context.Context, tx *db.Tx, from, end time.Time, now []Ambiguity) (map[string]Ambiguity, []string, error) {
	before, err := selectAmbiguitiesOf(ctx, tx, from, end)
	if err != nil {
		return nil, nil, err
	}
	if actor.From(ctx).Limited() {
		var ids []string
		for _, a := range before {
			ids = append(append(ids, a.TransactionID), a.Candidates...)
		}
		visible, err := visibleOf(ctx, tx, ids)
		if err != nil {
			return nil, nil, err
		}
		kept := map[string]bool{}
		before = slices.DeleteFunc(before, func(a Ambiguity) bool {
			kept[a.TransactionID] = !visible[a.TransactionID] || slices.ContainsFunc(a.Candidates, func(id string) bool { return !visible[id] })
			return kept[a.TransactionID]
		})
		now = slices.DeleteFunc(slices.Clone(now), func(a Ambiguity) bool { return kept[a.TransactionID] })
	}
	fresh, removed := diffAmbiguities(before, now)
	return fresh, removed, nil
}

// replaceAmbiguities stores the ambiguities of a span of time as they are now. It leaves out transactions that were
// linked or marked as spam in the meantime.
func replaceAmbiguities(ctx context.Context, tx *db.Tx, from, end time.Time, now []Ambiguity) error {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return err
	}
	news, removed, err := changedAmbiguities(ctx, tx, from, end, now)
	if err != nil {
		return err
	}
	if err := removeAmbiguities(ctx, tx, removed); err != nil || len(news) == 0 {
		return err
	}
	found, err := transaction.FindSomeUnchecked(ctx, tx, slices.Collect(maps.Keys(news)))
	if err != nil {
		return err
	}
	var rows []Ambiguity
	for _, t := range found {
		if t.Status == transaction.Pending && t.GroupID == "" {
			a := news[t.ID]
			a.FoundAt = tx.Now()
			rows = append(rows, a)
		}
	}
	return insertAmbiguities(ctx, tx, rows)
}

// diffAmbiguities returns the ambiguities to write, by transaction, and the transactions whose ambiguities to delete because
// they are resolved or differ.
func diffAmbiguities(before, now []Ambiguity) (fresh map[string]Ambiguity, removed []string) {
	known := make(map[string]Ambiguity, len(before))
	for _, a := range before {
		known[a.TransactionID] = a
	}
	fresh = map[string]Ambiguity{}
	for _, a := range now {
		if old, ok := known[a.TransactionID]; ok && old.equal(a) {
			delete(known, a.TransactionID)
		} else {
			fresh[a.TransactionID] = a
		}
	}
	return fresh, slices.Sorted(maps.Keys(known))
}
