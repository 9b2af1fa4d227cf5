package assets

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// pricePath is the parameter of operations on one price.
type pricePath struct {
	ID string `path:"price_id" minLength:"1" maxLength:"64" doc:"Identifier of the price."`
}

func (h handlers) listPrices(ctx context.Context, in *struct {
	wire.Paging
	AssetTypes []string `query:"asset_types" minItems:"1" maxItems:"100" doc:"Return only prices of these asset symbols."`
	Currency   string   `query:"currency" minLength:"3" maxLength:"3" doc:"Return only prices in this ISO 4217 currency." example:"USD"`
	StartDate  string   `query:"start_date" minLength:"1" maxLength:"40" doc:"Return only prices at or after this time: an RFC 3339 time, or a date in the organization's time zone."`
	EndDate    string   `query:"end_date" minLength:"1" maxLength:"40" doc:"Return only prices at or before this time: an RFC 3339 time, or a date in the organization's time zone."`
	Origin     string   `query:"origin" enum:"manual,import,transaction,provider" doc:"Return only prices of this origin."`
}) (wire.List[Price], error) {
	f := price.Filter{AssetTypes: in.AssetTypes, Currency: in.Currency, From: in.StartDate, To: in.EndDate, Origin: price.Origin(in.Origin)}
	prices, err := h.app.Prices.List(ctx, f, in.Request())
	return wire.ListOf(prices, viewPrice), err
}

func (h handlers) getPrice(ctx context.Context, in *struct{ pricePath }) (wire.Data[Price], error) {
	p, err := h.app.Prices.Get(ctx, in.ID)
	return wire.DataOf(viewPrice(p)), err
}

func (h handlers) createPrice(ctx context.Context, in *struct{ Body CreatePrice }) (wire.Data[Price], error) {
	p, err := h.app.Prices.Create(ctx, in.Body.params())
	return wire.DataOf(viewPrice(p)), err
}

func (h handlers) createPrices(ctx context.Context, in *struct{ Body CreatePrices }) (Prices, error) {
	params := make([]price.Params, len(in.Body.Prices))
	for i, p := range in.Body.Prices {
		params[i] = p.params()
	}
	made, err := h.app.Prices.CreateBatch(ctx, params, in.Body.DryRun)
	out := Prices{Data: make([]Price, len(made))}
	for i, p := range made {
		out.Data[i] = viewPrice(p)
	}
	return out, err
}

func (h handlers) updatePrice(ctx context.Context, in *struct {
	pricePath
	Body UpdatePrice
}) (wire.Data[Price], error) {
	p, err := h.app.Prices.Update(ctx, in.ID, price.UpdateParams{Price: in.Body.Price, Note: in.Body.Note.OrZero()})
	return wire.DataOf(viewPrice(p)), err
}

func (h handlers) deletePrice(ctx context.Context, in *struct{ pricePath }) (wire.Data[wire.Deleted], error) {
	err := h.app.Prices.Delete(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

// importsPrices holds the form of an import and, once received, the contents of its file.
type importsPrices struct {
	Form ImportPrices

	read *price.File
}

// receivePrices reads the file, and previews it on a dry run, before the database transaction that stores the prices.
func (h handlers) receivePrices(ctx context.Context, in *importsPrices) (early *wire.Data[PriceImport], after func() error, err error) {
	if in.read, err = price.ReadFile(in.Form.File); err != nil || !in.Form.DryRun {
		return nil, nil, err
	}
	done, err := h.importPrices(ctx, in)
	return &done, nil, err
}

// checkPrices finds the faults of an import of prices.
func (h handlers) checkPrices(ctx context.Context, in *importsPrices) (err error) {
	if in.read, err = price.ReadFile(in.Form.File); err == nil {
		_, err = h.importPrices(ctx, in)
	}
	return err
}

func (h handlers) importPrices(ctx context.Context, in *importsPrices) (wire.Data[PriceImport], error) {
	f := in.Form
	done, err := h.app.Prices.Import(ctx, in.read, price.ImportParams{Dry: f.DryRun, Replace: f.Replace})
	return wire.DataOf(PriceImport{f.DryRun, int64(done.Created), int64(done.Duplicates), int64(done.Replaced)}), err
}

func (p CreatePrice) params() price.Params {
	return price.Params{AssetType: p.AssetType, Currency: p.Currency, Timestamp: p.Timestamp, Price: p.Price, Note: p.Note.Value}
}

func viewPrice(p price.Price) Price {
	return Price{
		ID:        p.ID,
		AssetType: p.AssetType,
		Currency:  p.Currency,
		Timestamp: wire.Timestamp(p.At),
		Price:     p.Value.Fixed(p.Currency),
		Origin:    string(p.Origin),
		Note:      db.OrNull(p.Note),
		CreatedAt: wire.Timestamp(p.CreatedAt),
		UpdatedAt: wire.TimestampOrNull(p.UpdatedAt),
	}
}
