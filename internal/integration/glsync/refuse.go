package glsync

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// refuse makes the attempts that were planned as blocked failed ones, because the others are made. Their entries say so. It announces only
// those that did not fail the last time for the same reason.
func (w *work) refuse(ctx context.Context) error {
	for more := w.run.Kind == Sync; more && !w.run.CancelRequested; {
		err := w.write(ctx, func(ctx context.Context, tx *db.Tx) error {
			attempts, err := selectAttempts(ctx, tx, w.run.ID, AttemptFilter{Status: AttemptBlocked}, 0, planTogether)
			if more = len(attempts) == planTogether; err != nil || len(attempts) == 0 {
				return err
			}
			entries, rows, err := w.recordsOf(ctx, tx, attempts)
			if err != nil {
				return err
			}
			before, err := selectLatestOfParts(ctx, tx, w.run.ConnectionID, attempts)
			if err != nil {
				return err
			}
			now := tx.Now()
			for n := range attempts {
				a := &attempts[n]
				a.Status, a.AttemptedAt = AttemptFailed, &now
				if b := before[entryPart{a.EntryID, a.part}]; b.Status == a.Status && b.Action == a.Action && b.Error == a.Error {
					continue
				}
				announce(ctx, tx, entries[a.EntryID], *a, syncedOf(rows[a.EntryID], a.part))
			}
			w.run.Counts[string(AttemptFailed)] += int64(len(attempts))
			if w.run.Counts[string(AttemptBlocked)] -= int64(len(attempts)); w.run.Counts[string(AttemptBlocked)] == 0 {
				delete(w.run.Counts, string(AttemptBlocked))
			}
			return upsertAttempts(ctx, tx, attempts)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// syncedOf returns what is shown of a part of an entry with it; nil if it was never sent.
func syncedOf(rows []journalRow, part string) *journal.Synced {
	for _, r := range rows {
		if r.Part == part {
			return r.synced()
		}
	}
	return nil
}

// announce records what came of an attempt with its entry.
func announce(ctx context.Context, tx *db.Tx, e journal.Entry, a Attempt, synced *journal.Synced) {
	action := "journal_entry.synced"
	switch {
	case a.Status == AttemptFailed:
		action = "journal_entry.sync_failed"
	case a.Action == Remove:
		action = "journal_entry.unsynced"
	}
	if synced == nil {
		synced = &journal.Synced{}
	}
	synced.Attempt, e.Synced = a.shown(), synced
	facts := map[string]any{"id": e.ID, "sequence_number": e.SequenceNumber(), "gl_sync_attempt_id": a.ID, "connection_id": a.ConnectionID,
		"provider": a.Provider, "action": a.Action, "status": a.Status, "external_id": db.OrNull(a.ExternalID), "error": db.OrNull(a.Error),
		"error_code": db.OrNull(a.Code)}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: "journal_entry", ResourceID: e.ID, After: facts, Object: e})
}
