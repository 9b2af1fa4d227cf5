package booking

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/asset"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// write writes down what a replay found, and gives the drafts after something late the lines they have now.
func (s *Service) write(ctx context.Context, tx *db.Tx, b *snapshot.Books, replay *asset.Replay, refs map[string]asset.Ref) error {
	if err := replay.Write(ctx, refs); err != nil {
		return err
	}
	late := replay.Late()
	if len(late) == 0 {
		return nil
	}
	var since time.Time
	for _, at := range late {
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	drafts, err := selectDrafts(ctx, tx, since)
	if err != nil || len(drafts) == 0 {
		return err
	}
	works, err := loader(b)(ctx, tx, drafts)
	if err != nil {
		return err
	}
	var stale []string
	for _, id := range drafts {
		w, there := works[id]
		if there && slices.ContainsFunc(asset.PoolsOf(b, w), func(pool string) bool { _, is := late[pool]; return is }) {
			stale = append(stale, id)
		}
	}
	return s.redraft(ctx, tx, b, stale, works)
}

// redraft makes the lines of drafts anew.
func (s *Service) redraft(ctx context.Context, tx *db.Tx, b *snapshot.Books, ids []string, works map[string]asset.Work) error {
	if len(ids) == 0 {
		return nil
	}
	ctx = actor.With(ctx, unlimited(actor.From(ctx)))
	entries, err := journal.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		look := asset.NewReplay(tx, b, loader(b), true)
		look.Add(id, works[id])
		if err := look.Run(ctx); err != nil {
			if fault.KindOf(err) == fault.Conflict { // it cannot be posted as it is, and says so when it is looked at
				continue
			}
			return err
		}
		lines := linesOf(look.Entry(id))
		if len(difference(lines, paramsOf(entries[id].Lines))) == 0 {
			continue
		}
		if _, err := s.journal.Redraft(ctx, tx, entries[id], lines); err != nil {
			return err
		}
	}
	return nil
}
