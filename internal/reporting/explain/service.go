// Package explain explains the figures of reports: the parts that a figure is made of, down to journal lines, lots,
// prices and the transactions behind them.
//
// A Query names a figure in the terms of its report. The parts of an explanation add up to the figure exactly; what the
// stored data does not account for is a part of its own, called an unexplained difference. A part that is itself a
// figure of a report has the query that explains it, and a part made of the lines, lots or dispositions listed beside it
// says so. Everything before a period is one part, the figure of the previous period, so that the cost of an explanation
// depends on what it shows and not on the age of the books.
//
// The figures come from the reports themselves, restricted to the row in question.
package explain

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// Service explains figures.
type Service struct {
	db           *db.DB
	reports      *statements.Service
	holdings     *holdings.Service
	revaluations *revaluation.Service
}

// NewService returns a service that explains the figures of these reports.
func NewService(d *db.DB, reports *statements.Service, held *holdings.Service, revaluations *revaluation.Service) *Service {
	return &Service{d, reports, held, revaluations}
}

// inquiry is the explanation of one figure in progress.
type inquiry struct {
	*Service
	tx   *db.Tx
	q    Query
	page page.Request
	out  *Explanation

	periods    []period.Period
	cursorUsed bool // the cursor has been used
}

// specs describes how the figures of each report are identified. It is set in init, because explanations refer to one
// another.
var specs map[string]spec

func init() {
	statement := []string{"tag_id", entitiesName, "presentation_currency"}
	holding := []string{"source_id", "ledger_account_id", "chain", "token_id"}
	specs = map[string]spec{
		"balance-sheet":    {sheetColumns, []string{"ledger_account_id|row", "accounting_period_id"}, statement, (*inquiry).sheet},
		"trial-balance":    {trialColumns, []string{"ledger_account_id|row", "accounting_period_id"}, statement, (*inquiry).trial},
		"income-statement": {[]string{"amount"}, []string{"ledger_account_id|row", "accounting_period_id"}, statement, (*inquiry).income},
		"general-ledger":   {ledgerColumns, []string{"journal_entry_id"}, []string{"journal_line_id", "tag_id", entitiesName}, (*inquiry).ledger},
	}
	row := []string{"legal_entity_id", "asset_type"}
	for name, s := range map[string]spec{
		"closing-positions":     {positionColumns, append([]string{"accounting_period_id"}, row...), holding, (*inquiry).position},
		"treasury-balances":     {treasuryColumns, row, append([]string{"as_of"}, holding...), (*inquiry).treasury},
		"realized-gains-losses": {gainColumns, append([]string{"accounting_period_id"}, row...), []string{"source_id"}, (*inquiry).gains},
		"asset-tax-lots":        {lotColumns, []string{"asset_id"}, []string{"as_of"}, (*inquiry).lot},
		"schedule-of-dispositions": {dispositionColumns, []string{"disposition_id|journal_entry_id|accounting_period_id"},
			[]string{"legal_entity_id", "asset_type", "source_id"}, (*inquiry).disposition},
		"roll-forward": {rollColumns, row, []string{"accounting_period_id", "start_date", "end_date", "fiscal_year"}, (*inquiry).roll},
		"revaluation": {revaluationColumns, append([]string{"revaluation_id"}, row...), []string{"kind", "asset_id",
			"ledger_account_id"}, (*inquiry).revaluation},
		"receivables-ageing": {ageingColumns, []string{"customer_id|document_id"}, []string{"legal_entity_id", "currency", "as_of", "bucket",
			"age_by"}, (*inquiry).ageing},
		"unapplied-cash": {[]string{unappliedColumn}, []string{"legal_entity_id|document_id"}, []string{"customer_id", "currency", "as_of"},
			(*inquiry).unapplied},
	} {
		specs[name] = s
	}
}

// Explain explains a figure. A record that the actor may not see is not found.
func (s *Service) Explain(ctx context.Context, q Query, pr page.Request) (*Explanation, error) {
	about, err := q.validate()
	if err != nil {
		return nil, err
	}
	i := &inquiry{Service: s, q: q, page: pr, out: &Explanation{Query: q}}
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		i.tx = tx
		if i.periods, err = snapshot.Periods(ctx, tx); err != nil {
			return err
		}
		if err := about.explain(i, ctx); err != nil {
			return err
		}
		return lots.BlankHiddenParents(ctx, tx, i.out.Lots, func(l *Lot) *string { return &l.ParentID })
	})
	if err == nil && pr.Cursor != "" && !i.cursorUsed {
		err = fault.Invalidf("cursor", "is not a cursor of this list")
	}
	if err != nil {
		return nil, err
	}
	i.out.reconcile(pr.Cursor == "" && !i.out.HasMore)
	i.out.writeFormula()
	i.out.collectTransactions()
	return i.out, nil
}

// collectTransactions sets the ids of the transactions behind the lists.
func (x *Explanation) collectTransactions() {
	add := func(id string) {
		if id != "" && !slices.Contains(x.TransactionIDs, id) {
			x.TransactionIDs = append(x.TransactionIDs, id)
		}
	}
	for _, l := range x.Lines {
		add(l.TransactionID)
	}
	for _, l := range x.Lots {
		add(l.TransactionID)
	}
	for _, u := range x.Uses {
		add(u.TransactionID)
	}
}

// setValue sets the figure.
func (x *Explanation) setValue(d money.Decimal, unit string) { x.Value, x.Unit = &d, unit }

// findPeriod finds a period and the one before it, which is nil for the first.
func (i *inquiry) findPeriod(id string) (at, before *period.Period, err error) {
	n := slices.IndexFunc(i.periods, func(p period.Period) bool { return p.ID == id })
	if n < 0 {
		return nil, nil, fault.Missing("accounting period")
	}
	if n > 0 {
		before = &i.periods[n-1]
	}
	return &i.periods[n], before, nil
}
