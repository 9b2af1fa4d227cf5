package interchange

import (
	"context"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// importRates stores the exchange rates between fiat currencies that a journal quotes. Prices of other assets are not
// exchange rates.
func (m *importer) importRates(ctx context.Context) error {
	var rates []*notation.Price
	for item, err := range m.items() {
		if err != nil {
			return err
		}
		if p := item.Price; p != nil {
			own := m.entities[m.defaultEntityID]
			p.Base, p.Quote = currency(p.Base, own), currency(p.Quote, own)
			if money.IsFiat(p.Base) && money.IsFiat(p.Quote) && p.Base != p.Quote {
				rates = append(rates, p)
			}
		}
		if len(rates) == fx.RatesMax {
			if err := m.storeRates(ctx, rates); err != nil {
				return err
			}
			rates = rates[:0]
		}
	}
	return m.storeRates(ctx, rates)
}

// storeRates stores rates that do not exist yet; of several for a pair and day, the last counts.
func (m *importer) storeRates(ctx context.Context, prices []*notation.Price) error {
	places := map[[3]string]int{}
	var rates []fx.Quotation
	for _, p := range prices {
		q := fx.Quotation{Base: p.Base, Quote: p.Quote, Date: p.Date, Rate: p.Rate, Source: p.Source}
		if q.Rate.Sign() <= 0 {
			return m.fail(p.Line, "the rate from %s to %s must be more than 0", p.Base, p.Quote)
		}
		if utf8.RuneCountInString(q.Source) > fx.SourceMax {
			return m.fail(p.Line, "the source of the rate has more than %d characters; shorten it", fx.SourceMax)
		}
		if err := m.rejectNUL(p.Line, q.Source); err != nil {
			return err
		}
		day := [3]string{q.Base, q.Quote, q.Date}
		i, twice := places[day]
		if !twice {
			i = len(rates)
			places[day], rates = i, append(rates, q)
		}
		rates[i] = q
	}
	fresh, err := m.unknownRates(ctx, rates)
	if err != nil || len(fresh) == 0 {
		return err
	}
	m.Rates += len(fresh)
	_, err = fx.Store(ctx, m.tx, fresh)
	return err
}

// unknownRates drops rates that are stored already. A journal that names no source does not change the stored source.
func (m *importer) unknownRates(ctx context.Context, rates []fx.Quotation) (fresh []fx.Quotation, err error) {
	type span struct{ from, to string }
	spans := map[[2]string]span{}
	for _, q := range rates {
		pair := [2]string{q.Base, q.Quote}
		s, exists := spans[pair]
		if !exists {
			s = span{q.Date, q.Date}
		}
		spans[pair] = span{min(s.from, q.Date), max(s.to, q.Date)}
	}
	stored := map[[3]string]fx.Quotation{}
	for pair, s := range spans {
		quoted, err := fx.ListBetween(ctx, m.tx, pair[0], pair[1], s.from, s.to)
		if err != nil {
			return nil, err
		}
		for _, q := range quoted {
			stored[[3]string{q.Base, q.Quote, q.Date}] = q
		}
	}
	for _, q := range rates {
		was, exists := stored[[3]string{q.Base, q.Quote, q.Date}]
		if exists && was.Rate.Equal(q.Rate) && (q.Source == "" || q.Source == was.Source) {
			continue
		}
		fresh = append(fresh, q)
	}
	return fresh, nil
}
