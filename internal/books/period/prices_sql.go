package period

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type keptPriceRow struct {
	ClosingID      string         `db:"period_closing_id"`
	AssetType      string         `db:"asset_type"`
	Price          *money.Decimal `db:"price"`
	PriceID        *string        `db:"price_id"`
	At             *time.Time     `db:"priced_at"`
	Origin         *string        `db:"price_origin"`
	StoredCurrency *string        `db:"stored_currency"`
	StoredPrice    *money.Decimal `db:"stored_price"`
	Rate           *money.Decimal `db:"rate"`
	RateDate       *string        `db:"rate_date"`
}

// insertKeptPrices stores prices with the closings of their legal entities.
func insertKeptPrices(ctx context.Context, tx *db.Tx, prices []KeptPrice, closings map[string]string) error {
	rows := make([]keptPriceRow, len(prices))
	for i, p := range prices {
		rows[i] = keptPriceRow{ClosingID: closings[p.LegalEntityID], AssetType: p.AssetType, Price: p.Price}
		if p.Price == nil {
			continue
		}
		rows[i].PriceID, rows[i].At, rows[i].Origin = db.OrNull(p.PriceID), &p.At, db.OrNull(p.Origin)
		if t := p.Translated; t != nil {
			rows[i].StoredCurrency, rows[i].StoredPrice, rows[i].Rate, rows[i].RateDate = &t.Currency, &t.Price, &t.Rate, &t.Date
		}
	}
	return db.Insert(ctx, tx, "period_closing_prices", rows...)
}

type keptPriceOfEntity struct {
	keptPriceRow
	LegalEntityID string `db:"legal_entity_id"`
}

// selectKeptPrices reads the prices of the closings in force of a period.
func selectKeptPrices(ctx context.Context, tx *db.Tx, periodID string, legalEntityIDs []string) ([]KeptPrice, error) {
	rows, err := db.All[keptPriceOfEntity](ctx, tx, `SELECT k.period_closing_id, k.asset_type, k.price, k.price_id, k.priced_at,
		k.price_origin, k.stored_currency, k.stored_price, k.rate, k.rate_date, c.legal_entity_id FROM period_closings c
		JOIN period_closing_prices k ON k.organization_id = c.organization_id AND k.period_closing_id = c.period_closing_id
		WHERE c.organization_id = @org AND c.accounting_period_id = ? AND c.legal_entity_id {any} AND c.reopened_at IS NULL`,
		periodID, legalEntityIDs)
	out := make([]KeptPrice, len(rows))
	for i, r := range rows {
		out[i] = KeptPrice{LegalEntityID: r.LegalEntityID, AssetType: r.AssetType, Price: r.Price, PriceID: db.OrEmpty(r.PriceID),
			Origin: db.OrEmpty(r.Origin)}
		if r.At != nil {
			out[i].At = *r.At
		}
		if r.StoredCurrency != nil && r.StoredPrice != nil && r.Rate != nil {
			out[i].Translated = &KeptTranslation{Currency: *r.StoredCurrency, Price: *r.StoredPrice, Rate: *r.Rate, Date: db.OrEmpty(r.RateDate)}
		}
	}
	return out, err
}
