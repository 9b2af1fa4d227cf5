package assets

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// revaluationPath is the parameter of operations on one revaluation.
type revaluationPath struct {
	ID string `path:"revaluation_id" minLength:"1" maxLength:"64" doc:"Identifier of the revaluation."`
}

func (h handlers) listRevaluations(ctx context.Context, in *struct {
	wire.Paging
	AccountingPeriodID string `query:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Return only revaluations of this accounting period."`
	LegalEntityID      string `query:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Return only revaluations that measured something for this legal entity."`
	Status             string `query:"status" enum:"posted,replaced,reversed" doc:"Return only revaluations with this status."`
}) (wire.List[RevaluationSummary], error) {
	f := revaluation.Filter{PeriodID: in.AccountingPeriodID, LegalEntityID: in.LegalEntityID, Status: revaluation.Status(in.Status)}
	runs, err := h.app.Revaluations.List(ctx, f, in.Request())
	return wire.ListOf(runs, viewRevaluationSummary), err
}

func (h handlers) getRevaluation(ctx context.Context, in *struct{ revaluationPath }) (wire.Data[Revaluation], error) {
	r, err := h.app.Revaluations.Get(ctx, in.ID)
	return wire.DataOf(viewRevaluation(r)), err
}

func (h handlers) createRevaluation(ctx context.Context, in *struct{ Body CreateRevaluation }) (wire.Data[Revaluation], error) {
	p := revaluation.RunParams{PeriodID: in.Body.AccountingPeriodID, LegalEntityIDs: in.Body.LegalEntityIDs, Dry: in.Body.DryRun}
	for _, k := range in.Body.Kinds {
		p.Kinds = append(p.Kinds, revaluation.Kind(k))
	}
	r, err := h.app.Revaluations.Run(ctx, p)
	return wire.DataOf(viewRevaluation(r)), err
}

func (h handlers) reverseRevaluation(ctx context.Context, in *struct{ revaluationPath }) (wire.Data[Revaluation], error) {
	r, err := h.app.Revaluations.Reverse(ctx, in.ID)
	return wire.DataOf(viewRevaluation(r)), err
}

func (h handlers) listRevaluationRows(ctx context.Context, in *struct {
	revaluationPath
	wire.Paging
	Kind string `query:"kind" enum:"adoption,fair_value,revaluation,impairment,unit_balance,fx" doc:"Return only rows of this kind."`
	Unit string `query:"unit" minLength:"1" maxLength:"100" doc:"Return only rows of this asset or foreign currency." example:"ETH"`
}) (wire.List[RevaluationRow], error) {
	rows, err := h.app.Revaluations.Rows(ctx, in.ID, revaluation.RowFilter{Kind: revaluation.Kind(in.Kind), Unit: in.Unit}, in.Request())
	return wire.ListOf(rows, viewRevaluationRow), err
}

func viewRevaluationSummary(r revaluation.Run) RevaluationSummary {
	out := RevaluationSummary{
		ID:                 db.OrNull(r.ID),
		AccountingPeriodID: r.PeriodID,
		PeriodKey:          r.PeriodKey,
		AsOf:               wire.Timestamp(r.AsOf),
		Status:             string(r.Status()),
		CreatedBy:          db.OrNull(r.CreatedBy),
		CreatedAt:          wire.Timestamp(r.CreatedAt),
		ReversedAt:         wire.TimestampOrNull(r.ReversedAt),
		Parts:              make([]RevaluationPart, len(r.Parts)),
	}
	for i, p := range r.Parts {
		out.Parts[i] = RevaluationPart{p.LegalEntityID, string(p.Kind), string(p.Status)}
	}
	return out
}

func viewRevaluation(r revaluation.Run) Revaluation {
	out := Revaluation{
		RevaluationSummary: viewRevaluationSummary(r),
		DryRun:             r.ID == "",
		Assets:             []RevaluedAsset{},
		Balances:           []RemeasuredBalance{},
		FX:                 []RemeasuredCurrency{},
		RowCount:           r.RowCount,
		Rows:               []RevaluationRow{},
	}
	for _, i := range r.Items {
		switch i.Kind {
		case revaluation.Exchange:
			out.FX = append(out.FX, viewRemeasured(i))
		case revaluation.UnitBalance:
			out.Balances = append(out.Balances, viewRemeasuredBalance(i))
		default:
			out.Assets = append(out.Assets, viewRevalued(i))
		}
	}
	for _, row := range r.Rows {
		out.Rows = append(out.Rows, viewRevaluationRow(row))
	}
	return out
}

func viewBooked(i revaluation.Item) Booked {
	out := Booked{
		Delta:           i.Delta().Fixed(i.Currency),
		Outcome:         string(i.Outcome),
		JournalEntryID:  db.OrNull(i.EntryID),
		ReversedEntryID: db.OrNull(i.ReplacedID),
		Lines:           make([]RevaluationLine, len(i.Lines)),
	}
	for n, l := range i.Lines {
		out.Lines[n] = RevaluationLine{db.OrNull(l.AccountID), db.OrNull(l.Role), string(l.Side), l.Amount.Fixed(i.Currency)}
	}
	return out
}

func viewRevalued(i revaluation.Item) RevaluedAsset {
	out := RevaluedAsset{
		LegalEntityID:      i.LegalEntityID,
		Kind:               string(i.Kind),
		AssetType:          i.Unit,
		Currency:           i.Currency,
		Quantity:           i.Quantity.String(),
		PreviousAdjustment: i.Before.Fixed(i.Currency),
		FairValue:          i.Value.Fixed(i.Currency),
		NewAdjustment:      i.After.Fixed(i.Currency),
		FrozenPrice:        viewQuote(i.Price),
		Booked:             viewBooked(i),
	}
	if i.Cost != nil {
		out.CostBasis = i.Cost.Fixed(i.Currency)
	}
	return out
}

func viewRemeasuredBalance(i revaluation.Item) RemeasuredBalance {
	return RemeasuredBalance{
		LegalEntityID: i.LegalEntityID,
		AssetType:     i.Unit,
		Currency:      i.Currency,
		Quantity:      i.Quantity.String(),
		BookBefore:    i.Before.Fixed(i.Currency),
		BookAfter:     i.After.Fixed(i.Currency),
		FrozenPrice:   viewQuote(i.Price),
		Booked:        viewBooked(i),
	}
}

func viewRemeasured(i revaluation.Item) RemeasuredCurrency {
	out := RemeasuredCurrency{
		LegalEntityID:   i.LegalEntityID,
		ForeignCurrency: i.Unit,
		Currency:        i.Currency,
		ForeignBalance:  i.Quantity.Fixed(i.Unit),
		BookBefore:      i.Before.Fixed(i.Currency),
		BookAfter:       i.After.Fixed(i.Currency),
		Booked:          viewBooked(i),
	}
	if q := i.Price; q != nil {
		rate, date := q.Value.String(), clock.Format(q.At)[:len("2006-01-02")]
		out.Rate, out.RateDate, out.RateSource = &rate, &date, db.OrNull(q.Origin)
	}
	return out
}

func viewQuote(q *revaluation.Quote) FrozenPrice {
	if q == nil {
		return FrozenPrice{}
	}
	value, at := q.Value.String(), wire.Timestamp(q.At)
	return FrozenPrice{&value, db.OrNull(q.PriceID), &at, db.OrNull(q.Origin)}
}

func viewRevaluationRow(r revaluation.Row) RevaluationRow {
	out := RevaluationRow{
		LegalEntityID: r.LegalEntityID,
		Kind:          string(r.Kind),
		Unit:          r.Unit,
		Currency:      r.Currency,
		Quantity:      r.Quantity.String(),
		Before:        r.Before.Fixed(r.Currency),
		Value:         r.Value.Fixed(r.Currency),
		After:         r.After.Fixed(r.Currency),
		Delta:         r.Delta().Fixed(r.Currency),
		FrozenPrice:   viewQuote(r.Price),
	}
	subject := r.SubjectID
	if r.IsAccount() {
		out.LedgerAccountID = &subject
	} else {
		out.AssetID = &subject
	}
	if r.Cost != nil {
		cost := r.Cost.Fixed(r.Currency)
		out.CostBasis = &cost
	}
	return out
}
