package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
)

func (a *API) listFXRates(ctx context.Context, in *struct {
	paging
	BaseCurrency  string `query:"base_currency" minLength:"3" maxLength:"3" doc:"Only rates of this ISO 4217 currency" example:"EUR"`
	QuoteCurrency string `query:"quote_currency" minLength:"3" maxLength:"3" doc:"Only rates expressed in this ISO 4217 currency" example:"USD"`
	StartDate     string `query:"start_date" format:"date" maxLength:"10" doc:"Only rates of this day and later ones"`
	EndDate       string `query:"end_date" format:"date" maxLength:"10" doc:"Only rates of this day and earlier ones"`
}) (List[FXRate], error) {
	f := fx.Filter{Base: in.BaseCurrency, Quote: in.QuoteCurrency, From: in.StartDate, To: in.EndDate}
	rates, err := a.app.FX.List(ctx, f, in.request())
	return listOf(rates, viewFXRate), err
}

func (a *API) storeFXRates(ctx context.Context, in *struct{ Body StoreFXRates }) (FXRates, error) {
	params := make([]fx.PutParams, len(in.Body.Rates))
	for i, r := range in.Body.Rates {
		params[i] = fx.PutParams{Base: r.BaseCurrency, Quote: r.QuoteCurrency, Date: r.Date, Rate: r.Rate, Source: r.Source.Value}
	}
	rates, err := a.app.FX.Put(ctx, params)
	out := FXRates{Data: make([]FXRate, len(rates))}
	for i, q := range rates {
		out.Data[i] = viewFXRate(q)
	}
	return out, err
}

func viewFXRate(q fx.Quotation) FXRate {
	return FXRate{
		BaseCurrency: q.Base, QuoteCurrency: q.Quote, Date: q.Date, Rate: q.Rate.String(), Source: db.OrNull(q.Source),
		CreatedAt: stamp(q.CreatedAt), UpdatedAt: stampOrNull(q.UpdatedAt),
	}
}
