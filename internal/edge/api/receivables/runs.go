package receivables

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/treasury"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/receivables/run"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// runPath is the parameter of operations on one cash application run.
type runPath struct {
	ID string `path:"cash_application_run_id" minLength:"1" maxLength:"64" doc:"Identifier of the cash application run."`
}

// createsRun holds the request for a run and, once its deposits are counted, the prepared run.
type createsRun struct {
	Body CreateCashApplicationRun

	prepared run.Prepared
}

// prepareCashApplicationRun counts the deposits of a run before the database transaction that creates it.
func (h handlers) prepareCashApplicationRun(ctx context.Context, in *createsRun) (err error) {
	b := in.Body
	in.prepared, err = h.app.CashRuns.Prepare(ctx, run.CreateParams{
		TransactionIDs: b.TransactionIDs,
		Filter:         (*transaction.Filter)(b.Filter),
		Expected:       b.ExpectedCount,
		MinConfidence:  b.MinConfidence,
		Dry:            b.DryRun,
	})
	return err
}

func (h handlers) createCashApplicationRun(ctx context.Context, in *createsRun) (wire.Data[CashApplicationRun], error) {
	r, err := h.app.CashRuns.CreatePrepared(ctx, in.prepared)
	return wire.DataOf(viewRun(r)), err
}

func (h handlers) listCashApplicationRuns(ctx context.Context, in *struct {
	wire.Paging
	Status   string `query:"status" enum:"pending,running,completed,failed,cancelled" doc:"Return only records with this status."`
	UndoesID string `query:"undoes_run_id" minLength:"1" maxLength:"64" doc:"Return only runs that undo this one."`
}) (wire.List[CashApplicationRun], error) {
	f := run.Filter{Filter: batchrun.Filter{Status: batchrun.Status(in.Status)}, UndoesID: in.UndoesID}
	found, err := h.app.CashRuns.List(ctx, f, in.Request())
	return wire.ListOf(found, viewRun), err
}

func (h handlers) getCashApplicationRun(ctx context.Context, in *struct{ runPath }) (wire.Data[CashApplicationRun], error) {
	r, err := h.app.CashRuns.Get(ctx, in.ID)
	return wire.DataOf(viewRun(r)), err
}

func (h handlers) cancelCashApplicationRun(ctx context.Context, in *struct{ runPath }) (wire.Data[CashApplicationRun], error) {
	r, err := h.app.CashRuns.Cancel(ctx, in.ID)
	return wire.DataOf(viewRun(r)), err
}

func (h handlers) resumeCashApplicationRun(ctx context.Context, in *struct{ runPath }) (wire.Data[CashApplicationRun], error) {
	r, err := h.app.CashRuns.Resume(ctx, in.ID)
	return wire.DataOf(viewRun(r)), err
}

func (h handlers) undoCashApplicationRun(ctx context.Context, in *struct {
	runPath
	Body *UndoCashApplicationRun
}) (wire.Data[CashApplicationRun], error) {
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason.Value
	}
	r, err := h.app.CashRuns.Undo(ctx, in.ID, reason)
	return wire.DataOf(viewRun(r)), err
}

func (h handlers) listCashApplicationResults(ctx context.Context, in *struct {
	runPath
	wire.Paging
	Outcome string `query:"outcome" enum:"applied,certain,suggested,unmatched,refused,skipped,voided,kept" doc:"Return only results with this outcome."`
}) (wire.List[CashApplicationResult], error) {
	found, err := h.app.CashRuns.Results(ctx, run.ResultFilter{RunID: in.ID, Outcome: batchrun.Outcome(in.Outcome)}, in.Request())
	return wire.ListOf(found, viewResult), err
}

func viewRun(r run.Run) CashApplicationRun {
	c := r.Counts
	allowed, warnings := r.Guidance()
	out := CashApplicationRun{
		ID:            r.ID,
		UndoesRunID:   db.OrNull(r.UndoesID),
		DryRun:        r.Dry,
		MinConfidence: r.MinConfidence.String(),
		Filter:        treasury.TransactionFilter(r.Filter),
		Reason:        db.OrNull(r.Reason),
		Status:        string(r.Status),
		Progress:      CashApplicationProgress{r.Done(), r.Total, r.Percent()},
		Counts: CashApplicationCounts{
			Applied:   c[run.Applied],
			Certain:   c[run.Certain],
			Suggested: c[run.Suggested],
			Unmatched: c[run.Unmatched],
			Refused:   c[run.Refused],
			Skipped:   c[run.Skipped],
			Voided:    c[run.Voided],
			Kept:      c[run.Kept],
		},
		Error:    db.OrNull(r.Error),
		Guidance: wire.Guidance{AllowedActions: allowed, Warnings: warnings, Version: wire.Timestamp(r.CreatedAt)},
		RunTimes: treasury.RunTimesOf(r.Run),
	}
	for _, at := range []*string{out.StartedAt, out.FinishedAt} {
		if at != nil {
			out.Guidance.Version = *at
		}
	}
	return out
}

func viewResult(r run.Result) CashApplicationResult {
	out := CashApplicationResult{
		DepositID:       r.TransactionID,
		SequenceNumber:  transaction.SequenceNumber(r.Number),
		Outcome:         string(r.Outcome),
		ApplicationID:   db.OrNull(r.ApplicationID),
		Amount:          db.OrNull(r.Amount),
		Currency:        db.OrNull(r.Currency),
		Suggestions:     []MatchSuggestion{},
		Notes:           viewStoredReasons(r.Notes),
		Truncated:       r.Truncated,
		Message:         db.OrNull(r.Message),
		DerivedCustomer: wire.OrNull[DerivedCustomer]{},
	}
	if c := r.Customer; c != nil {
		out.DerivedCustomer.Value = &DerivedCustomer{c.ID, c.Name, c.Basis, viewStoredReasons(c.Reasons)}
	}
	for _, s := range r.Suggestions {
		known, _ := money.Parse(s.Confidence) // the run wrote it
		g := MatchSuggestion{
			MatchType:   s.Type,
			Confidence:  confidence(known),
			Total:       s.Total,
			Delta:       s.Delta,
			Certain:     s.Certain,
			Reasons:     viewStoredReasons(s.Reasons),
			Doubts:      viewStoredReasons(s.Doubts),
			Allocations: []Allocation{},
		}
		for _, l := range s.Allocations {
			g.Allocations = append(g.Allocations, Allocation{
				TargetType:    "invoice",
				TargetID:      l.InvoiceID,
				InvoiceNumber: l.Number,
				Amount:        l.Amount,
				CustomerName:  l.CustomerName,
			})
		}
		out.Suggestions = append(out.Suggestions, g)
	}
	return out
}

func viewStoredReasons(all []run.Reason) []MatchReason {
	out := make([]MatchReason, len(all))
	for n, r := range all {
		out[n] = MatchReason(r)
	}
	return out
}
