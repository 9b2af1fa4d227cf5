package booking

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// MissingValues returns, by id, what the booking of pending transactions without a value needs that is not stored: a price, or an exchange
// rate. It reads nothing if all transactions have a value or are not pending.
func (s *Service) MissingValues(ctx context.Context, all ...transaction.Transaction) (map[string]string, error) {
	var unvalued []transaction.Transaction
	for _, t := range all {
		if t.Status == transaction.Pending && t.Value == nil && t.HasQuantity() {
			unvalued = append(unvalued, t)
		}
	}
	if len(unvalued) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	err := s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Read(ctx, tx)
		if err != nil {
			return err
		}
		known, wanted, of := newLookups(tx), []price.Query{}, []transaction.Transaction{}
		for _, t := range unvalued {
			base := b.Entities[t.Source.LegalEntityID].BaseCurrency
			if !money.IsFiat(t.Asset()) {
				wanted, of = append(wanted, price.Query{AssetType: t.Asset(), Currency: base, At: t.At}), append(of, t)
				continue
			}
			if t.Asset() == base {
				continue // an amount in the base currency is its own value
			}
			rate, err := known.rate(ctx, posting.Rate{From: t.Asset(), To: base}, calendar.DateOf(t.At, b.Zone))
			if err != nil {
				return err
			}
			if rate == nil {
				out[t.ID] = fmt.Sprintf("the exchange rate from %s to %s for the day of %s", t.Asset(), base, clock.Format(t.At))
			}
		}
		prices, err := price.LatestBatch(ctx, tx, wanted)
		for i, p := range prices {
			if p == nil {
				out[of[i].ID] = fmt.Sprintf("a price of %s in %s at %s, or in the day before", of[i].Asset(), wanted[i].Currency,
					clock.Format(of[i].At))
			}
		}
		return err
	})
	return out, err
}
