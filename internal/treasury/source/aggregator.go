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

// Aggregator is an outside system that reads the accounts of many banks.
type Aggregator interface {
	// RemoveItem makes the aggregator forget a sign-in. One that it does not know, because it was removed before, is ErrNoItem.
	RemoveItem(ctx context.Context, externalItemID string) error
}

// ErrNoItem is what an Aggregator says of an item that it does not know.
var ErrNoItem = errors.New("source: the aggregator does not know the item")

// Item is one sign-in at a bank, as an aggregator calls it. It holds one account or more.
type Item struct {
	ID         string
	Provider   string
	ExternalID string
	RemovedAt  *time.Time // since when the provider has forgotten it
	CreatedAt  time.Time
}

func (i Item) facts() map[string]any {
	return map[string]any{"id": i.ID, "provider": i.Provider, "external_id": i.ExternalID}
}

// ItemParams name an item as its aggregator does.
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
	LedgerAccountID string // empty makes one
	Currency        string // empty means that of the legal entity
}

// AddAccount makes the source of an aggregator's account, and its item if it is new. One that is there already is given as it is. It is a
// building block.
func AddAccount(ctx context.Context, tx *db.Tx, i ItemParams, p AccountParams) (Source, error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return Source{}, err
	}
	if p.Type != Bank && p.Type != Card {
		return Source{}, fault.Invalidf("source_type", "must be bank or card")
	}
	item, err := findLivingItem(ctx, tx, i.Provider, i.ExternalID)
	if fault.KindOf(err) == fault.NotFound {
		item, err = createItem(ctx, tx, i)
	}
	if err != nil {
		return Source{}, err
	}
	there, err := findAccount(ctx, tx, item.ID, p.ExternalID)
	if fault.KindOf(err) != fault.NotFound {
		return there, err
	}
	return create(ctx, tx, Source{
		Type: p.Type, Provider: i.Provider, Name: p.Name, LegalEntityID: p.LegalEntityID, LedgerAccountID: p.LedgerAccountID,
		Currency: p.Currency,
		ItemID:   item.ID, ExternalID: p.ExternalID,
	})
}

func createItem(ctx context.Context, tx *db.Tx, p ItemParams) (Item, error) {
	item := Item{ID: tx.NewID(id.AggregatorItem), Provider: p.Provider, ExternalID: p.ExternalID, CreatedAt: tx.Now()}
	if err := insertItem(ctx, tx, item); err != nil {
		return item, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "aggregator_item.created", ResourceType: "aggregator_item", ResourceID: item.ID,
		After: item.facts(), Silent: true})
	return item, nil
}

// removeItem has the provider forget an item, and notes it. It runs outside any transaction, because the provider may
// take its time. Should the note be lost, the provider is asked again and knows the item no more.
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
	// The provider has done it, so that it is noted also when the caller has hung up.
	return s.db.Write(context.WithoutCancel(ctx), actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		n, err := markRemoved(ctx, tx, item.ID)
		if err == nil && n > 0 { // somebody else's request may have noted it
			audit.Record(ctx, tx, audit.Change{Action: "aggregator_item.removed", ResourceType: "aggregator_item", ResourceID: item.ID,
				Before: item.facts(), Silent: true})
		}
		return err
	})
}
