package entity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	ID           string     `db:"legal_entity_id"`
	Name         string     `db:"name"`
	BaseCurrency string     `db:"base_currency"`
	CreatedAt    time.Time  `db:"created_at"`
	UpdatedAt    *time.Time `db:"updated_at"`
}

func insert(ctx context.Context, tx *db.Tx, e LegalEntity) error {
	return db.Insert(ctx, tx, "legal_entities", row(e))
}

func find(ctx context.Context, tx *db.Tx, legalEntityID string) (LegalEntity, error) {
	r, err := db.One[row](ctx, tx, "legal entity", "SELECT "+db.Columns[row]()+" FROM legal_entities WHERE organization_id = @org AND legal_entity_id = ?", legalEntityID)
	return LegalEntity(r), err
}
