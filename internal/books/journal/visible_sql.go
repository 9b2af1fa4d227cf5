package journal

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// HiddenIDs returns those of some entries that the actor may not see, although they may see some of their lines: the entry or another line
// belongs to a legal entity outside the actor's key. Nothing of the entry itself, such as its memo, is shown to them. It runs in the
// caller's transaction.
func HiddenIDs(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]bool, error) {
	who := actor.From(ctx)
	if !who.Limited() || len(entryIDs) == 0 {
		return nil, nil
	}
	ids, err := db.All[string](ctx, tx, "SELECT e.journal_entry_id FROM journal_entries e WHERE e.organization_id = @org "+
		"AND e.journal_entry_id {any} AND NOT ("+entirelyVisible+")", entryIDs, who.LegalEntityIDs, who.LegalEntityIDs)
	hidden := make(map[string]bool, len(ids))
	for _, id := range ids {
		hidden[id] = true
	}
	return hidden, err
}

// BlankHidden calls blank for each row that is of an entry which the actor may not see, to remove what the row says of the entry. It runs
// in the caller's transaction.
func BlankHidden[T any](ctx context.Context, tx *db.Tx, rows []T, entryID func(T) string, blank func(*T)) error {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = entryID(r)
	}
	hidden, err := HiddenIDs(ctx, tx, ids)
	for i, id := range ids {
		if hidden[id] {
			blank(&rows[i])
		}
	}
	return err
}
