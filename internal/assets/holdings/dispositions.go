package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// DispositionsParams select dispositions by accounting date.
type DispositionsParams struct {
	Filter
	Span
}

func (p DispositionsParams) validate(faults *fault.List) { p.Span.validate(faults) }

// Disposition is what one disposal consumed of one lot.
type Disposition struct {
	ID              string
	LotID           string // empty for a lot deficit
	AssetType       string
	SourceID        string
	LegalEntityID   string
	AccountingDate  time.Time
	PeriodID        string
	AcquiredAt      time.Time
	DisposedAt      time.Time
	TransactionType string
	Quantity        money.Decimal
	Proceeds        money.Decimal // before the fee
	Fee             money.Decimal
	Basis           money.Decimal
	Gain            money.Decimal // for tax: proceeds less cost
	BookGain        money.Decimal // in the books: proceeds less carrying amount
	Currency        string
	Term            string
	Days            int64
	Method          string
	TransactionID   string
	JournalEntryID  string
	Correction      bool // quantities and amounts are differences to a use in a closed period
}

// BookGains returns the gains of uses in the books, proceeds less carrying amount, in the order of the uses.
func (s *Service) BookGains(ctx context.Context, uses []lots.Use) (out []money.Decimal, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		added, err := realized.OfUses(ctx, tx, uses)
		out = make([]money.Decimal, len(uses))
		for i, u := range uses {
			out[i] = u.Gain.Add(added[u.ID])
		}
		return err
	})
	return out, err
}

// ScheduleOfDispositions returns a page of dispositions, lot by lot, by accounting date.
func (s *Service) ScheduleOfDispositions(ctx context.Context, p DispositionsParams, pr page.Request) (page.Page[Disposition], error) {
	key := func(d Disposition) []string { return []string{clock.Format(d.AccountingDate), d.ID} }
	read := func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]Disposition, error) {
		from, to, err := s.bounds(p.Span)
		if err != nil {
			return nil, err
		}
		if after == nil {
			return selectDispositions(ctx, tx, s.Filter, from, to, "", limit)
		}
		at, err := time.Parse(time.RFC3339, after[0])
		if err != nil {
			return nil, fault.Invalidf("cursor", "is not a cursor of this list")
		}
		return selectDispositions(ctx, tx, s.Filter, at, to, after[1], limit)
	}
	return report(ctx, s, "schedule-of-dispositions", p, pr, key, read)
}
