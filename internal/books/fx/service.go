package fx

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Service holds the use cases.
type Service struct{ db *db.DB }

// NewService returns a Service.
func NewService(d *db.DB) *Service { return &Service{d} }

// Filter narrows a list; empty fields do not. The first and the last day are included.
type Filter struct{ Base, Quote, From, To string }

func (f Filter) validate() error {
	var faults fault.List
	for _, c := range []struct {
		field, value string
		check        func(*fault.List, string, string)
	}{{"base_currency", f.Base, validateCurrency}, {"quote_currency", f.Quote, validateCurrency}, {"start_date", f.From, validateDate},
		{"end_date", f.To, validateDate}} {
		if c.value != "" {
			c.check(&faults, c.field, c.value)
		}
	}
	return faults.Err()
}

// List returns a page of rates, the newest day first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Quotation], error) {
	if err := f.validate(); err != nil {
		return page.Page[Quotation]{}, err
	}
	key := func(q Quotation) []string { return []string{q.Date, q.Base, q.Quote} }
	return page.List("fx-rates", f, p, key, func(after []string, limit int) (rows []Quotation, err error) {
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectPage(ctx, tx, f, after, limit)
			return err
		})
		return rows, err
	})
}

// StoreParams are a rate as text.
type StoreParams struct{ Base, Quote, Date, Rate, Source string }

// Store stores up to RatesMax rates, all or none.
func (s *Service) Store(ctx context.Context, params []StoreParams) (out []Quotation, err error) {
	rates, err := parse(params)
	if err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = Store(ctx, tx, rates)
		return err
	})
	return out, err
}

func parse(params []StoreParams) ([]Quotation, error) {
	var faults fault.List
	if n := len(params); n < 1 || n > RatesMax {
		faults.Addf("rates", "must have 1 to %d items", RatesMax)
		return nil, faults.Err()
	}
	rates := make([]Quotation, len(params))
	for i, p := range params {
		rate, err := money.Parse(p.Rate)
		if err != nil {
			faults.Addf(fmt.Sprintf("rates[%d].rate", i), "%s", err)
			rate = money.FromInt(1) // a valid value, so that validation does not report the field again
		}
		rates[i] = Quotation{Base: p.Base, Quote: p.Quote, Date: p.Date, Rate: rate, Source: p.Source}
	}
	validateRates(&faults, rates)
	return rates, faults.Err()
}

// Verify recomputes the invariants of rates and returns a sentence for each broken one.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	err = walk(ctx, tx, func(q Quotation) error {
		var faults fault.List
		if q.validate(&faults, ""); faults.Err() != nil {
			out = append(out, fmt.Sprintf("fx rate %s/%s of %s: %v", q.Base, q.Quote, q.Date, faults.Err()))
		}
		return nil
	})
	return out, err
}
