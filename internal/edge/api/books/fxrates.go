package books

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

func (h handlers) listFXRates(ctx context.Context, in *struct {
	wire.Paging
	BaseCurrency  string `query:"base_currency" minLength:"3" maxLength:"3" doc:"Return only rates of this base currency (ISO 4217)." example:"EUR"`
	QuoteCurrency string `query:"quote_currency" minLength:"3" maxLength:"3" doc:"Return only rates in this quote currency (ISO 4217)." example:"USD"`
	StartDate     string `query:"start_date" format:"date" maxLength:"10" doc:"Return only rates of this date or later."`
	EndDate       string `query:"end_date" format:"date" maxLength:"10" doc:"Return only rates of this date or earlier."`
}) (wire.List[FXRate], error) {
	f := fx.Filter{Base: in.BaseCurrency, Quote: in.QuoteCurrency, From: in.StartDate, To: in.EndDate}
	rates, err := h.app.FX.List(ctx, f, in.Request())
	return wire.ListOf(rates, viewFXRate), err
}

// storesFXRates is a request to store rates.
type storesFXRates struct{ Body StoreFXRates }

// IsDryRun reports whether nothing is to be written.
func (s *storesFXRates) IsDryRun() bool { return s.Body.DryRun }

func (h handlers) storeFXRates(ctx context.Context, in *storesFXRates) (FXRates, error) {
	params := make([]fx.StoreParams, len(in.Body.Rates))
	for i, r := range in.Body.Rates {
		params[i] = fx.StoreParams{Base: r.BaseCurrency, Quote: r.QuoteCurrency, Date: r.Date, Rate: r.Rate, Source: r.Source.Value}
	}
	rates, err := h.app.FX.Store(ctx, params)
	out := FXRates{Data: make([]FXRate, len(rates))}
	for i, q := range rates {
		out.Data[i] = viewFXRate(q)
	}
	return out, err
}

func viewFXRate(q fx.Quotation) FXRate {
	return FXRate{
		BaseCurrency:  q.Base,
		QuoteCurrency: q.Quote,
		Date:          q.Date,
		Rate:          q.Rate.String(),
		Source:        db.OrNull(q.Source),
		CreatedAt:     wire.Timestamp(q.CreatedAt),
		UpdatedAt:     wire.TimestampOrNull(q.UpdatedAt),
	}
}
