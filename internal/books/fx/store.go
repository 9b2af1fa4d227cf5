package fx

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Store stores rates, all or none, and returns them in the same order. A rate replaces the stored one of its pair and day.
// The fields of faults are named rates[0].rate and so on. It runs in the caller's transaction.
func Store(ctx context.Context, tx *db.Tx, rates []Quotation) ([]Quotation, error) {
	var faults fault.List
	if validateRates(&faults, rates); faults.Err() != nil {
		return nil, faults.Err()
	}
	if _, err := orgstate.Lock(ctx, tx); err != nil { // concurrent writes of the same rate must each see the rate they replace
		return nil, err
	}
	out := make([]Quotation, len(rates))
	for _, p := range groupByPair(rates) {
		if err := p.store(ctx, tx, rates, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// validateRates adds every fault of rates that are stored together.
func validateRates(faults *fault.List, rates []Quotation) {
	seen := map[[3]string]int{}
	for i, q := range rates {
		at := fmt.Sprintf("rates[%d].", i)
		q.validate(faults, at)
		key := [3]string{q.Base, q.Quote, q.Date}
		if other, twice := seen[key]; twice {
			faults.Addf(at+"date", "is the same as in rates[%d], for the same pair of currencies", other)
		} else {
			seen[key] = i
		}
	}
}

func (q Quotation) validate(faults *fault.List, at string) {
	validateCurrency(faults, at+"base_currency", q.Base)
	validateCurrency(faults, at+"quote_currency", q.Quote)
	if q.Base == q.Quote {
		faults.Addf(at+"quote_currency", "must be another currency than base_currency")
	}
	if validateDate(faults, at+"date", q.Date); q.Date < dateMin {
		faults.Addf(at+"date", "must not be before %s", dateMin)
	}
	if q.Rate.Sign() <= 0 {
		faults.Addf(at+"rate", "must be more than 0")
	}
	if utf8.RuneCountInString(q.Source) > SourceMax {
		faults.Addf(at+"source", "must have at most %d characters", SourceMax)
	}
}

func validateCurrency(faults *fault.List, field, code string) {
	if !money.IsFiat(code) {
		faults.Addf(field, "must be an ISO 4217 currency such as USD")
	}
}

func validateDate(faults *fault.List, field, date string) {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		faults.Addf(field, "must be a date such as 2026-01-31")
	}
}

// dateMin is the earliest date that exports of the journal can write.
const dateMin = "1000-01-01"

// pair is a pair of currencies with the indexes of its rates in the request.
type pair struct {
	base, quote string
	indexes     []int
}

// groupByPair groups rates by pair, in the order of the first rate of each pair.
func groupByPair(rates []Quotation) []*pair {
	var out []*pair
	known := map[string]*pair{}
	for i, q := range rates {
		p := known[q.Base+q.Quote]
		if p == nil {
			p = &pair{base: q.Base, quote: q.Quote}
			known[q.Base+q.Quote] = p
			out = append(out, p)
		}
		p.indexes = append(p.indexes, i)
	}
	return out
}

// store stores the rates of one pair with one audit record. It does not write rates that are unchanged.
func (p *pair) store(ctx context.Context, tx *db.Tx, rates, out []Quotation) error {
	from, to := rates[p.indexes[0]].Date, rates[p.indexes[0]].Date
	for _, i := range p.indexes {
		from, to = min(from, rates[i].Date), max(to, rates[i].Date)
	}
	there, err := selectBetween(ctx, tx, p.base, p.quote, from, to)
	if err != nil {
		return err
	}
	stored := make(map[string]Quotation, len(there))
	for _, q := range there {
		stored[q.Date] = q
	}
	var before, after []Quotation
	now := tx.Now()
	for _, i := range p.indexes {
		q, old := rates[i], stored[rates[i].Date]
		q.Source = strings.TrimSpace(q.Source)
		q.CreatedAt, q.UpdatedAt = now, nil
		switch {
		case old.Date == "":
			after = append(after, q)
		case old.Rate.Equal(q.Rate) && old.Source == q.Source:
			q = old
		default:
			q.CreatedAt, q.UpdatedAt = old.CreatedAt, &now
			before, after = append(before, old), append(after, q)
		}
		out[i] = q
	}
	if len(after) == 0 {
		return nil
	}
	if err := upsert(ctx, tx, after); err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{
		Action: "fx_rate.stored", ResourceType: "fx_rate", ResourceID: p.base + "/" + p.quote, Before: p.facts(before), After: p.facts(after),
		Parts: parts(after), PartsOnly: true,
	})
	return nil
}

// parts returns what is stored of rates, for the audit log.
func parts(rates []Quotation) []audit.Part {
	out := make([]audit.Part, len(rates))
	for i, q := range rates {
		out[i] = audit.Part{Type: "fx_rate", ID: q.Base + "/" + q.Quote + " " + q.Date, Table: "fx_rates", Row: toRow(q)}
	}
	return out
}

// facts describes rates of a pair in the audit log and in events.
func (p *pair) facts(rates []Quotation) map[string]any {
	if len(rates) == 0 {
		return nil
	}
	list := make([]map[string]any, len(rates))
	for i, q := range rates {
		list[i] = map[string]any{"date": q.Date, "rate": q.Rate, "source": db.OrNull(q.Source)}
	}
	return map[string]any{"base_currency": p.base, "quote_currency": p.quote, "rates": list}
}
