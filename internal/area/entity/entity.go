// Package entity holds legal entities: the companies of an organization, each with books in its own currency.
package entity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/audit"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// LegalEntity is one company.
type LegalEntity struct {
	ID           string
	Name         string
	BaseCurrency string
	CreatedAt    time.Time
	UpdatedAt    *time.Time
}

func (e LegalEntity) facts() map[string]any {
	return map[string]any{"id": e.ID, "name": e.Name, "base_currency": e.BaseCurrency}
}

// Create makes a legal entity. It is a building block.
func Create(ctx context.Context, tx *db.Tx, name, currency string) (LegalEntity, error) {
	if !money.IsFiat(currency) {
		return LegalEntity{}, fault.Invalidf("base_currency", "must be an ISO 4217 currency such as USD")
	}
	e := LegalEntity{ID: tx.NewID(id.LegalEntity), Name: name, BaseCurrency: currency, CreatedAt: tx.Now()}
	if err := insert(ctx, tx, e); err != nil {
		return e, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "legal_entity.created", ResourceType: "legal_entity", ResourceID: e.ID, After: e.facts()})
	return e, account.ForEntity(ctx, tx, e.ID, e.Name)
}

// Get finds a legal entity. It is a building block.
func Get(ctx context.Context, tx *db.Tx, legalEntityID string) (LegalEntity, error) {
	return find(ctx, tx, legalEntityID)
}
