package books

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Records says what events contain of the resources of the group.
func Records() []wire.Record {
	entry := wire.RecordAt("journal_entry", "/v1/journal-entries/{journal_entry_id}", "journal_entry.created", "journal_entry.updated",
		"journal_entry.posted", "journal_entry.unposted", "journal_entry.reversed", "journal_entry.deleted", "journal_entry.synced",
		"journal_entry.unsynced", "journal_entry.sync_failed").Without("lots", "changes")
	return []wire.Record{
		wire.RecordAt("legal_entity", "/v1/legal-entities/{legal_entity_id}", "legal_entity.created", "legal_entity.updated",
			"legal_entity.deleted"),
		wire.Viewed(wire.RecordAt("ledger_account", "/v1/ledger-accounts/{ledger_account_id}", "ledger_account.created",
			"ledger_account.updated", "ledger_account.archived", "ledger_account.unarchived", "ledger_account.deleted"),
			func(ctx context.Context, a account.Account) LedgerAccount {
				return ViewLedgerAccount(actor.From(ctx), a)
			}),
		wire.Viewed(wire.RecordAt("tag", "/v1/tags/{tag_id}", "tag.created", "tag.updated", "tag.deleted"),
			func(_ context.Context, t tag.Tag) Tag { return viewTag(t) }),
		wire.ViewedIn(entry, func(ctx context.Context, tx *db.Tx, e journal.Entry) (JournalEntry, error) {
			b, err := snapshot.Lock(ctx, tx)
			if err != nil {
				return JournalEntry{}, err
			}
			// A new entry was never sent anywhere.
			if e.Synced == nil && !e.UpdatedAt.Equal(e.CreatedAt) {
				found, err := glsync.Markers(ctx, tx, []string{e.ID})
				if err != nil {
					return JournalEntry{}, err
				}
				e.Synced = found[e.ID]
			}
			return viewEntry(tx.Organization(), journal.Shown(e, b)), nil
		}),
		wire.RecordAt("accounting_period", "/v1/accounting-periods/{accounting_period_id}", "accounting_period.closed",
			"accounting_period.reopened"),
		wire.RecordAt("fx_rate", "", "fx_rate.stored"),
	}
}
