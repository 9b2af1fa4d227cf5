package transaction

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Guidance lists the actions that are allowed on a transaction now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// BaseCurrencies returns the base currencies of legal entities by id, for Guide. It reads nothing if all transactions have a value.
func (s *Service) BaseCurrencies(ctx context.Context, all ...Transaction) (map[string]string, error) {
	if !slices.ContainsFunc(all, func(t Transaction) bool { return t.Value == nil }) {
		return nil, nil
	}
	out := map[string]string{}
	err := s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		entities, err := snapshot.Entities(ctx, tx)
		for _, e := range entities {
			out[e.ID] = e.BaseCurrency
		}
		return err
	})
	return out, err
}

// Guide returns the guidance for the current state of the transaction, given the base currency of its legal entity. If beyond is set, it
// is linked to a transaction of a legal entity outside the actor's key, so that the actor can neither unlink nor book it.
func (t Transaction) Guide(baseCurrency string, beyond bool) Guidance {
	g := Guidance{Allowed: []string{"update"}, Warnings: []string{}, Version: clock.Format(t.UpdatedAt)}
	switch t.Status {
	case Spam:
		g.Allowed = append(g.Allowed, "unmark_spam")
		g.Warnings = append(g.Warnings, "Spam is not booked: unmark it first.")
	case Posted:
		g.Warnings = append(g.Warnings, "Its journal entry is posted: unpost or reverse that to change its type.")
	default:
		switch {
		case t.GroupID == "":
			g.Allowed = append(g.Allowed, "mark_spam", "link")
		case !beyond:
			g.Allowed = append(g.Allowed, "unlink")
		}
		switch {
		case t.Value != nil || t.Currency == baseCurrency: // an amount in the base currency is its own value
		case money.IsFiat(t.Currency):
			g.Warnings = append(g.Warnings, fmt.Sprintf("It has no value_fiat: booking it needs the exchange rate from %s to %s for the day of %s.",
				t.Currency, baseCurrency, clock.Format(t.At)))
		default:
			g.Warnings = append(g.Warnings, fmt.Sprintf("It has no value_fiat: booking it needs a price of %s in %s at %s, or in the day before.",
				t.Asset(), baseCurrency, clock.Format(t.At)))
		}
	}
	if beyond {
		g.Warnings = append(g.Warnings, "Its link "+actor.NeedsUnlimited+" to book, unlink, unpost or reverse it.")
	}
	return g
}

// Asset returns the symbol of the asset that moved.
func (t Transaction) Asset() string {
	if t.Crypto != nil && t.Crypto.AssetType != "" {
		return t.Crypto.AssetType
	}
	return t.Currency
}
