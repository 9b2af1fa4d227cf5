package treasury

import (
	"cmp"
	"context"

	"github.com/bursarhq/bursar/internal/assets/reconciliation"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/rules/reconcile"
	"github.com/bursarhq/bursar/internal/treasury/observation"
)

func (h handlers) reconcileSource(ctx context.Context, in *struct {
	sourcePath
	wire.Paging
	At string `query:"at" minLength:"1" maxLength:"40" doc:"Compare the latest observed balances up to this RFC 3339 instant or the end of this date. Defaults to now."`
}) (wire.List[AssetReconciliation], error) {
	assets, err := h.app.Reconciliation.Report(ctx, in.ID, in.At, in.Request())
	return wire.ListOf(assets, viewAssetReconciliation), err
}

// fixed formats a quantity of an asset, or returns nil if it is unknown.
func fixed(d *money.Decimal, asset string) *string {
	if d == nil {
		return nil
	}
	return new(d.Fixed(asset))
}

func viewAssetReconciliation(e reconciliation.Explained) AssetReconciliation {
	v := AssetReconciliation{AssetType: e.AssetType, Status: string(e.Status()), ComparedAt: wire.Timestamp(e.ComparedAt),
		Book: fixed(e.Book, e.AssetType), Transactions: fixed(e.Transactions, e.AssetType), Unbooked: e.Pending.Fixed(e.AssetType),
		UnbookedCount: e.Waiting, Difference: fixed(e.Difference(), e.AssetType), Reason: db.OrNull(e.Why()),
		Candidates: make([]ReconciliationCandidate, len(e.Candidates)), CandidatesLimited: e.Truncated}
	if o := e.Observed; o != nil {
		v.Observed, v.ObservedAt, v.ObservedFrom = fixed(&o.Quantity, e.AssetType), new(wire.Timestamp(o.At)), new(statedBy(*o))
		v.ImportID, v.ConnectionID = db.OrNull(o.ImportID), db.OrNull(o.ConnectionID)
	}
	for n, c := range e.Candidates {
		v.Candidates[n] = viewCandidate(c, e.AssetType)
	}
	return v
}

func viewCandidate(c reconcile.Candidate, asset string) ReconciliationCandidate {
	v := ReconciliationCandidate{Kind: string(c.Kind), Explains: c.Explains.Fixed(asset), TransactionIDs: c.TransactionIDs, Message: c.Message}
	if !c.Step.After.IsZero() {
		v.After = new(wire.Timestamp(c.Step.After))
	}
	if !c.Step.Until.IsZero() {
		v.Until = new(wire.Timestamp(c.Step.Until))
	}
	return v
}

// statedBy says in a word who stated a balance.
func statedBy(o observation.Observed) string {
	switch {
	case o.ImportID != "":
		return "import"
	case o.ConnectionID != "":
		return "connection"
	case o.Entered():
		return "entered"
	}
	return "other"
}

func (h handlers) listObservedBalances(ctx context.Context, in *struct {
	sourcePath
	wire.Paging
	AssetType string `query:"asset_type" minLength:"1" maxLength:"100" doc:"Return only balances of this asset."`
	StartDate string `query:"start_date" minLength:"1" maxLength:"40" doc:"Return only balances from this RFC 3339 instant or date on."`
	EndDate   string `query:"end_date" minLength:"1" maxLength:"40" doc:"Return only balances up to this RFC 3339 instant or the end of this date."`
}) (wire.List[ObservedBalance], error) {
	f := observation.Filter{AssetType: in.AssetType, From: in.StartDate, To: in.EndDate}
	balances, err := h.app.Observations.List(ctx, in.ID, f, in.Request())
	return wire.ListOf(balances, viewObservedBalance), err
}

func (h handlers) enterObservedBalance(ctx context.Context, in *struct {
	sourcePath
	Body EnterObservedBalance
}) (wire.Data[ObservedBalance], error) {
	b := in.Body
	o, err := h.app.Observations.Enter(ctx, in.ID, observation.EnterParams{AssetType: b.AssetType, Quantity: b.Quantity, At: b.ObservedAt,
		Memo: db.OrEmpty(b.Memo)})
	return wire.DataOf(viewObservedBalance(o)), err
}

func viewObservedBalance(o observation.Observed) ObservedBalance {
	v := ObservedBalance{AssetType: o.AssetType, Quantity: o.Quantity.Fixed(o.AssetType), ObservedAt: wire.Timestamp(o.At), From: statedBy(o),
		ImportID: db.OrNull(o.ImportID), ConnectionID: db.OrNull(o.ConnectionID), Memo: db.OrNull(o.Memo)}
	if o.Entered() {
		v.EnteredBy = db.OrNull(cmp.Or(o.UserID, o.APIKeyID))
	}
	return v
}

func (h handlers) listReconciliations(ctx context.Context, in *struct {
	sourcePath
	wire.Paging
}) (wire.List[Reconciliation], error) {
	all, err := h.app.Reconciliation.List(ctx, in.ID, in.Request())
	return wire.ListOf(all, viewReconciliation), err
}

func (h handlers) createReconciliation(ctx context.Context, in *struct {
	sourcePath
	Body CreateReconciliation
}) (wire.Data[Reconciliation], error) {
	b := in.Body
	r, err := h.app.Reconciliation.Create(ctx, in.ID, reconciliation.CreateParams{At: b.At, Note: b.Note,
		AcceptDifference: b.AcceptDifference})
	return wire.DataOf(viewReconciliation(r)), err
}

func (h handlers) deleteReconciliation(ctx context.Context, in *struct {
	sourcePath
	ReconciliationID string `path:"reconciliation_id" minLength:"1" maxLength:"64" doc:"Identifier of the reconciliation (rec_)."`
}) (wire.Data[wire.Deleted], error) {
	return wire.DeletedOf(in.ReconciliationID), h.app.Reconciliation.Delete(ctx, in.ID, in.ReconciliationID)
}

func viewReconciliation(r reconciliation.Reconciliation) Reconciliation {
	v := Reconciliation{ID: r.ID, SourceID: r.SourceID, At: wire.Timestamp(r.At), Note: db.OrNull(r.Note),
		ReconciledBy: db.OrNull(cmp.Or(r.UserID, r.APIKeyID)), CreatedAt: wire.Timestamp(r.CreatedAt), Changed: r.Changed(),
		Assets:   make([]ReconciledAsset, len(r.Assets)),
		Guidance: wire.Guidance{AllowedActions: []string{}, Warnings: []string{}, Version: clock.Format(r.CreatedAt)}}
	for n, c := range r.Assets {
		v.Assets[n] = ReconciledAsset{AssetType: c.AssetType, ComparedAt: wire.Timestamp(c.ComparedAt), Book: fixed(c.Book, c.AssetType),
			Transactions: fixed(c.Transactions, c.AssetType), Observed: fixed(c.Observed, c.AssetType),
			Difference: fixed(c.Difference(), c.AssetType), Changed: c.Changed(), CurrentBook: fixed(c.BookNow, c.AssetType),
			CurrentDifference: fixed(c.DifferenceNow(), c.AssetType)}
	}
	if r.Latest {
		v.Guidance.AllowedActions = append(v.Guidance.AllowedActions, "delete")
	} else {
		v.Guidance.Warnings = append(v.Guidance.Warnings, "only the latest reconciliation of a source can be undone: undo the later ones first")
	}
	if v.Changed {
		v.Guidance.Warnings = append(v.Guidance.Warnings, "figures up to then have changed since: look at current_difference of the assets")
	}
	return v
}
