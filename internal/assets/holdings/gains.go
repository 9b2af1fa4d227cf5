package holdings

import (
	"context"

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
}

// Net returns gains less losses.
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
			rows, err := selectGains(ctx, tx, month, s.Filter, from, limit-len(out))
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
