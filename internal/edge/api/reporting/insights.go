package reporting

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/reporting/insights"
)

func (h handlers) getFinancialInsights(ctx context.Context, in *struct {
	PeriodID             string   `query:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Accounting period at whose end the figures are. Defaults to the last one that is over."`
	LegalEntityIDs       []string `query:"legal_entity_ids" maxItems:"100" doc:"Include only these legal entities, at most 100, added together. Defaults to all that the API key has access to."`
	PresentationCurrency string   `query:"presentation_currency" minLength:"3" maxLength:"3" doc:"Presentation currency (ISO 4217); required if the legal entities have different base currencies. A figure for which a rate is missing is null with a reason."`
	Months               int64    `query:"months" minimum:"1" maximum:"24" default:"3" doc:"Number of months up to the period that burn is averaged over. Defaults to 3."`
}) (wire.Data[FinancialInsights], error) {
	x, err := h.app.Insights.Get(ctx, insights.Params{LegalEntityIDs: in.LegalEntityIDs, PeriodID: in.PeriodID,
		PresentationCurrency: in.PresentationCurrency, Months: int(in.Months)})
	if err != nil {
		return wire.Data[FinancialInsights]{}, err
	}
	return wire.DataOf(viewInsights(x)), nil
}

func viewInsights(x *insights.Insights) FinancialInsights {
	figure := func(f insights.Figure, text func(money.Decimal) string) InsightFigure {
		out := InsightFigure{Reason: db.OrNull(f.Reason), Formula: db.OrNull(f.Formula), Parts: viewInsightParts(f.Parts, x.Currency)}
		if f.Value != nil {
			out.Value = new(text(*f.Value))
		}
		return out
	}
	amount := func(d money.Decimal) string { return d.Fixed(x.Currency) }
	places := func(n int32) func(money.Decimal) string {
		return func(d money.Decimal) string { return string(d.AppendFixed(nil, n)) }
	}
	months, share := places(insights.RunwayPlaces), places(insights.SharePlaces)
	out := FinancialInsights{
		Currency:                      x.Currency,
		LegalEntityIDs:                x.LegalEntityIDs,
		Months:                        int64(x.Months),
		Cash:                          figure(x.Cash, amount),
		DigitalAssets:                 figure(x.DigitalAssets, amount),
		GrossBurn:                     figure(x.GrossBurn, amount),
		NetBurn:                       figure(x.NetBurn, amount),
		RunwayMonths:                  figure(x.Runway, months),
		RunwayMonthsWithDigitalAssets: figure(x.RunwayWithAssets, months),
		LargestShare:                  figure(x.LargestShare, share),
		Concentration:                 []InsightHolding{},
		LargestMovements:              []InsightMovement{},
		LargestMovementsReason:        db.OrNull(x.MovementsReason),
	}
	if x.Period != nil {
		out.AccountingPeriodID, out.Period = &x.Period.ID, &x.Period.Key
	}
	for _, h := range x.Holdings {
		v := InsightHolding{AssetType: h.Name, IsCash: h.Cash, Value: amount(h.Value), Parts: viewInsightParts(h.Parts, x.Currency)}
		if h.Share != nil {
			v.Share = new(share(*h.Share))
		}
		out.Concentration = append(out.Concentration, v)
	}
	for _, m := range x.Movements {
		v := InsightMovement{
			LedgerAccountID:   m.Account.ID,
			LedgerAccountName: m.Account.Name,
			Type:              string(m.Account.Type),
			Amount:            amount(m.Amount),
			Explain:           m.Explain.String(),
		}
		if m.Previous != nil {
			v.PreviousAmount, v.PreviousExplain = new(amount(*m.Previous)), new(m.PreviousExplain.String())
		}
		out.LargestMovements = append(out.LargestMovements, v)
	}
	return out
}

func viewInsightParts(parts []insights.Part, currency string) []InsightPart {
	out := make([]InsightPart, len(parts))
	for i, p := range parts {
		out[i] = InsightPart{Label: p.Label, Value: p.Value.Fixed(p.Currency), Currency: p.Currency,
			Contribution: p.Contribution.Fixed(currency), Explain: p.Explain.String()}
	}
	return out
}
