package statements

import (
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
)

// IDsMax is the maximum number of ids of legal entities, periods or accounts.
const IDsMax = 100

// Params select what a report covers. Zero values select everything.
type Params struct {
	TagID                string
	StartDate, EndDate   string // a date or a time
	PeriodID             string
	PeriodIDs            []string // in addition to PeriodID
	FromInception        bool     // every period up to that of EndDate
	LegalEntityIDs       []string
	AccountIDs           []string // only these; computed accounts are then computed from these alone
	PresentationCurrency string
	OmitZero             bool // leave out accounts that are zero in every period
}

// span selects the periods to show: some by id, or those between two bounds.
type span struct {
	ids      []string
	from, to *bound
}

// validate collects every fault, with all parameters involved.
func (p Params) validate() (span, error) {
	var faults fault.List
	s := span{ids: p.PeriodIDs}
	if p.PeriodID != "" {
		s.ids = append([]string{p.PeriodID}, p.PeriodIDs...)
	}
	s.from, s.to = newBound(&faults, "start_date", p.StartDate), newBound(&faults, "end_date", p.EndDate)
	if s.from != nil && s.to != nil && s.from.after(s.to) {
		faults.Addf("start_date", "must not be after end_date")
	}
	p.validateRequired(&faults)
	p.validateExclusive(&faults)
	atMost(&faults, "legal_entity_ids", p.LegalEntityIDs)
	atMost(&faults, "accounting_period_ids", p.PeriodIDs)
	atMost(&faults, "ledger_account_ids", p.AccountIDs)
	if p.PresentationCurrency != "" && !money.IsFiat(p.PresentationCurrency) {
		faults.Addf("presentation_currency", "must be an ISO 4217 currency such as USD")
	}
	return s, faults.Err()
}

func atMost(faults *fault.List, field string, ids []string) {
	if len(ids) > IDsMax {
		faults.Addf(field, "must have at most %d ids", IDsMax)
	}
}

// validateRequired collects parameters that are missing next to others.
func (p Params) validateRequired(faults *fault.List) {
	switch {
	case p.FromInception && p.EndDate == "":
		faults.Addf("from_inception", "must be sent together with end_date")
		faults.Addf("end_date", "is required with from_inception")
	case p.StartDate != "" && p.EndDate == "":
		faults.Addf("start_date", "must be sent together with end_date")
		faults.Addf("end_date", "is required with start_date")
	case p.StartDate == "" && p.EndDate != "" && !p.FromInception:
		faults.Addf("start_date", "is required with end_date, unless from_inception is true")
		faults.Addf("end_date", "must be sent together with start_date or from_inception")
	}
}

// validateExclusive collects parameters that cannot be combined.
func (p Params) validateExclusive(faults *fault.List) {
	var dates, ids []string
	if p.StartDate != "" {
		dates = append(dates, "start_date")
	}
	if p.EndDate != "" {
		dates = append(dates, "end_date")
	}
	if p.PeriodID != "" {
		ids = append(ids, "accounting_period_id")
	}
	if len(p.PeriodIDs) > 0 {
		ids = append(ids, "accounting_period_ids")
	}
	exclude := func(some, others []string) {
		if len(some) == 0 || len(others) == 0 {
			return
		}
		for _, name := range some {
			faults.Addf(name, "cannot be combined with %s", strings.Join(others, " or "))
		}
		for _, name := range others {
			faults.Addf(name, "cannot be combined with %s", strings.Join(some, " or "))
		}
	}
	exclude(dates, ids)
	if p.FromInception {
		exclude([]string{"from_inception"}, ids)
		if p.StartDate != "" {
			exclude([]string{"from_inception"}, []string{"start_date"})
		}
	}
}

// bound is one end of a range. A date selects its month in the organization's time zone, a time the period that contains
// it.
type bound struct {
	date string
	at   time.Time
}

func newBound(faults *fault.List, field, text string) *bound {
	if text == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return &bound{date: text}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		faults.Addf(field, "%s", clock.Unreadable(text))
		return nil
	}
	return &bound{at: at}
}

// after compares two bounds of the same form; bounds of different forms can only be compared by their periods.
func (b *bound) after(other *bound) bool {
	if b.date != "" && other.date != "" {
		return b.date > other.date
	}
	return b.date == "" && other.date == "" && b.at.After(other.at)
}

const monthDigits = len("2006-01")

// pick returns the indexes of the periods to show, the oldest first.
func (s span) pick(periods []period.Period) ([]int, error) {
	wanted := make(map[string]bool, len(s.ids))
	for _, id := range s.ids {
		wanted[id] = true
	}
	found := 0
	out := make([]int, 0, len(periods))
	for i, p := range periods {
		switch {
		case len(wanted) > 0:
			if wanted[p.ID] {
				out = append(out, i)
				found++
			}
		case s.holds(p):
			out = append(out, i)
		}
	}
	if found < len(wanted) {
		return nil, fault.Missing("accounting period")
	}
	return out, nil
}

func (s span) holds(p period.Period) bool {
	if f := s.from; f != nil && (f.date != "" && p.Key < f.date[:monthDigits] || f.date == "" && !p.End.After(f.at)) {
		return false
	}
	if t := s.to; t != nil && (t.date != "" && p.Key > t.date[:monthDigits] || t.date == "" && p.Start.After(t.at)) {
		return false
	}
	return true
}
