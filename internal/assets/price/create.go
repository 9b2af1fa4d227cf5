package price

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Create creates a price. It returns a Conflict that names the stored price if there is one for the same instant.
func (s *Service) Create(ctx context.Context, p Params) (Price, error) {
	made, err := s.create(ctx, []Params{p}, func(int) string { return "" }, false)
	if err != nil {
		return Price{}, err
	}
	return made[0], nil
}

// CreateBatch creates many prices, all or none, and returns them in their order. With dry it returns what would be created and
// writes nothing.
func (s *Service) CreateBatch(ctx context.Context, all []Params, dry bool) ([]Price, error) {
	if n := len(all); n < 1 || n > BatchMax {
		return nil, fault.Invalidf("prices", "must have 1 to %d items", BatchMax)
	}
	return s.create(ctx, all, func(i int) string { return fmt.Sprintf("prices[%d].", i) }, dry)
}

func (s *Service) create(ctx context.Context, all []Params, prefix func(int) string, dry bool) (out []Price, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		zone, err := period.Zone(ctx, tx)
		if err != nil {
			return err
		}
		r, seen := parser{zone: zone}, map[priceKey]int{}
		out = make([]Price, len(all))
		for i, p := range all {
			out[i] = r.parse(p, prefix(i))
			out[i].Origin = Manual
			if other, twice := seen[out[i].key()]; twice {
				r.faults.Addf(prefix(i)+"timestamp", "is the same as in prices[%d], for the same asset and currency", other)
			} else {
				seen[out[i].key()] = i
			}
		}
		if err := r.faults.Err(); err != nil {
			return err
		}
		if _, err := orgstate.Lock(ctx, tx); err != nil { // of two that create the same price, the second must see the first
			return err
		}
		there, err := findStored(ctx, tx, out)
		if err != nil {
			return err
		}
		var existing []fault.Field
		for i, p := range out {
			if old, is := there[p.key()]; is {
				existing = append(existing, fault.Field{Name: prefix(i) + "timestamp", Message: "has a price already: " + old.ID})
			}
		}
		if len(existing) > 0 {
			return fault.ConflictAt(existing, "there is a price of that asset, currency and instant already")
		}
		return insertNew(ctx, tx, out, dry)
	})
	return out, err
}

// insertNew assigns IDs to prices and stores them, unless it is a dry run.
func insertNew(ctx context.Context, tx *db.Tx, prices []Price, dry bool) error {
	for i := range prices {
		prices[i].ID, prices[i].CreatedAt = tx.NewID(id.Price), tx.Now()
	}
	if dry || len(prices) == 0 {
		return nil
	}
	if err := insert(ctx, tx, prices); err != nil {
		return err
	}
	for _, p := range prices {
		audit.Record(ctx, tx, audit.Change{Action: "price.created", ResourceType: noun, ResourceID: p.ID, After: p.facts(), Object: p})
	}
	return nil
}

// priceKey identifies a price: there is at most one for each key.
type priceKey struct{ asset, currency, at string }

func (p Price) key() priceKey { return priceKey{p.AssetType, p.Currency, clock.Format(p.At)} }

// storedMax bounds how many prices one query looks up.
const storedMax = 1000

// findStored returns the stored prices that have the same key as one of the given prices. It reads them by asset and
// currency, from the first instant to the last.
func findStored(ctx context.Context, tx *db.Tx, prices []Price) (map[priceKey]Price, error) {
	sorted := slices.SortedFunc(slices.Values(prices), func(a, b Price) int {
		return cmp.Or(cmp.Compare(a.AssetType, b.AssetType), cmp.Compare(a.Currency, b.Currency), a.At.Compare(b.At))
	})
	out := map[priceKey]Price{}
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && n < storedMax && sorted[n].AssetType == sorted[0].AssetType && sorted[n].Currency == sorted[0].Currency {
			n++
		}
		found, err := selectBetween(ctx, tx, sorted[0], sorted[n-1].At)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			out[p.key()] = p
		}
		sorted = sorted[n:]
	}
	return out, nil
}
