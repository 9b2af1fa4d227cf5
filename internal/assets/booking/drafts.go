package booking

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// write stores an outcome, and updates the lines of later drafts that consume from a recomputed pool.
func (s *Service) write(ctx context.Context, tx *db.Tx, b *snapshot.Books, outcome *replay.Outcome, refs map[string]lots.EntryRef) error {
	if err := outcome.Write(ctx, refs); err != nil {
		return err
	}
	if len(outcome.Recomputed) == 0 {
		return nil
	}
	var since time.Time
	for _, at := range outcome.Recomputed {
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	drafts, err := journal.DraftsOfTransactions(ctx, tx, since)
	if err != nil || len(drafts) == 0 {
		return err
	}
	effects, err := loader(b)(ctx, tx, drafts)
	if err != nil {
		return err
	}
	var stale []string
	for _, id := range drafts {
		e, there := effects[id]
		if there && slices.ContainsFunc(e.ConsumedPools(b), func(pool string) bool { _, is := outcome.Recomputed[pool]; return is }) {
			stale = append(stale, id)
		}
	}
	return s.updateDrafts(ctx, tx, b, stale, effects)
}

// updateDrafts sets the lines of drafts to those that they would have now.
func (s *Service) updateDrafts(ctx context.Context, tx *db.Tx, b *snapshot.Books, ids []string, effects map[string]replay.Effect) error {
	if len(ids) == 0 {
		return nil
	}
	ctx = actor.With(ctx, unlimited(actor.From(ctx)))
	entries, err := journal.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		effect := effects[id]
		added, err := previewEffect(ctx, tx, b, &effect)
		if err != nil {
			if fault.KindOf(err) == fault.Conflict { // it cannot be posted as it is; Get shows the reason as a warning
				continue
			}
			return err
		}
		lines := linesOf(added.Entry)
		if len(difference(lines, paramsOf(entries[id].Lines))) == 0 {
			continue
		}
		if _, err := s.journal.ReplaceDraftLines(ctx, tx, entries[id], lines); err != nil {
			return err
		}
	}
	return nil
}

// unlimited returns the actor without its limits to legal entities: drafts and true-ups of an entry follow it in every legal entity, also
// in those that the actor may not see.
func unlimited(who actor.Actor) actor.Actor {
	who.LegalEntityIDs = nil
	return who
}
