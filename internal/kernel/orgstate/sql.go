package orgstate

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

func find(ctx context.Context, tx *db.Tx, suffix string) (State, error) {
	return db.One[State](ctx, tx, "organization",
		"SELECT "+db.Columns[State]()+" FROM organization_state WHERE organization_id = @org "+suffix)
}

func update(ctx context.Context, tx *db.Tx, s State) error {
	return tx.Queue(ctx, "UPDATE organization_state SET audit_sequence = ?, audit_hash = ?, event_sequence = ?, entry_number = ?, "+
		"account_number = ?, books_version = ?, transaction_number = ? WHERE organization_id = @org",
		s.AuditSequence, s.AuditHash, s.EventSequence, s.EntryNumber, s.AccountNumber, s.BooksVersion, s.TransactionNumber)
}

// updateFrom updates the row if it is as assumed, and fails otherwise: audit_sequence cannot be null. The audit chain and
// the version of the books tell all states apart.
func updateFrom(ctx context.Context, tx *db.Tx, assumed, s State) error {
	return tx.Group().Guard(ctx, `UPDATE organization_state SET
		audit_sequence = CASE WHEN audit_sequence = ? AND audit_hash = ? AND books_version = ? THEN audit_sequence + ? END,
		audit_hash = ?, event_sequence = ?, entry_number = ?, account_number = ?, books_version = ?, transaction_number = ?
		WHERE organization_id = @org`, assumed.AuditSequence, assumed.AuditHash, assumed.BooksVersion,
		s.AuditSequence-assumed.AuditSequence, s.AuditHash, s.EventSequence, s.EntryNumber, s.AccountNumber, s.BooksVersion,
		s.TransactionNumber)
}
