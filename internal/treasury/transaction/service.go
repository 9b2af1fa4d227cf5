package transaction

import (
	"context"
	"maps"
	"sync"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Service holds the use cases.
type Service struct {
	db   *db.DB
	kept keptSources
}

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// keptMax bounds how many sources are kept at hand.
const keptMax = 10_000

// keptSources are sources that lists have shown. What a list shows of one, its ids, type, provider and legal entity,
// cannot change once the source has transactions once it has transactions, so that it need not be looked up again.
type keptSources struct {
	mu   sync.Mutex
	byID map[string]source.Source
}

// of gives sources by their ids; without any that are kept, as the database has them now.
func (k *keptSources) of(ctx context.Context, tx *db.Tx, ids []string) (map[string]source.Source, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if found := k.all(ids); found != nil {
		return found, nil
	}
	found, err := source.FindSomeUnchecked(ctx, tx, ids)
	if err == nil && k != nil {
		k.keep(found)
	}
	return found, err
}

// all gives all of some sources, or nothing.
func (k *keptSources) all(ids []string) map[string]source.Source {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make(map[string]source.Source, len(ids))
	for _, id := range ids {
		s, ok := k.byID[id]
		if !ok {
			return nil
		}
		out[id] = s
	}
	return out
}

func (k *keptSources) keep(found map[string]source.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil || len(k.byID) >= keptMax {
		k.byID = map[string]source.Source{}
	}
	maps.Copy(k.byID, found)
}

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

// FindExternal gives the ids of the transactions that a source has told of already, by its own ids for them. It is a building block.
func FindExternal(ctx context.Context, tx *db.Tx, sourceID string, externalIDs []string) (map[string]string, error) {
	return selectExternal(ctx, tx, sourceID, externalIDs)
}
