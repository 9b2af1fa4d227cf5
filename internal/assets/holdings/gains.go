package holdings

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// GainsParams select the periods of realized gains.
type GainsParams struct {
	Filter
	Span
}

func (p GainsParams) validate(faults *fault.List) { p.Span.validate(faults) }

// Gains are the gains and losses that a legal entity realized on an asset in a period.
type Gains struct {
	Period        period.Period
	LegalEntityID string
	AssetType     string
	Currency      string
	Quantity      money.Decimal
	Proceeds      money.Decimal // before fees
	Fee           money.Decimal
	Basis         money.Decimal
	Gain          money.Decimal
	Loss          money.Decimal // positive
	ShortTerm     money.Decimal // gains less losses
	LongTerm      money.Decimal
	Released      money.Decimal // what revaluations added to the gains, because of the adjustments of what was disposed of
}

// BookGain returns gains less losses in the books: proceeds less carrying amounts.
func (g Gains) BookGain() money.Decimal { return g.Net().Add(g.Released) }

// Net returns gains less losses for tax: proceeds less cost.
func (g Gains) Net() money.Decimal { return g.Gain.Sub(g.Loss) }

func (g Gains) key() []string { return []string{g.Period.Key, g.LegalEntityID, g.AssetType} }

// RealizedGainsLosses returns a page of realized gains and losses, by period, legal entity and asset.
func (s *Service) RealizedGainsLosses(ctx context.Context, p GainsParams, pr page.Request) (page.Page[Gains], error) {
	read := func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]Gains, error) {
		periods, err := s.periodsIn(p.Span)
		if err != nil {
			return nil, err
		}
		var out []Gains
		for _, month := range periods {
			var from []string
			switch {
			case after != nil && month.Key < after[0]:
				continue
			case after != nil && month.Key == after[0]:
				from = after[1:]
			}
			rows, err := s.gains(ctx, tx, month, from, limit-len(out))
			if err != nil {
				return nil, err
			}
			for _, g := range rows {
				g.Currency = s.entity(g.LegalEntityID).BaseCurrency
				out = append(out, g)
			}
			if len(out) == limit {
				break
			}
		}
		return out, nil
	}
	return report(ctx, s, "realized-gains-losses", p, pr, Gains.key, read)
}

// gains returns what was realized in a period, by legal entity and asset. An asset of which nothing was disposed of has a row
// too if a revaluation corrected a gain of before.
func (s *scope) gains(ctx context.Context, tx *db.Tx, month period.Period, after []string, limit int) ([]Gains, error) {
	rows, err := selectGains(ctx, tx, month, s.Filter, after, limit)
	if err != nil {
		return nil, err
	}
	released, err := realized.InPeriod(ctx, tx, month, realized.Filter{LegalEntityIDs: s.LegalEntityIDs, AssetTypes: s.AssetTypes,
		SourceIDs: s.SourceIDs})
	if err != nil {
		return nil, err
	}
	for i := range rows {
		k := realized.Key{LegalEntityID: rows[i].LegalEntityID, AssetType: rows[i].AssetType}
		rows[i].Released = released[k]
		delete(released, k)
	}
	full := len(rows) == limit
	for k, amount := range released {
		g := Gains{Period: month, LegalEntityID: k.LegalEntityID, AssetType: k.AssetType, Released: amount}
		if after != nil && slices.Compare(g.key()[1:], after) <= 0 || full && slices.Compare(g.key(), rows[limit-1].key()) > 0 {
			continue // it is on another page
		}
		rows = append(rows, g)
	}
	slices.SortFunc(rows, func(a, b Gains) int { return slices.Compare(a.key(), b.key()) })
	return rows[:min(len(rows), limit)], nil
}
