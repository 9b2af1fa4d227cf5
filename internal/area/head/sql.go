package head

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

func find(ctx context.Context, tx *db.Tx, how string) (Head, error) {
	return db.One[Head](ctx, tx, "organization", "SELECT "+db.Columns[Head]()+" FROM heads WHERE organization_id = @org "+how)
}

func update(ctx context.Context, tx *db.Tx, h Head) error {
	_, err := tx.Exec(ctx, "UPDATE heads SET audit_sequence = ?, audit_hash = ?, event_sequence = ?, entry_number = ?, account_number = ?, books_version = ? WHERE organization_id = @org",
		h.AuditSequence, h.AuditHash, h.EventSequence, h.EntryNumber, h.AccountNumber, h.BooksVersion)
	return err
}

func insertRelay(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, "INSERT INTO relays (organization_id, sequence) VALUES (@org, 0)")
	return err
}
