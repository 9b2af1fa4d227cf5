package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// classificationRunPath is the parameter of operations on one classification run.
type classificationRunPath struct {
	ID string `path:"classification_run_id" minLength:"1" maxLength:"64" doc:"The classification run"`
}

func (a *API) createClassificationRun(ctx context.Context, in *struct{ Body CreateClassificationRun }) (Data[ClassificationRun], error) {
	b := in.Body
	p := classification.CreateParams{TransactionIDs: b.TransactionIDs, Expected: b.ExpectedCount,
		Action: classification.Action(b.Action), Dry: b.DryRun}
	if b.Filter != nil {
		p.Filter = new(transaction.Filter(*b.Filter))
	}
	r, err := a.app.Classification.Create(ctx, p)
	return Data[ClassificationRun]{viewClassificationRun(r)}, err
}

func (a *API) listClassificationRuns(ctx context.Context, in *struct {
	paging
	Status string `query:"status" enum:"pending,running,completed,failed,cancelled" doc:"Only those that are this far"`
}) (List[ClassificationRun], error) {
	found, err := a.app.Classification.List(ctx, classification.Filter{Status: classification.Status(in.Status)}, in.request())
	return listOf(found, viewClassificationRun), err
}

func (a *API) getClassificationRun(ctx context.Context, in *struct{ classificationRunPath }) (Data[ClassificationRun], error) {
	r, err := a.app.Classification.Get(ctx, in.ID)
	return Data[ClassificationRun]{viewClassificationRun(r)}, err
}

func (a *API) cancelClassificationRun(ctx context.Context, in *struct{ classificationRunPath }) (Data[ClassificationRun], error) {
	r, err := a.app.Classification.Cancel(ctx, in.ID)
	return Data[ClassificationRun]{viewClassificationRun(r)}, err
}

func (a *API) resumeClassificationRun(ctx context.Context, in *struct{ classificationRunPath }) (Data[ClassificationRun], error) {
	r, err := a.app.Classification.Resume(ctx, in.ID)
	return Data[ClassificationRun]{viewClassificationRun(r)}, err
}

func (a *API) listClassificationResults(ctx context.Context, in *struct {
	classificationRunPath
	paging
	Outcome string `query:"outcome" enum:"classified,drafted,posted,refused,suggested,unmatched,skipped" doc:"Only those of which this became"`
	RuleID  string `query:"rule_id" minLength:"1" maxLength:"128" doc:"Only those that this rule decided"`
}) (List[ClassificationResult], error) {
	f := classification.ResultFilter{RunID: in.ID, Outcome: classification.Outcome(in.Outcome), RuleID: in.RuleID}
	found, err := a.app.Classification.Results(ctx, f, in.request())
	return listOf(found, viewClassificationResult), err
}

func viewClassificationRun(r classification.Run) ClassificationRun {
	c := r.Counts
	return ClassificationRun{
		ID: r.ID, Action: string(r.Action), DryRun: r.Dry, Filter: TransactionFilter(r.Filter), RulesRevision: versionText(
			r.Revision), Status: string(r.Status),
		Progress: ClassificationProgress{r.Done(), r.Total, r.Percent()},
		Counts: ClassificationCounts{
			Classified: c[classification.Classified], Drafted: c[classification.Drafted], Posted: c[classification.Posted],
			Refused: c[classification.Refused], Suggested: c[classification.Suggested], Unmatched: c[classification.Unmatched],
			Skipped: c[classification.Skipped],
		},
		Error: db.OrNull(r.Error), CreatedBy: db.OrNull(r.UserID), CreatedAt: stamp(r.CreatedAt), StartedAt: stampOrNull(
			r.StartedAt), FinishedAt: stampOrNull(r.FinishedAt),
	}
}

func viewClassificationResult(r classification.Result) ClassificationResult {
	out := ClassificationResult{
		TransactionID: r.TransactionID, SequenceNumber: transaction.SequenceNumber(r.Number), Outcome: string(
			r.Outcome), Decision: decision(r.LedgerAccountID, r.Type, r.RuleID),
		RuleVersion: versionOrNull(r.RuleVersion), OtherRules: make([]RuleMatch,
			len(r.Others)), OtherRulesCount: r.OthersCount, PayeeName: db.OrNull(r.PayeeName), TagID: db.OrNull(r.TagID),
		Reasons: listed(r.Reasons), Examples: listed(r.Examples), JournalEntryID: db.OrNull(r.JournalEntryID), Message: db.OrNull(r.Message),
	}
	if r.RuleID != "" {
		out.Specificity = &r.Specificity
	}
	if r.Confidence > 0 {
		out.Confidence = new(share(r.Confidence))
	}
	for i, o := range r.Others {
		out.OtherRules[i] = RuleMatch{o.RuleID, versionText(o.Version)}
	}
	return out
}

func decision(account, kind, rule string) Decision {
	return Decision{db.OrNull(account), db.OrNull(kind), db.OrNull(rule)}
}

// versionOrNull is the version of a rule as text; there is no version 0.
func versionOrNull(v int64) *string {
	if v == 0 {
		return nil
	}
	return new(versionText(v))
}

// share is a number of percent as a part of one.
func share(percent int64) string { return money.FromInt(percent).Quo(money.FromInt(100), 2).String() }

func viewSuggestion(s *transaction.Suggestion) *Suggestion {
	if s == nil {
		return nil
	}
	return &Suggestion{
		Decision: decision(s.LedgerAccountID, string(s.Type),
			s.RuleID), RuleVersion: versionOrNull(s.RuleVersion), Confidence: share(s.Confidence), Reasons: listed(s.Reasons),
		Examples: listed(s.Examples), ClassificationRunID: s.RunID,
	}
}

func (a *API) testMemoryRule(ctx context.Context, in *struct{ Body TestMemoryRule }) (Data[MemoryRuleTest], error) {
	b := in.Body
	p := classification.TestParams{RuleID: b.RuleID, StartDate: b.StartDate, EndDate: b.EndDate}
	if b.Rule != nil {
		p.Rule = new(b.Rule.params())
	}
	t, err := a.app.Classification.Test(ctx, p)
	if err != nil {
		return Data[MemoryRuleTest]{}, err
	}
	out := MemoryRuleTest{
		Examined: t.Examined, Matched: t.Matched, Decided: t.Decided, Pending: t.Pending, Changed: t.Changed, Agreeing: t.Agreeing,
		Differing: t.Differing, Truncated: t.Truncated,
		Changes: make([]MemoryRuleTestChange, len(t.Changes)), Conflicts: make([]MemoryRuleTestConflict, len(t.Conflicts)),
	}
	for i, c := range t.Changes {
		out.Changes[i] = MemoryRuleTestChange{TransactionID: c.TransactionID, SequenceNumber: transaction.SequenceNumber(c.Number),
			Status: string(c.Status), Before: viewDecided(c.Before), After: viewDecided(c.After)}
	}
	for i, c := range t.Conflicts {
		out.Conflicts[i] = MemoryRuleTestConflict{RuleMatch: RuleMatch{c.RuleID, versionText(c.Version)}, Matched: c.Matched,
			Wins: c.Wins, Loses: c.Loses, Differs: c.Differs}
	}
	return Data[MemoryRuleTest]{out}, nil
}

func viewDecided(d classification.Decided) Decision {
	return decision(d.LedgerAccountID, d.Type, d.RuleID)
}
