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
