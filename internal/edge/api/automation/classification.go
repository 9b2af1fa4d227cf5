package automation

import (
	"context"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/treasury"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// classificationRunPath is the parameter of operations on one classification run.
type classificationRunPath struct {
	ID string `path:"classification_run_id" minLength:"1" maxLength:"64" doc:"Identifier of the classification run."`
}

// createsRun holds the request for a run and, once its transactions are counted, the prepared run.
type createsRun struct {
	Body CreateClassificationRun

	prepared classification.Prepared
}

// prepareClassificationRun counts the transactions of a run before the database transaction that creates it.
func (h handlers) prepareClassificationRun(ctx context.Context, in *createsRun) (err error) {
	b := in.Body
	p := classification.CreateParams{
		TransactionIDs: b.TransactionIDs,
		Filter:         (*transaction.Filter)(b.Filter),
		Expected:       b.ExpectedCount,
		Action:         classification.Action(b.Action),
		Dry:            b.DryRun,
	}
	in.prepared, err = h.app.Classification.Prepare(ctx, p)
	return err
}

func (h handlers) createClassificationRun(ctx context.Context, in *createsRun) (wire.Data[ClassificationRun], error) {
	r, err := h.app.Classification.CreatePrepared(ctx, in.prepared)
	return wire.DataOf(viewClassificationRun(r)), err
}

func (h handlers) listClassificationRuns(ctx context.Context, in *struct {
	wire.Paging
	Status string `query:"status" enum:"pending,running,completed,failed,cancelled" doc:"Return only records with this status."`
}) (wire.List[ClassificationRun], error) {
	found, err := h.app.Classification.List(ctx, batchrun.Filter{Status: batchrun.Status(in.Status)}, in.Request())
	return wire.ListOf(found, viewClassificationRun), err
}

func (h handlers) getClassificationRun(ctx context.Context, in *struct{ classificationRunPath }) (wire.Data[ClassificationRun], error) {
	r, err := h.app.Classification.Get(ctx, in.ID)
	return wire.DataOf(viewClassificationRun(r)), err
}

func (h handlers) cancelClassificationRun(ctx context.Context, in *struct{ classificationRunPath }) (wire.Data[ClassificationRun], error) {
	r, err := h.app.Classification.Cancel(ctx, in.ID)
	return wire.DataOf(viewClassificationRun(r)), err
}

func (h handlers) resumeClassificationRun(ctx context.Context, in *struct{ classificationRunPath }) (wire.Data[ClassificationRun], error) {
	r, err := h.app.Classification.Resume(ctx, in.ID)
	return wire.DataOf(viewClassificationRun(r)), err
}

func (h handlers) listClassificationResults(ctx context.Context, in *struct {
	classificationRunPath
	wire.Paging
	Outcome string `query:"outcome" enum:"classified,drafted,posted,refused,suggested,unmatched,skipped" doc:"Return only results with this outcome."`
	RuleID  string `query:"rule_id" minLength:"1" maxLength:"128" doc:"Return only results decided by this rule."`
}) (wire.List[ClassificationResult], error) {
	f := classification.ResultFilter{RunID: in.ID, Outcome: batchrun.Outcome(in.Outcome), RuleID: in.RuleID}
	found, err := h.app.Classification.Results(ctx, f, in.Request())
	return wire.ListOf(found, viewClassificationResult), err
}

func viewClassificationRun(r classification.Run) ClassificationRun {
	c := r.Counts
	return ClassificationRun{
		ID:            r.ID,
		Action:        string(r.Action),
		DryRun:        r.Dry,
		Filter:        treasury.TransactionFilter(r.Filter),
		RulesRevision: wire.Version(r.Revision),
		Status:        string(r.Status),
		Progress:      ClassificationProgress{r.Done(), r.Total, r.Percent()},
		Counts: ClassificationCounts{
			Classified: c[classification.Classified],
			Drafted:    c[classification.Drafted],
			Posted:     c[classification.Posted],
			Refused:    c[classification.Refused],
			Suggested:  c[classification.Suggested],
			Unmatched:  c[classification.Unmatched],
			Skipped:    c[classification.Skipped],
		},
		Error:    db.OrNull(r.Error),
		RunTimes: treasury.RunTimesOf(r.Run),
	}
}

func viewClassificationResult(r classification.Result) ClassificationResult {
	out := ClassificationResult{
		TransactionID:   r.TransactionID,
		SequenceNumber:  transaction.SequenceNumber(r.Number),
		Outcome:         string(r.Outcome),
		Decision:        treasury.DecisionOf(r.LedgerAccountID, r.Type, r.RuleID),
		RuleVersion:     wire.VersionOrNull(r.RuleVersion),
		OtherRules:      make([]RuleMatch, len(r.Others)),
		OtherRulesCount: r.OthersCount,
		PayeeName:       db.OrNull(r.PayeeName),
		TagID:           db.OrNull(r.TagID),
		Reasons:         wire.NonNil(r.Reasons),
		Examples:        wire.NonNil(r.Examples),
		JournalEntryID:  db.OrNull(r.JournalEntryID),
		Message:         db.OrNull(r.Message),
	}
	if r.RuleID != "" {
		out.Specificity = &r.Specificity
	}
	if r.Confidence > 0 {
		out.Confidence = new(treasury.Confidence(r.Confidence))
	}
	for i, o := range r.Others {
		out.OtherRules[i] = RuleMatch{o.RuleID, wire.Version(o.Version)}
	}
	return out
}

func (h handlers) testMemoryRule(ctx context.Context, in *struct{ Body TestMemoryRule }) (wire.Data[MemoryRuleTest], error) {
	b := in.Body
	p := classification.TestParams{RuleID: b.RuleID, StartDate: b.StartDate, EndDate: b.EndDate}
	if b.Rule != nil {
		p.Rule = new(b.Rule.params())
	}
	t, err := h.app.Classification.Test(ctx, p)
	if err != nil {
		return wire.Data[MemoryRuleTest]{}, err
	}
	out := MemoryRuleTest{
		Examined:  t.Examined,
		Matched:   t.Matched,
		Decided:   t.Decided,
		Pending:   t.Pending,
		Changed:   t.Changed,
		Agreeing:  t.Agreeing,
		Differing: t.Differing,
		Truncated: t.Truncated,
		Changes:   make([]MemoryRuleTestChange, len(t.Changes)),
		Conflicts: make([]MemoryRuleTestConflict, len(t.Conflicts)),
	}
	for i, c := range t.Changes {
		out.Changes[i] = MemoryRuleTestChange{
			TransactionID:  c.TransactionID,
			SequenceNumber: transaction.SequenceNumber(c.Number),
			Status:         string(c.Status),
			Before:         viewDecided(c.Before),
			After:          viewDecided(c.After),
		}
	}
	for i, c := range t.Conflicts {
		out.Conflicts[i] = MemoryRuleTestConflict{
			RuleMatch: RuleMatch{c.RuleID, wire.Version(c.Version)},
			Matched:   c.Matched,
			Wins:      c.Wins,
			Loses:     c.Loses,
			Differs:   c.Differs,
		}
	}
	return wire.DataOf(out), nil
}

func viewDecided(d classification.Decided) treasury.Decision {
	return treasury.DecisionOf(d.LedgerAccountID, d.Type, d.RuleID)
}
