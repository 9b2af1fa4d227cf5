package journal

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// shareOfEntry begins a condition on the legal entities, other than its own, that an entry has lines of.
const shareOfEntry = `EXISTS (SELECT 1 FROM journal_shares o WHERE o.organization_id = e.organization_id AND o.journal_entry_id =
	e.journal_entry_id AND `

// partlyVisible is the condition that an entry or one of its lines belongs to some legal entities, which are its two arguments.
const partlyVisible = "(e.legal_entity_id {any} OR " + shareOfEntry + "o.legal_entity_id {any}))"

// entirelyVisible is the condition that an entry and all its lines belong to some legal entities, which are its two arguments.
const entirelyVisible = "e.legal_entity_id {any} AND NOT " + shareOfEntry + "NOT (o.legal_entity_id {any}))"

// blankNeighbors removes the ids of entries of which the actor may see nothing from the chains of entries. It runs in the caller's
// transaction.
func blankNeighbors(ctx context.Context, tx *db.Tx, entries []Guided) error {
	who := actor.From(ctx)
	var ids []string
	for _, e := range entries {
		for _, id := range []string{e.PreviousID, e.NextID} {
			if id != "" {
				ids = append(ids, id)
			}
		}
	}
	if !who.Limited() || len(ids) == 0 {
		return nil
	}
	seen, err := db.All[string](ctx, tx, "SELECT e.journal_entry_id FROM journal_entries e WHERE e.organization_id = @org "+
		"AND e.journal_entry_id {any} AND "+partlyVisible, ids, who.LegalEntityIDs, who.LegalEntityIDs)
	for i := range entries {
		for _, id := range []*string{&entries[i].PreviousID, &entries[i].NextID} {
			if !slices.Contains(seen, *id) {
				*id = ""
			}
		}
	}
	return err
}

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
