package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// RollForwardParams select a span of periods or a fiscal year of each legal entity; the default is the current fiscal year.
type RollForwardParams struct {
	Filter
	Span
	FiscalYear int // the year in which it ends
}

// RollForward reconciles the opening with the closing fair value of an asset:
// opening + additions + transfers - dispositions + gains - losses = closing.
type RollForward struct {
	LegalEntityID string
	AssetType     string
	Currency      string
	First, Last   period.Period
	Method        string // of cost basis, at the end
	OpeningUnits  money.Decimal
	Opening       Worth
	Additions     money.Decimal // what was acquired, at cost
	Transfers     money.Decimal // received without being acquired, less what left without being disposed of, at cost
	Dispositions  money.Decimal // what was disposed of, at its value at that time
	Change        *money.Decimal
	Closing       Worth
	ClosingUnits  money.Decimal
	Cost          money.Decimal // of what is left
	Gain          money.Decimal // realized
	Loss          money.Decimal // realized, positive
}

// Gains returns the change in value of an asset with a net gain, else zero. It is nil if a price is missing.
func (r RollForward) Gains() *money.Decimal { return r.side(1) }

// Losses returns the change in value of an asset with a net loss as a positive amount, else zero. It is nil if a price is
// missing.
func (r RollForward) Losses() *money.Decimal { return r.side(-1) }

func (r RollForward) side(sign int) *money.Decimal {
	if r.Change == nil {
		return nil
	}
	d := money.Decimal{}
	if r.Change.Sign() == sign {
		d = r.Change.Abs()
	}
	return &d
}

func (r RollForward) key() []string { return []string{r.LegalEntityID, r.AssetType} }

// RollForward returns a page of roll-forwards by legal entity and asset, as ASC 350-60 requires them to be disclosed.
func (s *Service) RollForward(ctx context.Context, p RollForwardParams, pr page.Request) (page.Page[RollForward], error) {
	read := func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]RollForward, error) {
		var out []RollForward
		for _, e := range s.entities {
			from := ""
			switch {
			case after != nil && e.ID < after[0]:
				continue
			case after != nil && e.ID == after[0]:
				from = after[1]
			}
			rows, err := s.rollForward(ctx, tx, e, p, from, limit-len(out))
			if err != nil {
				return nil, err
			}
			if out = append(out, rows...); len(out) == limit {
				break
			}
		}
		return out, nil
	}
	return report(ctx, s, "roll-forward", p, pr, RollForward.key, read)
}

func (p RollForwardParams) validate(faults *fault.List) {
	p.Span.validate(faults)
	if p.FiscalYear != 0 && p.Span != (Span{}) {
		faults.Addf("fiscal_year", "cannot be combined with accounting_period_id, start_date or end_date")
	}
}

// periodRange returns the first and the last period of the report, and reports whether there are any.
func (s *scope) periodRange(e entity.LegalEntity, p RollForwardParams, now time.Time) (first, last period.Period, some bool, err error) {
	periods, err := s.periodsIn(p.Span)
	if err != nil || len(periods) == 0 {
		return first, last, false, err
	}
	if p.Span == (Span{}) {
		year := p.FiscalYear
		if year == 0 {
			current, _ := s.periodAt(now)
			year = fiscalYear(e, current)
		}
		var in []period.Period
		for _, q := range periods {
			if fiscalYear(e, q) == year {
				in = append(in, q)
			}
		}
		periods = in
	}
	if len(periods) == 0 {
		return first, last, false, nil
	}
	return periods[0], periods[len(periods)-1], true, nil
}

// fiscalYear returns the fiscal year of a period, named by the year in which it ends.
func fiscalYear(e entity.LegalEntity, p period.Period) int {
	m, err := calendar.ParseKey(p.Key)
	if err != nil {
		return 0 // periods have valid keys
	}
	return m.FiscalYear(time.Month(e.FiscalYearStartMonth))
}

// rollForward returns the roll-forwards of one legal entity.
func (s *scope) rollForward(ctx context.Context, tx *db.Tx, e entity.LegalEntity, p RollForwardParams, after string,
	limit int) ([]RollForward, error) {
	first, last, some, err := s.periodRange(e, p, tx.Now())
	if err != nil || !some {
		return nil, err
	}
	moves, err := s.inScope(ctx, tx, e, first, last, after, limit)
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	method, err := methodAt(ctx, tx, e.ID, last.End)
	if err != nil {
		return nil, err
	}
	var wanted []entityAsset
	for _, m := range moves {
		wanted = append(wanted, entityAsset{e.ID, m.AssetType})
	}
	begins, ends := first.Start.Add(-time.Millisecond), valuedAt(last, tx.Now())
	before, err := s.pricesAtEnd(ctx, tx, s.periodBefore(first), wanted)
	if err != nil {
		return nil, err
	}
	then, err := s.pricesAtEnd(ctx, tx, last, wanted)
	if err != nil {
		return nil, err
	}
	out := make([]RollForward, len(moves))
	for i, m := range moves {
		r := RollForward{
			LegalEntityID: e.ID, AssetType: m.AssetType, Currency: e.BaseCurrency, First: first, Last: last, Method: method,
			OpeningUnits: m.OpeningQuantity, Opening: worthOf(begins, before[wanted[i]], m.OpeningQuantity, e.BaseCurrency),
			Additions: m.AddedBasis, Dispositions: m.Proceeds, ClosingUnits: m.ClosingQuantity,
			Closing: worthOf(ends, then[wanted[i]], m.ClosingQuantity, e.BaseCurrency),
			Cost:    m.ClosingBasis, Gain: m.Gain, Loss: m.Loss,
		}
		r.Transfers = m.ClosingBasis.Sub(m.OpeningBasis).Sub(m.AddedBasis).Add(m.DisposedBasis)
		if r.Opening.Value != nil && r.Closing.Value != nil {
			change := r.Closing.Value.Sub(*r.Opening.Value).Sub(r.Additions).Sub(r.Transfers).Add(r.Dispositions)
			r.Change = &change
		}
		out[i] = r
	}
	return out, nil
}

// inScope reads up to limit assets that are in the scope of ASC 350-60 according to their policies.
func (s *scope) inScope(ctx context.Context, tx *db.Tx, e entity.LegalEntity, first, last period.Period, after string,
	limit int) ([]rollForwardRow, error) {
	f := s.Filter
	f.LegalEntityIDs = []string{e.ID}
	var out []rollForwardRow
	for {
		rows, err := selectRollForward(ctx, tx, first.Key, last.Key, f, after, limit)
		if err != nil || len(rows) == 0 {
			return out, err
		}
		assets := make([]string, len(rows))
		for i, r := range rows {
			assets[i] = r.AssetType
		}
		policies, err := assetpolicy.ForAssets(ctx, tx, assets)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if p := policies[r.AssetType]; p.InScope && !p.OwnToken {
				out = append(out, r)
			}
		}
		if len(rows) < limit || len(out) >= limit {
			return atMost(out, limit), nil
		}
		after = assets[len(assets)-1]
	}
}
