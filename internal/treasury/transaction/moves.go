package transaction

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Move is how a transaction changes what its source holds of an asset.
type Move struct {
	AssetType string
	Quantity  *money.Decimal // what is added, negative if it is taken away; nil if unknown
	Fee       money.Decimal  // the part that is a fee, never negative
}

// Moves returns what a transaction adds to what its source holds, as booking it does: of its asset, and of another one in which a fee was
// paid. What lands of an arrival is its quantity less a fee in the same asset; the quantity of what leaves includes the fee.
func (t Transaction) Moves() []Move {
	main := Move{AssetType: t.Asset()}
	var gross money.Decimal
	switch v := t.Value; {
	case v != nil && v.Currency == main.AssetType: // money that is valued in itself
		gross, main.Fee = v.Gross, v.Fee
	case t.Quantity != nil:
		gross = *t.Quantity
	}
	var other []Move
	if c := t.Crypto; c != nil && c.FeeQuantity != nil && c.FeeQuantity.Sign() > 0 {
		if c.FeeAssetType == "" || c.FeeAssetType == main.AssetType {
			main.Fee = *c.FeeQuantity
		} else {
			other = []Move{{AssetType: c.FeeAssetType, Quantity: new(c.FeeQuantity.Neg()), Fee: *c.FeeQuantity}}
		}
	}
	if t.Quantity != nil || t.Value != nil && t.Value.Currency == main.AssetType {
		if IsInflow(t.Direction) {
			main.Quantity = new(gross.Sub(main.Fee))
		} else {
			main.Quantity = new(gross.Neg())
		}
	}
	return append([]Move{main}, other...)
}

// quantityKey identifies a sum that is kept: what the transactions of a source and status move of an asset on a day in UTC.
type quantityKey struct {
	SourceID  string `db:"source_id"`
	AssetType string `db:"asset_type"`
	Day       string `db:"day"`
	Status    string `db:"status"`
}

// moved is what transactions add up to. unknown counts those of which it is not known how much moved.
type moved struct {
	Quantity money.Decimal `db:"quantity"`
	Unknown  int64         `db:"unknown"`
	Count    int64         `db:"count"`
}

// quantities are changes of the sums that are kept.
type quantities map[quantityKey]moved

// add adds a transaction (n is 1) or takes it away (n is -1). Spam moves nothing.
func (q quantities) add(t Transaction, n int64) {
	if t.Status == Spam {
		return
	}
	for _, m := range t.Moves() {
		k := quantityKey{t.Source.ID, m.AssetType, dayOf(t.At), string(t.Status)}
		sum := q[k]
		sum.Count += n
		if m.Quantity == nil {
			sum.Unknown += n
		} else {
			sum.Quantity = sum.Quantity.Add(m.Quantity.Mul(money.FromInt(n)))
		}
		q[k] = sum
	}
}

func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// Total is what the transactions of a source add up to of an asset, spam left out.
type Total struct {
	AssetType string
	Booked    money.Decimal
	Pending   money.Decimal
	Waiting   int64 // how many are pending
	Unknown   int64 // of how many it is not known how much moved
}

// All returns what all transactions add up to, booked or not; it is unknown if that of any of them is.
func (t Total) All() *money.Decimal {
	if t.Unknown > 0 {
		return nil
	}
	return new(t.Booked.Add(t.Pending))
}

// Totals returns what the transactions of a source up to an instant add up to, by asset. It adds up days and the transactions of the last
// day, so that the cost does not grow with their number. It is a building block and does not check what the actor may see.
func Totals(ctx context.Context, tx *db.Tx, sourceID string, at time.Time, assetTypes []string) (map[string]Total, error) {
	at = clock.Stamp(at)
	day := dayOf(at)
	sums, err := selectQuantities(ctx, tx, sourceID, day, assetTypes)
	if err != nil {
		return nil, err
	}
	start, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil, err
	}
	last, err := selectMoving(ctx, tx, sourceID, start, at.Add(time.Millisecond), false, "", 0)
	if err != nil {
		return nil, err
	}
	rest := quantities{}
	for _, t := range last {
		rest.add(t, 1)
	}
	for k, m := range rest {
		sums = append(sums, quantityRow{k, m})
	}
	out := map[string]Total{}
	for _, s := range sums {
		if assetTypes == nil || slices.Contains(assetTypes, s.AssetType) {
			t := out[s.AssetType]
			t.AssetType, t.Unknown = s.AssetType, t.Unknown+s.Unknown
			if Status(s.Status) == Pending {
				t.Pending, t.Waiting = t.Pending.Add(s.Quantity), t.Waiting+s.Count
			} else {
				t.Booked = t.Booked.Add(s.Quantity)
			}
			out[s.AssetType] = t
		}
	}
	return out, nil
}

// Moving returns the latest transactions of a source that move an asset, after an instant and up to another one, at most limit of them:
// all of them, or those that are pending. Spam is left out. It is a building block and does not check what the actor may see.
func Moving(ctx context.Context, tx *db.Tx, sourceID, assetType string, after, until time.Time, pending bool,
	limit int) ([]Transaction, error) {
	if !after.IsZero() {
		after = clock.Stamp(after).Add(time.Millisecond)
	}
	return selectMoving(ctx, tx, sourceID, after, clock.Stamp(until).Add(time.Millisecond), pending, assetType, limit)
}

// AssetsOf returns the assets that transactions of a source move, sorted. It is a building block and does not check what the actor may see.
func AssetsOf(ctx context.Context, tx *db.Tx, sourceID string) ([]string, error) {
	return selectAssetsOf(ctx, tx, sourceID)
}
