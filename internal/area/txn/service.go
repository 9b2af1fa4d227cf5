package txn

import (
	"context"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// Service holds the use cases.
type Service struct{ db *db.DB }

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{d} }

// Get gives one transaction.
func (s *Service) Get(ctx context.Context, transactionID string) (t Transaction, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		t, err = Find(ctx, tx, transactionID)
		return err
	})
	return t, err
}

// Find gives a transaction, unless it is of a legal entity the actor's key is not for. It is a building block.
func Find(ctx context.Context, tx *db.Tx, transactionID string) (Transaction, error) {
	t, err := selectOne(ctx, tx, transactionID)
	if err == nil && !actor.From(ctx).Sees(t.Source.LegalEntityID) {
		err = fault.Missing(noun)
	}
	return t, err
}

// Known gives the ids of the transactions that a source has told of already, by its own ids for them. It is a building block.
func Known(ctx context.Context, tx *db.Tx, sourceID string, externalIDs []string) (map[string]string, error) {
	return selectExternal(ctx, tx, sourceID, externalIDs)
}
