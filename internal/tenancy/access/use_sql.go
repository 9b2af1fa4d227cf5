package access

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type useRow struct {
	OrganizationID string    `db:"organization_id"`
	CredentialID   string    `db:"credential_id"`
	UsedAt         time.Time `db:"used_at"`
	Address        string    `db:"address"`
}

// upsertUses stores uses, unless another node has stored later ones.
func upsertUses(ctx context.Context, tx *db.Tx, rows []useRow) error {
	return db.Upsert(ctx, tx, "credential_uses", rows, "ON CONFLICT (organization_id, credential_id) DO UPDATE SET "+
		"used_at = excluded.used_at, address = excluded.address WHERE excluded.used_at > credential_uses.used_at")
}

func selectUses(ctx context.Context, tx *db.Tx, credentialIDs []string) ([]useRow, error) {
	return db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+" FROM credential_uses WHERE organization_id = @org AND credential_id {any}",
		credentialIDs)
}
