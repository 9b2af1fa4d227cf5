package books

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// withSynced adds to entries what general ledgers have of them.
func (h handlers) withSynced(ctx context.Context, all []journal.Guided) error {
	ids := make([]string, len(all))
	for i, g := range all {
		ids[i] = g.ID
	}
	found, err := h.app.GeneralLedger.Markers(ctx, actor.From(ctx).OrganizationID, ids)
	for i := range all {
		all[i].AddSynced(found[all[i].ID])
	}
	return err
}

// showSynced shows what general ledgers have of an entry. A key that does not see all of the entry sees nothing of it.
func (e *JournalEntry) showSynced(of journal.Entry) {
	s := of.Synced
	if s == nil || of.Partial {
		return
	}
	e.SyncDate, e.LastSyncedAt, e.LastUnsyncedAt = wire.TimestampOrNull(s.FirstAt), wire.TimestampOrNull(s.LastAt),
		wire.TimestampOrNull(s.RemovedAt)
	e.IsSync = s.Present
	if a := s.Attempt; a != nil {
		e.LatestSync.Value = &GLSyncAttempt{ID: a.ID, Action: a.Action, Status: a.Status, Provider: a.Provider,
			ExternalID: db.OrNull(a.ExternalID), AttemptedAt: wire.Timestamp(a.At), Error: db.OrNull(a.Error), ErrorCode: db.OrNull(a.ErrorCode)}
	}
}
