package glsync

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// AttemptStatus is what came of an entry in a run.
type AttemptStatus string

// The states. Only those of attempts that were begun are shown with entries.
const (
	Planned          AttemptStatus = "planned"
	AttemptBlocked   AttemptStatus = "blocked"
	AttemptPending   AttemptStatus = "pending" // a request was or is about to be sent
	Succeeded        AttemptStatus = "succeeded"
	AttemptFailed    AttemptStatus = "failed"
	AttemptCancelled AttemptStatus = "cancelled"
	Skipped          AttemptStatus = "skipped" // the entry has changed since the run was planned
	Equal            AttemptStatus = "equal"
	Changed          AttemptStatus = "changed"
	Missing          AttemptStatus = "missing"
	NothingToSend    AttemptStatus = "nothing_to_send" // the entry has no value in the base currency
)

// AttemptStatuses lists the states.
var AttemptStatuses = []AttemptStatus{Planned, AttemptBlocked, AttemptPending, Succeeded, AttemptFailed, AttemptCancelled, Skipped, Equal,
	Changed, Missing, NothingToSend}

// Attempt is what a run does with an entry.
type Attempt struct {
	ID           string
	RunID        string
	Position     int64
	ConnectionID string
	Provider     string
	EntryID      string
	Number       int64 // of the entry
	Action       Action
	Status       AttemptStatus
	ExternalID   string // the general ledger's id; empty if there is none
	Error        string
	Code         string       // of the blocker; empty if there is none
	Changes      []Difference // what differs in the general ledger, of a check
	AttemptedAt  *time.Time   // nil if nothing was attempted

	part     string
	tries    int64
	entities []string // of the lines that it is about; nil if nobody knows
}

// SequenceNumber returns the number of the entry that users see.
func (a Attempt) SequenceNumber() string { return "JE-" + strconv.FormatInt(a.Number, 10) }

// Difference is a field of a journal that differs in the general ledger.
type Difference struct {
	Field string `json:"field"`
	Sent  string `json:"sent"`
	Found string `json:"found"`
}

// AttemptFilter narrows a list of results; empty fields match everything.
type AttemptFilter struct {
	Status AttemptStatus
	Action Action
}

// Markers returns what general ledgers have of entries; those of which nothing was ever sent are left out. It runs in the caller's
// transaction.
func Markers(ctx context.Context, tx *db.Tx, entryIDs []string) (map[string]*journal.Synced, error) {
	if len(entryIDs) == 0 {
		return nil, nil
	}
	attempts, err := selectLatest(ctx, tx, entryIDs)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*journal.Synced, len(attempts))
	who := actor.From(ctx)
	for _, row := range attempts {
		out[row.EntryID] = &journal.Synced{}
		if a := row.attempt(); a.visibleTo(who) {
			out[row.EntryID].Attempt = a.shownTo(who).shown()
		}
	}
	rows, err := selectMarkers(ctx, tx, entryIDs)
	if err != nil {
		return nil, err
	}
	connected, err := connectedBooks(ctx, tx, rows)
	for _, r := range rows {
		s := out[r.EntryID]
		if s == nil { // its attempts were long ago
			s = &journal.Synced{}
			out[r.EntryID] = s
		}
		s.Present = s.Present || r.Present
		if s.Drift == "" && connected[r.Book] {
			if d := decode[*drift](db.OrEmpty(r.Drift)); d != nil && seesAll(who, d.LegalEntityIDs) {
				s.Drift = d.text()
			}
		}
		s.FirstAt, s.LastAt, s.RemovedAt = earlier(s.FirstAt, r.FirstAt), later(s.LastAt, r.LastAt), later(s.RemovedAt, r.RemovedAt)
	}
	return out, err
}

// connectedBooks returns the general ledgers that are connected, if a check has found something in one of them: what it found in others can
// neither be corrected nor checked any more.
func connectedBooks(ctx context.Context, tx *db.Tx, rows []markerRow) (map[string]bool, error) {
	if !slices.ContainsFunc(rows, func(r markerRow) bool { return r.Drift != nil }) {
		return nil, nil
	}
	all, err := connection.InUseUnchecked(ctx, tx)
	out := map[string]bool{}
	for _, c := range all {
		out[bookOf(c)] = true
	}
	return out, err
}

// Markers returns what general ledgers have of entries.
func (s *Service) Markers(ctx context.Context, organizationID string, entryIDs []string) (out map[string]*journal.Synced, err error) {
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = Markers(ctx, tx, entryIDs)
		return err
	})
	return out, err
}

// shown returns an attempt as it is shown with its entry.
func (a Attempt) shown() *journal.SyncAttempt {
	out := &journal.SyncAttempt{ID: a.ID, Action: string(a.Action), Status: string(a.Status), Provider: a.Provider, ExternalID: a.ExternalID,
		Error: a.Error, ErrorCode: a.Code}
	if a.AttemptedAt != nil {
		out.At = *a.AttemptedAt
	}
	return out
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}
