package reporting

import (
	"cmp"
	"context"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// holdingsInput holds the parameters of every report on holdings.
type holdingsInput struct {
	wire.Paging
	LegalEntityIDs []string `query:"legal_entity_ids" maxItems:"100" doc:"Include only these legal entities, at most 100. Defaults to all that the API key has access to."`
	AssetTypes     []string `query:"asset_types" minItems:"1" maxItems:"100" doc:"Include only these asset symbols."`
	SourceIDs      []string `query:"source_ids" maxItems:"100" doc:"Include only these sources, by their identifiers or those of their accounts."`
}

func (in holdingsInput) filter() holdings.Filter {
	return holdings.Filter{LegalEntityIDs: in.LegalEntityIDs, AssetTypes: in.AssetTypes, SourceIDs: in.SourceIDs}
}

// spanInput holds the parameters of reports over a range of time.
type spanInput struct {
	PeriodID  string `query:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Include only this accounting period. Cannot be combined with dates."`
	StartDate string `query:"start_date" minLength:"1" maxLength:"40" doc:"First time to include: an RFC 3339 time, or a date in the organization's time zone."`
	EndDate   string `query:"end_date" minLength:"1" maxLength:"40" doc:"Last time to include: an RFC 3339 time, or a date in the organization's time zone."`
}

func (in spanInput) span() holdings.Span {
	return holdings.Span{PeriodID: in.PeriodID, StartDate: in.StartDate, EndDate: in.EndDate}
}

// asOfInput holds the parameter of reports at a point in time.
type asOfInput struct {
	AsOf string `query:"as_of" minLength:"1" maxLength:"40" doc:"Time of the report: an RFC 3339 time, or a date in the organization's time zone, which means its end. Defaults to now."`
}

func (h handlers) listClosingPositions(ctx context.Context, in *struct {
	holdingsInput
	PeriodID string `query:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Accounting period at whose end to report. Defaults to the current period as of now."`
}) (PricedList[ClosingPosition], error) {
	found, err := h.app.Holdings.ClosingPositions(ctx, holdings.ClosingParams{Filter: in.filter(), PeriodID: in.PeriodID}, in.Request())
	return pricedList(found, viewClosingPosition, func(c holdings.Closing) []MissingPrice {
		return missing(c.AssetType, c.Currency, c.Worth)
	}), err
}

func (h handlers) listTreasuryBalances(ctx context.Context, in *struct {
	holdingsInput
	asOfInput
}) (PricedList[TreasuryBalance], error) {
	p := holdings.TreasuryParams{Filter: in.filter(), AsOf: in.AsOf, Observed: true}
	found, err := h.app.Holdings.TreasuryBalances(ctx, p, in.Request())
	return pricedList(found, viewTreasuryBalance, func(b holdings.Balance) []MissingPrice {
		return missing(b.AssetType, b.Currency, b.Worth)
	}), err
}

func (h handlers) listRealizedGains(ctx context.Context, in *struct {
	holdingsInput
	spanInput
}) (wire.List[RealizedGains], error) {
	found, err := h.app.Holdings.RealizedGainsLosses(ctx, holdings.GainsParams{Filter: in.filter(), Span: in.span()}, in.Request())
	return wire.ListOf(found, viewRealizedGains), err
}

func (h handlers) listAssetTaxLots(ctx context.Context, in *struct {
	holdingsInput
	asOfInput
}) (PricedList[AssetTaxLot], error) {
	found, err := h.app.Holdings.AssetTaxLots(ctx, holdings.TaxLotsParams{Filter: in.filter(), AsOf: in.AsOf}, in.Request())
	return pricedList(found, viewAssetTaxLot, func(l holdings.TaxLot) []MissingPrice { return missing(l.AssetType, l.Currency, l.Worth) }), err
}

func (h handlers) listDispositions(ctx context.Context, in *struct {
	holdingsInput
	spanInput
}) (wire.List[DispositionRow], error) {
	found, err := h.app.Holdings.ScheduleOfDispositions(ctx, holdings.DispositionsParams{Filter: in.filter(), Span: in.span()}, in.Request())
	return wire.ListOf(found, viewDisposition), err
}

func (h handlers) listRollForward(ctx context.Context, in *struct {
	holdingsInput
	spanInput
	FiscalYear int64 `query:"fiscal_year" minimum:"1900" maximum:"2199" doc:"Fiscal year of each legal entity that ends in this calendar year. Cannot be combined with periods or dates. Defaults to the current fiscal year if none of them is given." example:"2026"`
}) (PricedList[RollForwardRow], error) {
	p := holdings.RollForwardParams{Filter: in.filter(), Span: in.span(), FiscalYear: int(in.FiscalYear)}
	found, err := h.app.Holdings.RollForward(ctx, p, in.Request())
	return pricedList(found, viewRollForward, func(r holdings.RollForward) []MissingPrice {
		return append(missing(r.AssetType, r.Currency, r.Opening), missing(r.AssetType, r.Currency, r.Closing)...)
	}), err
}

// pricedList returns a page of rows with values. It lists each missing price once.
func pricedList[T, V any](p page.Page[T], view func(T) V, lacks func(T) []MissingPrice) PricedList[V] {
	list := wire.ListOf(p, view)
	out := PricedList[V]{Data: list.Data, HasMore: list.HasMore, NextCursor: list.NextCursor, MissingPrices: []MissingPrice{}}
	known := map[MissingPrice]bool{}
	for _, item := range p.Items {
		for _, m := range lacks(item) {
			if !known[m] {
				known[m] = true
				out.MissingPrices = append(out.MissingPrices, m)
			}
		}
	}
	return out
}

func missing(asset, currency string, w holdings.Worth) []MissingPrice {
	if w.Value != nil {
		return nil
	}
	return []MissingPrice{{asset, currency, wire.Timestamp(w.At)}}
}

func fixedOrNull(d *money.Decimal, currency string) *string {
	if d == nil {
		return nil
	}
	text := d.Fixed(currency)
	return &text
}

func viewPriced(w holdings.Worth) Priced {
	if w.Price == nil {
		return Priced{}
	}
	value, at, origin := w.Price.Value.String(), wire.Timestamp(w.Price.At), string(w.Price.Origin)
	return Priced{Price: &value, PriceAt: &at, PriceOrigin: &origin, PriceID: &w.Price.ID}
}

func viewClosingPosition(c holdings.Closing) ClosingPosition {
	return ClosingPosition{
		Priced:             viewPriced(c.Worth),
		AccountingPeriodID: c.Period.ID,
		Period:             c.Period.Key,
		LegalEntityID:      c.LegalEntityID,
		SourceID:           db.OrNull(c.SourceID),
		LedgerAccountID:    c.LedgerAccountID,
		AssetType:          c.AssetType,
		Chain:              db.OrNull(c.Chain),
		TokenID:            db.OrNull(c.TokenID),
		Currency:           c.Currency,
		Quantity:           c.Quantity.String(),
		CostBasis:          c.Basis.Fixed(c.Currency),
		FairValue:          fixedOrNull(c.Worth.Value, c.Currency),
		Adjustment:         c.Adjustment.Fixed(c.Currency),
		CarryingAmount:     c.Carrying.Fixed(c.Currency),
		UnrealizedGainLoss: fixedOrNull(c.Unrealized, c.Currency),
		Lots:               c.Lots,
	}
}

func viewTreasuryBalance(b holdings.Balance) TreasuryBalance {
	v := TreasuryBalance{
		Priced:          viewPriced(b.Worth),
		LegalEntityID:   b.LegalEntityID,
		SourceID:        db.OrNull(b.SourceID),
		LedgerAccountID: b.LedgerAccountID,
		AssetType:       b.AssetType,
		Chain:           db.OrNull(b.Chain),
		TokenID:         db.OrNull(b.TokenID),
		Currency:        b.Currency,
		BookQuantity:    b.Quantity.String(),
		Value:           fixedOrNull(b.Worth.Value, b.Currency),
	}
	if money.IsFiat(b.AssetType) {
		v.BookQuantity = b.Quantity.Fixed(b.AssetType)
	}
	if b.Source != nil {
		class := string(b.Source.Type.Class())
		v.SourceName, v.SourceClass, v.Provider = &b.Source.Name, &class, &b.Source.Provider
	}
	if o := b.Observed; o != nil {
		text := money.Decimal.String
		if money.IsFiat(b.AssetType) {
			text = func(d money.Decimal) string { return d.Fixed(b.AssetType) }
		}
		v.ProviderQuantity, v.Difference, v.LastSynced = new(text(o.Quantity)), new(text(o.Difference())), new(clock.Format(o.At))
	}
	if b.Rate != nil {
		rate := b.Rate.Rate.String()
		v.FXRate, v.FXRateDate = &rate, &b.Rate.Date
	}
	return v
}

func viewRealizedGains(g holdings.Gains) RealizedGains {
	fixed := func(d money.Decimal) string { return d.Fixed(g.Currency) }
	return RealizedGains{
		AccountingPeriodID: g.Period.ID,
		Period:             g.Period.Key,
		LegalEntityID:      g.LegalEntityID,
		AssetType:          g.AssetType,
		Currency:           g.Currency,
		Units:              g.Quantity.String(),
		Proceeds:           fixed(g.Proceeds),
		Fees:               fixed(g.Fee),
		CostBasis:          fixed(g.Basis),
		RealizedGain:       fixed(g.Gain),
		RealizedLoss:       fixed(g.Loss),
		Net:                fixed(g.Net()),
		BookGain:           fixed(g.BookGain()),
		TaxGain:            fixed(g.Net()),
		ShortTerm:          fixed(g.ShortTerm),
		LongTerm:           fixed(g.LongTerm),
	}
}

func viewAssetTaxLot(l holdings.TaxLot) AssetTaxLot {
	return AssetTaxLot{
		Priced:             viewPriced(l.Worth),
		AssetID:            l.ID,
		AssetType:          l.AssetType,
		Chain:              db.OrNull(l.Chain),
		TokenID:            db.OrNull(l.TokenID),
		LegalEntityID:      l.LegalEntityID,
		SourceID:           db.OrNull(l.SourceID),
		LedgerAccountID:    l.LedgerAccountID,
		DateAcquired:       wire.Timestamp(l.AcquiredAt),
		Term:               string(l.Term),
		Currency:           l.Currency,
		Quantity:           l.Quantity.String(),
		RemainingQuantity:  l.RemainingQuantity.String(),
		UnitCost:           l.UnitCost.String(),
		CostBasis:          l.CostBasis.Fixed(l.Currency),
		RemainingBasis:     l.RemainingBasis.Fixed(l.Currency),
		MarketValue:        fixedOrNull(l.Worth.Value, l.Currency),
		UnrealizedGainLoss: fixedOrNull(l.Unrealized, l.Currency),
		TransactionID:      db.OrNull(l.TransactionID),
		ParentAssetID:      db.OrNull(l.ParentID),
		IsManual:           l.Origin == lots.Manual,
		BasisPending:       l.BasisPending,
	}
}

func viewDisposition(d holdings.Disposition) DispositionRow {
	return DispositionRow{
		ID:                 d.ID,
		Description:        d.Quantity.String() + " " + d.AssetType,
		AssetID:            db.OrNull(d.LotID),
		AssetType:          d.AssetType,
		SourceID:           db.OrNull(d.SourceID),
		LegalEntityID:      d.LegalEntityID,
		AccountingDate:     wire.Timestamp(d.AccountingDate),
		AccountingPeriodID: d.PeriodID,
		DateAcquired:       wire.Timestamp(d.AcquiredAt),
		DateDisposed:       wire.Timestamp(d.DisposedAt),
		TransactionType:    cmp.Or(d.TransactionType, journal.Unclassified), // earlier versions stored none for reversals
		Quantity:           d.Quantity.String(),
		Proceeds:           d.Proceeds.Fixed(d.Currency),
		Fee:                d.Fee.Fixed(d.Currency),
		CostBasis:          d.Basis.Fixed(d.Currency),
		GainLoss:           d.Gain.Fixed(d.Currency),
		BookGain:           d.BookGain.Fixed(d.Currency),
		TaxGain:            d.Gain.Fixed(d.Currency),
		Currency:           d.Currency,
		Term:               d.Term,
		DaysHeld:           d.Days,
		Method:             d.Method,
		TransactionID:      db.OrNull(d.TransactionID),
		JournalEntryID:     d.JournalEntryID,
		IsCorrection:       d.Correction,
	}
}

func viewRollForward(r holdings.RollForward) RollForwardRow {
	fixed := func(d money.Decimal) string { return d.Fixed(r.Currency) }
	return RollForwardRow{
		LegalEntityID:    r.LegalEntityID,
		AssetType:        r.AssetType,
		Currency:         r.Currency,
		FirstPeriod:      r.First.Key,
		LastPeriod:       r.Last.Key,
		Method:           r.Method,
		OpeningUnits:     r.OpeningUnits.String(),
		OpeningFairValue: fixedOrNull(r.Opening.Value, r.Currency),
		Additions:        fixed(r.Additions),
		Transfers:        fixed(r.Transfers),
		Dispositions:     fixed(r.Dispositions),
		Gains:            fixedOrNull(r.Gains(), r.Currency),
		Losses:           fixedOrNull(r.Losses(), r.Currency),
		ClosingFairValue: fixedOrNull(r.Closing.Value, r.Currency),
		Units:            r.ClosingUnits.String(),
		Cost:             fixed(r.Cost),
		RealizedGains:    fixed(r.Gain),
		RealizedLosses:   fixed(r.Loss),
	}
}
