package source

import (
	"context"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Aggregator is an external service that connects to accounts at many banks.
type Aggregator interface {
	// RemoveItem deletes a sign-in at the aggregator. It returns ErrNoItem if the aggregator does not know the item, for
	// example because it was removed before.
	RemoveItem(ctx context.Context, externalItemID string) error
}

// ErrNoItem is the error of an Aggregator for an item that it does not know.
var ErrNoItem = errors.New("source: the aggregator does not know the item")

// Item is one sign-in at a bank, in the terms of aggregators. It has one or more accounts.
type Item struct {
	ID         string
	Provider   string
	ExternalID string
	RemovedAt  *time.Time // when it was removed at the provider
	CreatedAt  time.Time
}

func (i Item) facts() map[string]any {
	return map[string]any{"id": i.ID, "provider": i.Provider, "external_id": i.ExternalID}
}

// ItemParams identify an item at its aggregator.
type ItemParams struct {
	Provider   string
	ExternalID string
}

// AccountParams describe an account of an item.
type AccountParams struct {
	ExternalID      string
	Type            Type // Bank or Card
	Name            string
	LegalEntityID   string
	LedgerAccountID string // empty creates one
	Currency        string // empty means that of the legal entity
}

// AddAccount creates the source of an aggregator's account, and its item if that is new. It returns an existing source unchanged, also a
// deleted one: it must not come back. It is a building block.
func AddAccount(ctx context.Context, tx *db.Tx, i ItemParams, p AccountParams) (Source, error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return Source{}, err
	}
	if p.Type != Bank && p.Type != Card {
		return Source{}, fault.Invalidf("source_type", "must be bank or card")
	}
	item, err := findActiveItem(ctx, tx, i.Provider, i.ExternalID)
	if fault.KindOf(err) == fault.NotFound {
		item, err = createItem(ctx, tx, i)
	}
	if err != nil {
		return Source{}, err
	}
	existing, err := findAccount(ctx, tx, item.ID, p.ExternalID)
	if fault.KindOf(err) != fault.NotFound {
		return existing, err
	}
	return create(ctx, tx, Source{
		Type: p.Type, Provider: i.Provider, Name: p.Name, LegalEntityID: p.LegalEntityID, LedgerAccountID: p.LedgerAccountID,
		Currency: p.Currency, ItemID: item.ID, ExternalID: p.ExternalID,
	})
}

func createItem(ctx context.Context, tx *db.Tx, p ItemParams) (Item, error) {
	item := Item{ID: tx.NewID(id.AggregatorItem), Provider: p.Provider, ExternalID: p.ExternalID, CreatedAt: tx.Now()}
	if err := insertItem(ctx, tx, item); err != nil {
		return item, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "aggregator_item.created", ResourceType: "aggregator_item", ResourceID: item.ID,
		After: item.facts(), NoEvent: true})
	return item, nil
}

// removeItem removes an item at its provider and records that. It runs outside any database transaction, because the
// provider may be slow. If the record is lost, the next attempt asks the provider again and gets ErrNoItem.
func (s *Service) removeItem(ctx context.Context, item Item) error {
	provider, configured := s.aggregators[item.Provider]
	if !configured {
		return fault.UnavailableBecause(errors.New("source: no aggregator "+item.Provider+" is configured"),
			"this is the last account of its sign-in at %s, which must be removed there first, and no access to %[1]s is configured; "+
				"nothing was changed", item.Provider)
	}
	if err := provider.RemoveItem(ctx, item.ExternalID); err != nil && !errors.Is(err, ErrNoItem) {
		return fault.UnavailableBecause(err,
			"%s did not remove the sign-in of this account; nothing was changed, so send the request again later", item.Provider)
	}
	// The item is removed at the provider, so record it even if the caller has disconnected.
	return s.db.Write(context.WithoutCancel(ctx), actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		n, err := markRemoved(ctx, tx, item.ID)
		if err == nil && n > 0 { // a concurrent request may have recorded it
			audit.Record(ctx, tx, audit.Change{Action: "aggregator_item.removed", ResourceType: "aggregator_item", ResourceID: item.ID,
				Before: item.facts(), NoEvent: true})
		}
		return err
	})
}
