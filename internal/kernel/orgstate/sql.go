package orgstate

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

func find(ctx context.Context, tx *db.Tx, how string) (Head, error) {
	return db.One[Head](ctx, tx, "organization", "SELECT "+db.Columns[Head]()+" FROM heads WHERE organization_id = @org "+how)
}

func update(ctx context.Context, tx *db.Tx, h Head) error {
	_, err := tx.Exec(ctx, "UPDATE heads SET audit_sequence = ?, audit_hash = ?, event_sequence = ?, entry_number = ?, "+
		"account_number = ?, books_version = ?, transaction_number = ? WHERE organization_id = @org",
		h.AuditSequence, h.AuditHash, h.EventSequence, h.EntryNumber, h.AccountNumber, h.BooksVersion, h.TransactionNumber)
	return err
}

// updateFrom comes before all else that is put off: where the head is not what it was taken for, nothing of it may be
// written, and a column that may not be null refuses it. The audit's chain tells every state apart.
func updateFrom(ctx context.Context, tx *db.Tx, before, h Head) error {
	return tx.ExecBefore(ctx, `UPDATE heads SET audit_sequence = CASE WHEN audit_sequence = ? AND audit_hash = ? AND books_version = ?
		THEN audit_sequence + ? END,
		audit_hash = ?, event_sequence = ?, entry_number = ?, account_number = ?, books_version = ?, transaction_number = ? WHERE
		organization_id = @org`,
		before.AuditSequence, before.AuditHash, before.BooksVersion,
		h.AuditSequence-before.AuditSequence, h.AuditHash, h.EventSequence, h.EntryNumber, h.AccountNumber, h.BooksVersion, h.TransactionNumber)
}
