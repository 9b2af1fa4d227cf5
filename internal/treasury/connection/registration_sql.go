package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type setupRow struct {
	Provider  string    `db:"provider"`
	Sealed    string    `db:"sealed"`
	UpdatedAt time.Time `db:"updated_at"`
}

// selectSetup reads what is registered at a provider, empty if nothing is.
func selectSetup(ctx context.Context, tx *db.Tx, provider string) (string, error) {
	rows, err := db.All[string](ctx, tx, "SELECT sealed FROM provider_setups WHERE organization_id = @org AND provider = ?", provider)
	if err != nil || len(rows) == 0 || rows[0] == db.RedactedText { // it was left out when the organization was moved
		return "", err
	}
	return rows[0], nil
}

func selectSetups(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT provider FROM provider_setups WHERE organization_id = @org AND sealed <> ? ORDER BY provider",
		db.RedactedText)
}

func upsertSetup(ctx context.Context, tx *db.Tx, provider, sealed string) error {
	return db.Upsert(ctx, tx, "provider_setups", []setupRow{{provider, sealed, tx.Now()}},
		"ON CONFLICT (organization_id, provider) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at")
}
