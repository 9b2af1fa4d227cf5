package glsync

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Task is the background task that executes runs.
var Task = task.Kind{Noun: noun, Table: "gl_sync_runs", Key: "gl_sync_run_id", Together: 8, Each: 4}

const (
	noun         = "general ledger sync run"
	resourceType = "gl_sync_run"
)

// EventCreated announces that a run is due.
const EventCreated = resourceType + ".created"

// RunEvents returns the types of events about runs.
func RunEvents() []string {
	out := []string{EventCreated, resourceType + ".cancel_requested"}
	for _, s := range []RunStatus{Completed, Blocked, Failed, Cancelled} {
		out = append(out, resourceType+"."+string(s))
	}
	return out
}

// Kind says what a run does.
type Kind string

// The kinds of runs.
const (
	Sync  Kind = "sync"
	Dry   Kind = "dry_run" // says what a run would do
	Check Kind = "check"   // compares the general ledger with what was sent
)

// RunStatus is the state of a run.
type RunStatus string

// The states.
const (
	Pending   RunStatus = "pending"
	Running   RunStatus = "running"
	Completed RunStatus = "completed"
	Blocked   RunStatus = "blocked" // something prevents entries from being sent, so that none was
	Failed    RunStatus = "failed"
	Cancelled RunStatus = "cancelled"
)

// RunStatuses lists the states.
var RunStatuses = []RunStatus{Pending, Running, Completed, Blocked, Failed, Cancelled}

// The stages of a run.
const (
	planning = "plan"
	sending  = "send"
)

// Scope says which entries a run is about. Without any restriction it is about all posted entries of the connection's legal entities.
type Scope struct {
	PeriodID       string   `json:"period_id,omitempty"`
	StartDate      string   `json:"start_date,omitempty"` // YYYY-MM-DD, as EndDate
	EndDate        string   `json:"end_date,omitempty"`
	LegalEntityIDs []string `json:"legal_entity_ids,omitempty"`
	EntryIDs       []string `json:"journal_entry_ids,omitempty"`

	From  time.Time `json:"from,omitzero"` // the first instant
	Until time.Time `json:"until,omitzero"`
}

// Run is a pass over the entries of a scope.
type Run struct {
	ID              string
	ConnectionID    string
	Kind            Kind
	Scope           Scope
	Status          RunStatus
	CancelRequested bool
	Total, Done     int64
	Counts          map[string]int64  // by action, by result, and of entries that are unchanged
	Totals          map[string]string // what is sent: the debits, by currency
	Blockers        []Blocker
	Warnings        []string
	Error           string     // why it failed, or why it does not get on at present
	NextAt          *time.Time // when it goes on, if it pauses after an error
	CreatedAt       time.Time
	StartedAt       *time.Time
	FinishedAt      *time.Time

	book, stage      string
	userID, apiKeyID string
	entities         []string // of the lines that it is about; nil if nobody knows
}

// Ended reports whether nothing is left to do.
func (s RunStatus) Ended() bool { return s != Pending && s != Running }

// Guidance lists the actions that are allowed on the run now, and explains its state.
func (r Run) Guidance() (allowed, warnings []string) {
	allowed, warnings = []string{}, slices.Clone(r.Warnings)
	if !r.Status.Ended() && !r.CancelRequested {
		allowed = append(allowed, "cancel")
	}
	if r.Status == Blocked {
		warnings = append(warnings, "nothing was sent: resolve the blockers and create another run")
	}
	if r.Counts[string(AttemptFailed)] > 0 {
		what := "not sent"
		if r.Kind == Check {
			what = "not compared"
		}
		warnings = append(warnings, fmt.Sprintf("entries that were %s: %d. The results say why, and the next run tries again", what,
			r.Counts[string(AttemptFailed)]))
	}
	if n := r.Counts[string(Changed)]; n > 0 {
		warnings = append(warnings, fmt.Sprintf("entries that somebody has changed in the general ledger: %d. They stay as they are: correct "+
			"them there, and check once more", n))
	}
	if n := r.Counts[string(NothingToSend)]; n > 0 {
		warnings = append(warnings, fmt.Sprintf("entries without an amount in the base currency of their legal entity: %d. There is nothing to "+
			"send of them", n))
	}
	return allowed, warnings
}

func (r Run) facts() map[string]any {
	return map[string]any{"id": r.ID, "connection_id": r.ConnectionID, "kind": r.Kind, "status": r.Status, "scope": r.Scope,
		"counts": r.Counts, "totals": r.Totals, "error_message": db.OrNull(r.Error)}
}

// book returns what names the general ledger of a connection, also if it is connected again.
func bookOf(c connection.Connection) string {
	if c.ExternalAccountID != "" {
		return c.Provider + ":" + c.ExternalAccountID
	}
	return c.ID
}

// CreateParams describe a run.
type CreateParams struct {
	ConnectionID string // may be empty if there is one only
	Kind         Kind
	Scope        Scope
}

// entriesMax is how many entries a run can name.
const entriesMax = 1000

// Create creates a run, which a background task executes.
func (s *Service) Create(ctx context.Context, p CreateParams) (r Run, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		var faults fault.List
		p.Scope.resolve(b, &faults)
		c, err := s.only(ctx, tx, p.ConnectionID)
		if err == nil {
			c, err = s.connections.FindLedgerToUse(ctx, tx, c.ID)
		}
		if err := faults.MergeMissing(err, "connection_id"); err != nil {
			return faults.With(err)
		}
		p.Scope.requireEntities(b, who, c, &faults)
		if err := requireEntries(ctx, tx, p.Scope.EntryIDs, &faults); err != nil {
			return err
		}
		if err := faults.Err(); err != nil {
			return err
		}
		r, err = s.create(ctx, tx, c, p)
		return err
	})
	return r, err
}

// create stores a run, unless another one is under way.
func (s *Service) create(ctx context.Context, tx *db.Tx, c connection.Connection, p CreateParams) (Run, error) {
	who := actor.From(ctx)
	if err := c.RequireReadable(); err != nil {
		return Run{}, err
	}
	if s.providers[c.Provider] == nil {
		return Run{}, fault.Conflictf("%s is not available on this node", c.Provider)
	}
	other, err := selectActive(ctx, tx, bookOf(c))
	if err != nil {
		return Run{}, err
	}
	if other != "" {
		return Run{}, fault.Conflictf("the run %s is under way for this general ledger: cancel it, or wait for its end", other)
	}
	about := []string{}
	if c.LegalEntityID != "" {
		p.Scope.LegalEntityIDs = []string{c.LegalEntityID}
		about = append(about, c.LegalEntityID)
	}
	r := Run{ID: tx.NewID(id.GLSyncRun), ConnectionID: c.ID, Kind: p.Kind, Scope: p.Scope, Status: Pending, Counts: map[string]int64{},
		Totals: map[string]string{}, Blockers: []Blocker{}, Warnings: []string{}, CreatedAt: tx.Now(), book: bookOf(c), stage: planning,
		userID: who.UserID, apiKeyID: who.APIKeyID, entities: about}
	audit.Record(ctx, tx, audit.Change{Action: EventCreated, ResourceType: resourceType, ResourceID: r.ID, After: r.facts(), Object: r})
	return r, insertRun(ctx, tx, r)
}

// resolve collects the faults of a range of dates, and computes its bounds.
func (s *Scope) resolve(b *snapshot.Books, faults *fault.List) {
	if s.PeriodID != "" {
		if s.StartDate != "" || s.EndDate != "" {
			faults.Addf("accounting_period_id", "cannot be combined with start_date or end_date")
		}
		p, there := b.PeriodByID(s.PeriodID)
		if !there {
			faults.AddMissing("accounting period", "accounting_period_id")
			return
		}
		month, err := calendar.ParseKey(p.Key)
		if err != nil {
			faults.Addf("accounting_period_id", "is no month")
			return
		}
		s.From, s.Until = month.Bounds(b.Zone)
		return
	}
	bound := func(field, date string, of func(string, *time.Location) (time.Time, error)) (at time.Time) {
		if date == "" {
			return at
		}
		at, err := of(date, b.Zone)
		if err != nil {
			faults.Addf(field, "must be a date such as 2026-01-31")
		}
		return at
	}
	s.From, s.Until = bound("start_date", s.StartDate, calendar.StartOfDay), bound("end_date", s.EndDate, calendar.EndOfDay)
	if !s.From.IsZero() && !s.Until.IsZero() && !s.From.Before(s.Until) {
		faults.Addf("start_date", "must not be after end_date")
	}
}

// requireEntities collects the faults of legal entities.
func (s *Scope) requireEntities(b *snapshot.Books, who actor.Actor, c connection.Connection, faults *fault.List) {
	for n, id := range s.LegalEntityIDs {
		field := fmt.Sprintf("legal_entity_ids[%d]", n)
		if _, there := b.Entities[id]; !there || !who.Sees(id) {
			faults.AddMissing("legal entity", field)
		} else if c.LegalEntityID != "" && c.LegalEntityID != id {
			faults.AddConflictf(field, "%s is not the legal entity of the connection %s", b.Entities[id].Name, c.Name)
		}
	}
}

// requireEntries collects the faults of entries.
func requireEntries(ctx context.Context, tx *db.Tx, ids []string, faults *fault.List) error {
	if len(ids) > entriesMax {
		faults.Addf("journal_entry_ids", "must have at most %d items", entriesMax)
		return nil
	}
	found, err := journal.FindSomeUnchecked(ctx, tx, ids)
	for n, id := range ids {
		e, there := found[id]
		if !there || !slices.ContainsFunc(e.LegalEntityIDs(), actor.From(ctx).Sees) {
			faults.AddMissing("journal entry", fmt.Sprintf("journal_entry_ids[%d]", n))
		}
	}
	return err
}

// SyncEntry creates a run that sends one entry. It returns an error of kind Conflict if it cannot be sent.
func (s *Service) SyncEntry(ctx context.Context, entryID, connectionID string) (r Run, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		books, err := snapshot.Lock(ctx, tx)
		if err != nil {
			return err
		}
		e, err := journal.FindToChange(ctx, tx, entryID)
		if err != nil {
			return err
		}
		c, err := s.coverer(ctx, tx, e, connectionID)
		if err != nil {
			return err
		}
		if c, err = s.connections.FindLedgerToUse(ctx, tx, c.ID); err != nil {
			return err
		}
		p := CreateParams{Kind: Sync, Scope: Scope{EntryIDs: []string{e.ID}}}
		if r, err = s.create(ctx, tx, c, p); err != nil {
			return err
		}
		maker, err := newMaker(ctx, tx, c, books)
		if fault.KindOf(err) == fault.NotFound { // the run reads the accounts first
			return nil
		}
		if err != nil {
			return err
		}
		if e.Status != journal.Posted {
			rows, err := selectJournals(ctx, tx, r.book, []string{e.ID})
			if err == nil && !slices.ContainsFunc(rows, func(j journalRow) bool { return j.State != absent }) {
				err = fault.Conflictf("the entry %s is not posted: post it first", e.SequenceNumber())
			}
			return err
		}
		if _, _, problems := maker.build(e); len(problems) > 0 {
			return fault.Conflictf("the entry %s cannot be sent to %s: %s", e.SequenceNumber(), c.Name, problems[0].Message)
		}
		return nil
	})
	return r, err
}

// coverer returns the connection to the general ledger that an entry is sent to.
func (s *Service) coverer(ctx context.Context, tx *db.Tx, e journal.Entry, connectionID string) (connection.Connection, error) {
	covers := func(c connection.Connection) bool {
		return c.LegalEntityID == "" || slices.Contains(e.LegalEntityIDs(), c.LegalEntityID)
	}
	if connectionID != "" {
		c, err := s.connections.FindLedger(ctx, tx, connectionID)
		if err == nil && !covers(c) {
			err = fault.Conflictf("the entry %s has no line of the legal entity of the connection %s", e.SequenceNumber(), c.Name)
		}
		if fault.KindOf(err) == fault.NotFound {
			err = fault.MissingAt("connection", "connection_id")
		}
		return c, err
	}
	all, err := s.connections.Ledgers(ctx, tx)
	all = slices.DeleteFunc(all, func(c connection.Connection) bool { return !covers(c) })
	switch {
	case err != nil:
		return connection.Connection{}, err
	case len(all) == 0:
		return connection.Connection{}, fault.Conflictf("no general ledger is connected for the entry %s: create a connection to one first",
			e.SequenceNumber())
	case len(all) > 1:
		return connection.Connection{}, fault.Invalidf("connection_id", "is required, because several general ledgers are connected")
	}
	return all[0], nil
}

// Filter narrows a list of runs; empty fields match everything.
type Filter struct {
	ConnectionID string
	Status       RunStatus
	Kind         Kind
}

// List returns runs, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Run], error) {
	who := actor.From(ctx)
	key := func(r Run) string { return r.ID }
	return page.ListByKey("gl-sync-runs", f, p, "~", key, func(below string, limit int) (rows []Run, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows = nil
			if f.ConnectionID != "" {
				if _, err := s.connections.FindLedger(ctx, tx, f.ConnectionID); err != nil {
					return err
				}
			}
			for len(rows) < limit {
				found, err := selectRuns(ctx, tx, f, below, limit)
				if err != nil {
					return err
				}
				for _, r := range found {
					if below = r.ID; r.visibleTo(who) && len(rows) < limit {
						rows = append(rows, r)
					}
				}
				if len(found) < limit {
					return nil
				}
			}
			return nil
		})
		return rows, err
	})
}

// Get returns a run.
func (s *Service) Get(ctx context.Context, runID string) (r Run, err error) {
	who := actor.From(ctx)
	err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = findRun(ctx, tx, runID, "")
		return err
	})
	return r, err
}

// findRun returns a run that the actor may see.
func findRun(ctx context.Context, tx *db.Tx, runID, lock string) (Run, error) {
	r, err := selectRun(ctx, tx, runID, lock)
	if err == nil && !r.visibleTo(actor.From(ctx)) {
		return Run{}, fault.Missing(noun)
	}
	return r, err
}

// Results lists what a run does with entries, in the order in which it does so.
func (s *Service) Results(ctx context.Context, runID string, f AttemptFilter, p page.Request) (page.Page[Attempt], error) {
	who := actor.From(ctx)
	scope := struct {
		RunID  string
		Filter AttemptFilter
	}{runID, f}
	return page.ListByKey("gl-sync-results", scope, p, "0", func(a Attempt) string { return fmt.Sprint(a.Position) },
		func(above string, limit int) (rows []Attempt, err error) {
			err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				if _, err := findRun(ctx, tx, runID, ""); err != nil {
					return err
				}
				position, err := positionOf(above)
				for rows = nil; err == nil && len(rows) < limit; {
					var found []Attempt
					found, err = selectAttempts(ctx, tx, runID, f, position, limit)
					for _, a := range found {
						if position = a.Position; a.visibleTo(who) && len(rows) < limit {
							rows = append(rows, a.shownTo(who))
						}
					}
					if len(found) < limit {
						break
					}
				}
				return err
			})
			return rows, err
		})
}

// Cancel ends a run. What is being sent is waited for, and stays.
func (s *Service) Cancel(ctx context.Context, runID string) (r Run, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if r, err = findRun(ctx, tx, runID, "{for_update}"); err != nil {
			return err
		}
		if len(r.Scope.LegalEntityIDs) == 0 {
			if err := actor.From(ctx).RequireUnlimited(); err != nil {
				return err
			}
		}
		if r.Status.Ended() {
			return fault.Conflictf("the run %s is %s and can no longer be cancelled", r.ID, r.Status)
		}
		before := r
		r.CancelRequested = true
		action := resourceType + ".cancel_requested"
		if r.Status == Pending && r.StartedAt == nil { // nobody works on it
			now := tx.Now()
			r.Status, r.FinishedAt, action = Cancelled, &now, resourceType+"."+string(Cancelled)
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: resourceType, ResourceID: r.ID, Before: before.facts(),
			After: r.facts(), Object: r})
		return updateCancelled(ctx, tx, r)
	})
	return r, err
}

// CreatedBy returns the user who created the run; empty if there is none.
func (r Run) CreatedBy() string { return r.userID }
