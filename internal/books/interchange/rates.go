package interchange

import (
	"context"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// readRates stores the rates between currencies that a journal quotes. What a thing was worth is no rate.
func (m *importer) readRates(ctx context.Context) error {
	var rates []*notation.Price
	for item, err := range m.items() {
		if err != nil {
			return err
		}
		if p := item.Price; p != nil {
			own := m.entities[m.own]
			p.Base, p.Quote = currency(p.Base, own), currency(p.Quote, own)
			if money.IsFiat(p.Base) && money.IsFiat(p.Quote) && p.Base != p.Quote {
				rates = append(rates, p)
			}
		}
		if len(rates) == fx.RatesMax {
			if err := m.putRates(ctx, rates); err != nil {
				return err
			}
			rates = rates[:0]
		}
	}
	return m.putRates(ctx, rates)
}

// putRates stores rates that are not there yet, of several for a pair and day the last.
func (m *importer) putRates(ctx context.Context, prices []*notation.Price) error {
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
		if err := m.plain(p.Line, q.Source); err != nil {
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

// unknownRates leaves out what is stored already. A source that the journal does not name stays what it is.
func (m *importer) unknownRates(ctx context.Context, rates []fx.Quotation) (fresh []fx.Quotation, err error) {
	type span struct{ from, to string }
	spans := map[[2]string]span{}
	for _, q := range rates {
		pair := [2]string{q.Base, q.Quote}
		s, there := spans[pair]
		if !there {
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
		was, there := stored[[3]string{q.Base, q.Quote, q.Date}]
		if there && was.Rate.Equal(q.Rate) && (q.Source == "" || q.Source == was.Source) {
			continue
		}
		fresh = append(fresh, q)
	}
	return fresh, nil
}
