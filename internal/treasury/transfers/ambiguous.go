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

// selectVisible reads the ambiguities that the actor may see.
func selectVisible(ctx context.Context, tx *db.Tx, above int64, limit int) ([]Ambiguity, error) {
	who := actor.From(ctx)
	if len(who.LegalEntityIDs) == 0 {
		return selectAmbiguities(ctx, tx, nil, above, limit)
	}
	all, err := source.AllUnchecked(ctx, tx)
	if err != nil {
		return nil, err
	}
	sources := []string{}
	for _, s := range all {
		if who.Sees(s.LegalEntityID) {
			sources = append(sources, s.ID)
		}
	}
	rows, err := selectAmbiguities(ctx, tx, sources, above, limit)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.Candidates...)
	}
	candidates, err := transaction.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	visible := map[string]bool{}
	for _, t := range candidates {
		visible[t.ID] = who.Sees(t.Source.LegalEntityID)
	}
	for i := range rows {
		rows[i].Candidates = slices.DeleteFunc(rows[i].Candidates, func(id string) bool { return !visible[id] })
	}
	return rows, nil
}

// replaceAmbiguities stores the ambiguities of a span of time as they are now. It leaves out transactions that were
// linked or marked as spam in the meantime.
func replaceAmbiguities(ctx context.Context, tx *db.Tx, from, end time.Time, now []Ambiguity) error {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return err
	}
	before, err := selectAmbiguitiesOf(ctx, tx, from, end)
	if err != nil {
		return err
	}
	news, removed := diffAmbiguities(before, now)
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
