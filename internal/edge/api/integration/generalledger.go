package integration

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/integration/glsync"
)

func (h handlers) generalLedger() []wire.Route {
	const run = "/v1/gl-sync-runs/{gl_sync_run_id}"
	return wire.Tag{Name: "General ledger", Description: "Sends posted journal entries to the general ledger of the company, each exactly " +
		"once: QuickBooks, Xero, NetSuite, Rillet or Campfire, connected with POST /v1/connections."}.Routes(
		wire.Get("/v1/gl-accounts", h.listGLAccounts, "List the accounts of general ledgers").
			Describe("As they were when the connection was read last: when it was made, with POST /v1/connections/{connection_id}/sync, and "+
				"at the beginning of every run."),
		wire.Get("/v1/gl-dimensions", h.listGLDimensions, "List the values of the dimensions of general ledgers").
			Describe("Such as the departments there. As they were when the connection was read last."),
		wire.Get("/v1/gl-mappings", h.listGLMappings, "List ledger accounts with the accounts of a general ledger that stand for them").
			MayConflict(),
		wire.Put("/v1/gl-mappings/{ledger_account_id}", h.setGLMapping, "Map a ledger account to an account of a general ledger").
			Describe("Entries that were sent with another mapping are replaced by the next run that they are in the scope of."),
		wire.Post("/v1/gl-mappings/accept", h.acceptGLMappings, "Accept all suggestions for mappings that are certain"),
		wire.Get("/v1/gl-mappings/tags", h.listGLTagMappings, "List tags with the values of dimensions that stand for them").MayConflict(),
		wire.Put("/v1/gl-mappings/tags/{tag_id}", h.setGLTagMapping, "Map a tag to a value of a dimension of a general ledger").
			Describe("Lines with the tag, and lines of entries with the tag, are sent with the value. A line has one value of each "+
				"dimension: an entry with a line whose tags are mapped to different ones is not sent. Entries that were sent with another mapping "+
				"are replaced by the next run that they are in the scope of."),
		wire.Post("/v1/gl-sync-runs", h.createGLSyncRun, "Send posted entries to a general ledger").
			Describe("Happens in the background. The run first plans what has to change: entries that are new, that differ from what was "+
				"sent, or that are no longer posted. If accounts are not mapped or not accepted, nothing is sent, and the run is blocked. "+
				"Entries in a period that is locked in the general ledger are left out and tried again by the next run. An entry is sent as one "+
				"journal in the base currency of its legal entity. Opening balances are not sent. One run at a time for each general ledger; "+
				"otherwise the answer is 409.").LargeWrite().Creates(),
		wire.Get("/v1/gl-sync-runs", h.listGLSyncRuns, "List general ledger sync runs, newest first").
			Describe("A key that is limited to legal entities sees the runs over these, unless they do something with entries that also have "+
				"lines of others. It sees all runs of a connection that is only for one of its legal entities."),
		wire.Get(run, h.getGLSyncRun, "Get a general ledger sync run"),
		wire.Get(run+"/results", h.listGLSyncResults, "List what a run does with each entry").
			Describe("Without what concerns lines of legal entities that the key has no access to."),
		wire.Post(run+"/cancel", h.cancelGLSyncRun, "Cancel a general ledger sync run").
			Describe("What is being sent is waited for, and stays."),
		wire.Post("/v1/journal-entries/{journal_entry_id}/sync", h.syncJournalEntry, "Send a journal entry to a general ledger").
			Describe("Creates a run for this entry. An entry that was sent and is no longer posted is removed.").Creates(),
	)
}

func (h handlers) listGLAccounts(ctx context.Context, in *struct {
	wire.Paging
	ConnectionID string `query:"connection_id" minLength:"1" maxLength:"64" doc:"Only accounts of this general ledger."`
	Active       *bool  `query:"active" doc:"true: only accounts that entries can be sent to. false: only the others."`
	Search       string `query:"search" minLength:"1" maxLength:"200" doc:"Only accounts with this text in their number or name; case-insensitive."`
}) (wire.List[GLAccount], error) {
	found, err := h.app.GeneralLedger.Accounts(ctx, glsync.AccountFilter{ConnectionID: in.ConnectionID, Active: in.Active,
		Search: in.Search}, in.Request())
	return wire.ListOf(found, viewGLAccount), err
}

func viewGLAccount(a glsync.Account) GLAccount {
	return GLAccount{ID: a.ID, ConnectionID: a.ConnectionID, ExternalID: a.ExternalID, Code: db.OrNull(a.Code), Name: a.Name,
		Type: db.OrNull(a.Type), Currency: db.OrNull(a.Currency), Usable: a.Unusable() == "", UnavailableReason: db.OrNull(a.Unusable()),
		CreatedAt: wire.Timestamp(a.CreatedAt), UpdatedAt: wire.TimestampOrNull(a.UpdatedAt)}
}

func (h handlers) listGLMappings(ctx context.Context, in *struct {
	wire.Paging
	ConnectionID string `query:"connection_id" minLength:"1" maxLength:"64" doc:"General ledger. It may be omitted if there is one only."`
	Status       string `query:"status" enum:"mapped,unmapped,unusable" doc:"Only mappings in this state."`
}) (wire.List[GLMapping], error) {
	found, err := h.app.GeneralLedger.Mappings(ctx, glsync.MappingFilter{ConnectionID: in.ConnectionID,
		Status: glsync.MappingStatus(in.Status)}, in.Request())
	return wire.ListOf(found, viewGLMapping), err
}

func viewGLMapping(m glsync.Mapping) GLMapping {
	v := GLMapping{LedgerAccountID: m.Ledger.ID, Code: db.OrNull(m.Ledger.Code), Name: m.Ledger.Name, Type: string(m.Ledger.Type),
		ConnectionID: m.ConnectionID, Status: string(m.Status()), Suggestions: []GLSuggestion{}, Warnings: wire.NonNil(m.Warnings()),
		UpdatedAt: wire.TimestampOrNull(m.UpdatedAt)}
	if m.Account.ID != "" {
		v.GLAccount.Value = new(viewGLAccount(m.Account))
	}
	for _, s := range m.Suggestions {
		v.Suggestions = append(v.Suggestions, GLSuggestion{GLAccountID: s.Account.ID, Code: db.OrNull(s.Account.Code), Name: s.Account.Name,
			Confidence: s.Confidence.String(), Certain: s.Certain, Reasons: wire.NonNil(s.Reasons)})
	}
	return v
}

func (h handlers) setGLMapping(ctx context.Context, in *struct {
	LedgerAccountID string `path:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Identifier of the ledger account."`
	Body            SetGLMapping
}) (wire.Data[GLMapping], error) {
	m, err := h.app.GeneralLedger.Map(ctx, in.LedgerAccountID, in.Body.ConnectionID, in.Body.GLAccountID.Value)
	return wire.DataOf(viewGLMapping(m)), err
}

// acceptsGLMappings is a request to accept suggestions.
type acceptsGLMappings struct{ Body AcceptGLMappings }

// IsDryRun reports whether nothing is to be written.
func (a *acceptsGLMappings) IsDryRun() bool { return a.Body.DryRun }

func (h handlers) acceptGLMappings(ctx context.Context, in *acceptsGLMappings) (AcceptedGLMappings, error) {
	made, err := h.app.GeneralLedger.Accept(ctx, in.Body.ConnectionID, in.Body.DryRun, in.Body.ExpectedCount)
	out := AcceptedGLMappings{Data: []GLMapping{}, Count: int64(len(made))}
	for _, m := range made {
		out.Data = append(out.Data, viewGLMapping(m))
	}
	return out, err
}

func (c CreateGLSyncRun) params() (p glsync.CreateParams, err error) {
	p = glsync.CreateParams{ConnectionID: c.ConnectionID, Kind: glsync.Sync, Scope: glsync.Scope{PeriodID: c.PeriodID, StartDate: c.StartDate,
		EndDate: c.EndDate, LegalEntityIDs: c.LegalEntityIDs, EntryIDs: c.JournalEntryIDs}}
	switch {
	case c.DryRun && c.Check:
		err = fault.Invalidf("check", "cannot be combined with dry_run: a check sends nothing anyway")
	case c.DryRun:
		p.Kind = glsync.Dry
	case c.Check:
		p.Kind = glsync.Check
	}
	return p, err
}

func (h handlers) createGLSyncRun(ctx context.Context, in *struct{ Body CreateGLSyncRun }) (wire.Data[GLSyncRun], error) {
	var faults fault.List
	p, wrong := in.Body.params()
	if err := faults.Merge(wrong); err != nil {
		return wire.Data[GLSyncRun]{}, err
	}
	r, err := h.app.GeneralLedger.Create(ctx, p)
	return wire.DataOf(viewGLSyncRun(r)), faults.With(err)
}

func (h handlers) listGLSyncRuns(ctx context.Context, in *struct {
	wire.Paging
	ConnectionID string `query:"connection_id" minLength:"1" maxLength:"64" doc:"Only runs for this general ledger."`
	Status       string `query:"status" enum:"pending,running,completed,blocked,failed,cancelled" doc:"Only runs in this state."`
	Kind         string `query:"kind" enum:"sync,dry_run,check" doc:"Only runs of this kind."`
}) (wire.List[GLSyncRun], error) {
	found, err := h.app.GeneralLedger.List(ctx, glsync.Filter{ConnectionID: in.ConnectionID, Status: glsync.RunStatus(in.Status),
		Kind: glsync.Kind(in.Kind)}, in.Request())
	return wire.ListOf(found, viewGLSyncRun), err
}

// glSyncRunPath is the parameter of operations on one run.
type glSyncRunPath struct {
	ID string `path:"gl_sync_run_id" minLength:"1" maxLength:"64" doc:"Identifier of the run."`
}

func (h handlers) getGLSyncRun(ctx context.Context, in *struct{ glSyncRunPath }) (wire.Data[GLSyncRun], error) {
	r, err := h.app.GeneralLedger.Get(ctx, in.ID)
	return wire.DataOf(viewGLSyncRun(r)), err
}

func (h handlers) listGLSyncResults(ctx context.Context, in *struct {
	glSyncRunPath
	wire.Paging
	Status string `query:"status" enum:"planned,blocked,pending,succeeded,failed,cancelled,skipped,nothing_to_send,equal,changed,missing" doc:"Only results in this state."`
	Action string `query:"action" enum:"create,replace,remove,check" doc:"Only results of this action."`
}) (wire.List[GLSyncResult], error) {
	found, err := h.app.GeneralLedger.Results(ctx, in.ID, glsync.AttemptFilter{Status: glsync.AttemptStatus(in.Status),
		Action: glsync.Action(in.Action)}, in.Request())
	return wire.ListOf(found, viewGLSyncResult), err
}

func (h handlers) cancelGLSyncRun(ctx context.Context, in *struct{ glSyncRunPath }) (wire.Data[GLSyncRun], error) {
	r, err := h.app.GeneralLedger.Cancel(ctx, in.ID)
	return wire.DataOf(viewGLSyncRun(r)), err
}

func (h handlers) syncJournalEntry(ctx context.Context, in *struct {
	ID   string `path:"journal_entry_id" minLength:"1" maxLength:"64" doc:"Identifier of the journal entry."`
	Body *SyncJournalEntry
}) (wire.Data[GLSyncRun], error) {
	connectionID := ""
	if in.Body != nil {
		connectionID = in.Body.ConnectionID
	}
	r, err := h.app.GeneralLedger.SyncEntry(ctx, in.ID, connectionID)
	return wire.DataOf(viewGLSyncRun(r)), err
}

func viewGLSyncRun(r glsync.Run) GLSyncRun {
	allowed, warnings := r.Guidance()
	n := r.Counts
	v := GLSyncRun{ID: r.ID, ConnectionID: r.ConnectionID, Kind: string(r.Kind), Status: string(r.Status), CancelRequested: r.CancelRequested,
		PeriodID: db.OrNull(r.Scope.PeriodID), StartDate: db.OrNull(r.Scope.StartDate), EndDate: db.OrNull(r.Scope.EndDate),
		LegalEntityIDs: wire.NonNil(r.Scope.LegalEntityIDs), JournalEntryIDs: wire.NonNil(r.Scope.EntryIDs), Total: r.Total, Done: r.Done,
		Counts: GLSyncCounts{Create: n["create"], Replace: n["replace"], Remove: n["remove"], Unchanged: n["unchanged"], Blocked: n["blocked"],
			Succeeded: n["succeeded"], Failed: n["failed"], Skipped: n["skipped"], Equal: n["equal"], Changed: n["changed"],
			Missing: n["missing"], Nothing: n["nothing_to_send"]},
		Totals: []GLSyncTotal{}, Blockers: []GLSyncBlocker{}, ErrorMessage: db.OrNull(r.Error),
		NextAttemptAt: wire.TimestampOrNull(r.NextAt), CreatedBy: db.OrNull(r.CreatedBy()),
		Guidance:  wire.Guidance{AllowedActions: allowed, Warnings: wire.NonNil(warnings), Version: wire.Version(r.Done)},
		CreatedAt: wire.Timestamp(r.CreatedAt), StartedAt: wire.TimestampOrNull(r.StartedAt), FinishedAt: wire.TimestampOrNull(r.FinishedAt)}
	for _, currency := range slices.Sorted(maps.Keys(r.Totals)) {
		v.Totals = append(v.Totals, GLSyncTotal{currency, r.Totals[currency]})
	}
	for _, b := range r.Blockers {
		v.Blockers = append(v.Blockers, GLSyncBlocker{Code: b.Code, Message: b.Message, StopsRun: b.StopsRun, Count: b.Count,
			LedgerAccountID: db.OrNull(b.LedgerAccountID), GLAccountID: db.OrNull(b.AccountID), LegalEntityID: db.OrNull(b.LegalEntityID),
			TagID: db.OrNull(b.TagID)})
	}
	return v
}

func viewGLSyncResult(a glsync.Attempt) GLSyncResult {
	v := GLSyncResult{ID: a.ID, JournalEntryID: a.EntryID, SequenceNumber: a.SequenceNumber(), Action: string(a.Action),
		Status: string(a.Status), ExternalID: db.OrNull(a.ExternalID), Error: db.OrNull(a.Error), ErrorCode: db.OrNull(a.Code),
		Changes: []GLSyncDifference{}, AttemptedAt: wire.TimestampOrNull(a.AttemptedAt)}
	for _, d := range a.Changes {
		v.Changes = append(v.Changes, GLSyncDifference(d))
	}
	return v
}
