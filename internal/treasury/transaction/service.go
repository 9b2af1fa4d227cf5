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

// Service implements the use cases of transactions.
type Service struct {
	db      *db.DB
	sources sourceCache
}

// NewService returns a Service on a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// sourceCacheMax bounds how many sources are cached.
const sourceCacheMax = 10_000

// sourceCache holds sources that lists have shown. The fields that a list shows of a source (ids, type, provider and
// legal entity) cannot change once it has transactions, so the cache never expires. A nil cache always reads from the
// database.
type sourceCache struct {
	mu   sync.Mutex
	byID map[string]source.Source
}

// find returns sources by id, from the cache if it has all of them and otherwise from the database.
func (k *sourceCache) find(ctx context.Context, tx *db.Tx, ids []string) (map[string]source.Source, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if found := k.lookup(ids); found != nil {
		return found, nil
	}
	found, err := source.FindSomeUnchecked(ctx, tx, ids)
	if err == nil && k != nil {
		k.add(found)
	}
	return found, err
}

// lookup returns the sources with the given ids, or nil unless all of them are cached.
func (k *sourceCache) lookup(ids []string) map[string]source.Source {
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

func (k *sourceCache) add(found map[string]source.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil || len(k.byID) >= sourceCacheMax {
		k.byID = map[string]source.Source{}
	}
	maps.Copy(k.byID, found)
}

// Get returns one transaction.
func (s *Service) Get(ctx context.Context, transactionID string) (t Transaction, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		t, err = Find(ctx, tx, transactionID)
		return err
	})
	return t, err
}

// Original returns what a provider has sent about a transaction, as JSON, or an empty text if it did not come from a connection.
func (s *Service) Original(ctx context.Context, transactionID string) (original string, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := Find(ctx, tx, transactionID); err != nil {
			return err
		}
		original, err = selectOriginal(ctx, tx, transactionID)
		return err
	})
	return original, err
}

// Find returns a transaction. One of a legal entity that the actor may not see is not found. It is a building block.
func Find(ctx context.Context, tx *db.Tx, transactionID string) (Transaction, error) {
	t, err := selectOne(ctx, tx, transactionID)
	if err == nil && !actor.From(ctx).Sees(t.Source.LegalEntityID) {
		err = fault.Missing(noun)
	}
	return t, err
}

// FindByExternalID returns the ids of the stored transactions of a source, by the source's own ids for them. It is a
// building block.
func FindByExternalID(ctx context.Context, tx *db.Tx, sourceID string, externalIDs []string) (map[string]string, error) {
	return selectByExternalID(ctx, tx, sourceID, externalIDs)
}
