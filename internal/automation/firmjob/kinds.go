package firmjob

import (
	"context"
	"errors"
	"time"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/reporting/clientfigures"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	// checksMax is how many checks that did not pass a result lists: a client may have many legal entities.
	checksMax = 50
	// lookAgain is the pause before a job looks again at a classification run that another process executes.
	lookAgain = 200 * time.Millisecond
)

// check checks whether a month of a client can be closed.
func (w *work) check(ctx context.Context, r Result) (*Found, error) {
	var found *clientfigures.Checked
	var err error
	if key := w.job.Params.Period; key != "" {
		found, err = w.figures.CheckMonth(ctx, r.OrganizationID, key)
	} else {
		found, err = w.figures.Refresh(ctx, r.OrganizationID)
	}
	if err == nil && found == nil || fault.KindOf(err) == fault.NotFound {
		err = w.noMonth(ctx, r.OrganizationID)
	}
	if err != nil {
		return nil, err
	}
	out := ReadinessFound{PeriodID: found.PeriodID, Period: found.Key, Status: string(found.Readiness), Checks: []Check{}}
	for _, c := range found.Checks {
		switch {
		case c.Status == period.Pass:
		case len(out.Checks) == checksMax:
			out.More++
		default:
			out.Checks = append(out.Checks, Check{Code: c.Code, Status: string(c.Status), LegalEntityID: c.LegalEntityID, Count: c.Count,
				Message: c.Message})
		}
	}
	return &Found{Readiness: &out}, nil
}

// classify classifies the transactions of a client by a run of its own there, and waits for its end. The run has the id of the job as that
// of its request, by which a job that begins again finds it.
func (w *work) classify(ctx context.Context, r Result) (*Found, error) {
	if err := actor.From(ctx).Authorize(actor.Need{Class: actor.Write, Scope: actor.ScopeAll}); err != nil {
		return nil, err
	}
	run, err := w.runs.FindByRequest(ctx, w.ID)
	if fault.KindOf(err) == fault.NotFound {
		p := w.job.Params
		run, err = w.runs.Create(ctx, classification.CreateParams{Action: classification.Action(p.Action), Dry: p.Dry,
			Filter: &transaction.Filter{StartDate: p.Start, EndDate: p.End}})
	}
	for err == nil && !run.Status.Ended() {
		if err = w.runUntilTurnIsOver(ctx, r.OrganizationID, run); err == nil {
			run, err = w.runs.Get(ctx, run.ID)
		}
	}
	if err != nil && !errors.Is(err, errTurnOver) {
		return nil, err
	}
	found := &Found{Classification: &ClassificationFound{RunID: run.ID, Counts: map[string]int64{}}}
	for outcome, n := range run.Counts {
		found.Classification.Counts[string(outcome)] = n
	}
	if err == nil && run.Status != batchrun.Completed {
		err = fault.Conflictf("the classification run %s is %s", run.ID, run.Status)
		if run.Error != "" {
			err = fault.Conflictf("the classification run %s is %s: %s", run.ID, run.Status, run.Error)
		}
	}
	return found, err
}

// runUntilTurnIsOver executes a classification run, or waits a moment if another process does. The error is errTurnOver if the turn of the
// job is over before the run: whoever claims the run goes on with it, and the job finds it when it has its next turn.
func (w *work) runUntilTurnIsOver(ctx context.Context, organizationID string, run classification.Run) error {
	turn, end := context.WithCancel(ctx)
	defer end()
	_, err := w.runs.Run(turn, organizationID, run.ID, func(now classification.Run) {
		if now.Done() > run.Done() && w.turnOver() {
			end()
		}
	})
	switch {
	case errors.Is(err, task.ErrClaimed):
		if err = pause(ctx, lookAgain); err == nil && w.turnOver() {
			err = errTurnOver
		}
	case turn.Err() != nil && ctx.Err() == nil:
		err = errTurnOver
	}
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// report computes the totals of a report about one month of a client.
func (w *work) report(ctx context.Context, r Result) (*Found, error) {
	month, err := w.findMonth(ctx, r.OrganizationID)
	if err != nil {
		return nil, err
	}
	p := statements.Params{PeriodID: month.ID, PresentationCurrency: w.job.Params.Currency}
	out := ReportFound{Report: w.job.Params.Report, PeriodID: month.ID, Period: month.Key}
	add := func(name string, amounts ...money.Decimal) {
		for _, a := range amounts { // there is one, because there is one period
			out.Totals = append(out.Totals, Total{name, a.Fixed(out.Currency)})
		}
	}
	switch out.Report {
	case BalanceSheet:
		sheet, err := w.reports.BalanceSheet(ctx, p)
		if err != nil {
			return nil, err
		}
		out.Currency = sheet.Currency
		for _, t := range sheet.Totals {
			add("assets", t.Assets)
			add("liabilities_and_equity", t.LiabilitiesPlusEquity)
		}
	case IncomeStatement:
		income, err := w.reports.IncomeStatement(ctx, p)
		if err != nil {
			return nil, err
		}
		out.Currency = income.Currency
		for _, section := range income.Sections {
			add(string(section.Section), section.Totals...)
		}
		add("gross_profit", income.GrossProfit...)
		add("operating_income", income.OperatingIncome...)
		add("net_income", income.NetIncome...)
	default:
		trial, err := w.reports.TrialBalance(ctx, p)
		if err != nil {
			return nil, err
		}
		out.Currency = trial.Currency
		for _, t := range trial.Totals {
			add("debits", t.Debits)
			add("credits", t.Credits)
			add("closing_debits", t.ClosingDebit)
			add("closing_credits", t.ClosingCredit)
		}
	}
	return &Found{Report: &out}, nil
}

// findMonth returns the month that the job is about: the one it names, or the last that is over.
func (w *work) findMonth(ctx context.Context, organizationID string) (p period.Period, err error) {
	err = w.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		var state period.State
		if key := w.job.Params.Period; key != "" {
			state, err = period.OfMonth(ctx, tx, key)
		} else {
			state, err = period.LastOver(ctx, tx)
		}
		p = state.Period
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		err = w.noMonth(ctx, organizationID)
	}
	return p, err
}

// errNoMonth is for a client whose books have no month yet that is over, so that there is nothing to do.
var errNoMonth = errors.New("no month of the client is over yet")

// noMonth is the error for a client without the month that the job is about. Months begin with the first entry: a client of which only
// transactions are there has something to do all the same.
func (w *work) noMonth(ctx context.Context, organizationID string) error {
	if key := w.job.Params.Period; key != "" {
		return fault.Conflictf("the client has no accounting period %s, because nothing is posted in it or before", key)
	}
	var open int64
	if err := w.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		open, err = transaction.CountPending(ctx, tx)
		return err
	}); err != nil {
		return err
	}
	if open == 0 {
		return errNoMonth
	}
	return fault.Conflictf("nothing is posted before this month, and %d transactions are open: a month can be checked once an entry is "+
		"posted in it or before", open)
}
