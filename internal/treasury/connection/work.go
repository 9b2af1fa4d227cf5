package connection

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

// Task is the background task that reads the data of connections.
var Task = task.Kind{Noun: "connection sync", Table: syncTable, Key: "connection_id", Together: workersMax, Each: workersPerOrganization}

// Start is the stage of a synchronization that was requested and has not begun.
const Start = "start"

const (
	// overlap is by how much a synchronization reads again what an earlier one has read, because providers may show a record some time
	// after the time that it states.
	overlap = time.Hour
	// failuresShown is after how many tries without progress a failure is shown with the connection.
	failuresShown = 3
	// yieldFor is how long a task pauses that has more events to handle, so that tasks of other connections are claimed before.
	yieldFor = time.Second
)

// Reader reads the data of a connection from its provider. It commits what it has read with Work.Commit, and continues where an earlier
// one has stopped. It returns an error of kind Unauthorized if the provider refuses the credentials, one of kind Unavailable if the
// provider does not answer, and others that a person has to look at.
type Reader func(ctx context.Context, w *Work) error

// workersMax and workersPerOrganization are how many connections a node reads at a time: mostly it waits for providers.
const (
	workersMax             = 8
	workersPerOrganization = 4
)

// Work is the synchronization of a connection that is under way.
type Work struct {
	Connection
	Credentials
	Stage   string // the stage to continue with; empty if only events are to be handled
	Cursor  string // the last record that was read in the stage
	From    *time.Time
	Through time.Time

	// Keeper keeps credentials that are renewed.
	Keeper Keeper
	// Cursors says how far each ledger was read; SaveCursor changes it.
	Cursors map[string]Cursor
	// Cause is why the connection is read.
	Cause Cause

	service *Service
	claim   *task.Claim
	runID   string
	ended   bool
}

// NewRunner returns the runner that reads connections in the background.
func NewRunner(s *Service, log *slog.Logger) *task.Runner {
	return task.NewRunner(Task, s.db, log, s.Run)
}

// Run reads the data of a connection. It returns task.ErrClaimed if another worker does so. Failures of the provider are stored with the
// connection, and are no error of Run.
func (s *Service) Run(ctx context.Context, organizationID, connectionID string) error {
	claim, err := Task.Claim(ctx, s.db, organizationID, connectionID)
	if err != nil {
		return err
	}
	w := &Work{service: s, claim: claim}
	return claim.Work(actor.With(ctx, actor.Actor{OrganizationID: organizationID}), func(ctx context.Context) error {
		err := w.load(ctx)
		if w.ended {
			return err
		}
		if err == nil {
			err = s.providers[w.Provider].Read(ctx, w)
		}
		if err == nil {
			err = w.afterwards(ctx)
		}
		if err == nil {
			return w.finish(ctx)
		}
		if ctx.Err() != nil || errors.Is(err, task.ErrClaimed) {
			return err
		}
		return w.fail(ctx, err)
	}, func() bool { return w.ended })
}

// load reads the connection, decrypts its credentials, and begins a synchronization that was requested. The task of a connection that was
// disconnected is over.
func (w *Work) load(ctx context.Context) error {
	return w.service.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err := w.service.find(ctx, tx, w.claim.ID, "")
		if err != nil {
			return err
		}
		if w.Connection = c; c.Status == Disconnected {
			tx.AfterCommit(func() { w.ended = true })
			return stopSync(ctx, tx, c.ID, "the connection was disconnected")
		}
		if w.service.providers[c.Provider].Read == nil {
			return fault.Conflictf("%s is not available on this node", c.Provider)
		}
		if w.Credentials, err = w.service.open(w.claim.OrganizationID, c); err != nil {
			return fault.Conflictf("%v", ErrSealed)
		}
		w.Keeper = w.service.keeper(w.claim.OrganizationID, c.ID)
		if w.Cursors, err = selectCursors(ctx, tx, c.ID); err != nil {
			return err
		}
		p, err := selectProgress(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		w.Stage, w.Cursor, w.From = db.OrEmpty(p.Stage), db.OrEmpty(p.Cursor), p.From
		w.runID, w.Cause = db.OrEmpty(p.RunID), Cause(db.OrEmpty(p.Cause))
		if w.Cause == "" {
			w.Cause = CauseSchedule
		}
		if p.Through != nil {
			w.Through = *p.Through
		}
		if w.Stage == "" || w.runID != "" {
			return nil
		}
		return w.begin(ctx, tx, p)
	})
}

// begin begins a run. One that continues an earlier one which has failed keeps its range of time.
func (w *Work) begin(ctx context.Context, tx *db.Tx, p progressRow) error {
	w.runID = tx.NewID(id.ConnectionRun)
	if w.Stage == Start && p.Through == nil {
		w.Through = tx.Now()
		if p.SyncedThrough != nil {
			from := p.SyncedThrough.Add(-overlap)
			w.From = &from
		}
	}
	if err := insertRun(ctx, tx, Run{ID: w.runID, ConnectionID: w.ID, Cause: w.Cause, Status: RunRunning, StartedAt: tx.Now()}); err != nil {
		return err
	}
	return w.require(begin(ctx, tx, w.claim, w.runID, w.From, w.Through))
}

// Count adds to what the run has brought. It is called within the function of Commit and of Handle.
func (w *Work) Count(ctx context.Context, tx *db.Tx, c Counts) error {
	if w.runID == "" || c == (Counts{}) {
		return nil
	}
	return addCounts(ctx, tx, w.runID, c)
}

// SaveCursor stores how far a ledger was read. It is called within the function of Commit.
func (w *Work) SaveCursor(ctx context.Context, tx *db.Tx, ledger, position string) error {
	tx.AfterCommit(func() { w.Cursors[ledger] = Cursor{position, tx.Now()} })
	return upsertCursor(ctx, tx, w.ID, ledger, position)
}

// SaveGaps stores for which ranges of time the provider does not tell what happened. It is called within the function of Commit.
func (w *Work) SaveGaps(ctx context.Context, tx *db.Tx, ledger string, gaps []Gap) error {
	if len(gaps) == 0 {
		return nil
	}
	return upsertGaps(ctx, tx, w.ID, ledger, gaps)
}

// Withdraw takes records back that the provider says did not happen, and returns how many transactions are gone. Those that are booked
// stay, and a person is told. It is called within the function of Commit.
func (w *Work) Withdraw(ctx context.Context, tx *db.Tx, externalIDs []string) (int64, error) {
	if len(externalIDs) == 0 || w.service.removed == nil {
		return 0, nil
	}
	removed, booked, err := w.service.removed(ctx, tx, w.Sources, externalIDs)
	if err == nil && len(booked) > 0 {
		err = upsertWithdrawals(ctx, tx, w.ID, booked)
	}
	return int64(removed), err
}

// Divide gives the connection a source for each part of its account, and returns the ids of the sources by those of the parts.
func (w *Work) Divide(ctx context.Context, parts []Part) (map[string]string, error) {
	var out map[string]string
	err := w.service.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := w.service.find(ctx, tx, w.ID, "{for_update}")
		if err != nil {
			return err
		}
		if before.Status == Disconnected {
			return task.ErrClaimed
		}
		after := before
		if out, err = ensureParts(ctx, tx, &after, parts); err != nil {
			return err
		}
		w.Sources, w.ItemID = after.Sources, after.ItemID
		if after.ItemID != before.ItemID {
			_, err = save(ctx, tx, eventUpdated, before, after)
		}
		return err
	})
	return out, err
}

// afterwards has new transactions classified, for example, before the run is over.
func (w *Work) afterwards(ctx context.Context) error {
	if w.runID == "" || w.Stage == "" {
		return nil
	}
	var r Run
	err := w.service.db.Read(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		r, err = selectRun(ctx, tx, w.runID)
		return err
	})
	if err != nil || r.Counts.Created == 0 {
		return err
	}
	for _, do := range w.service.AfterSync {
		if err := do(ctx, w.Connection, r); err != nil {
			return fmt.Errorf("after the synchronization: %w", err)
		}
	}
	return nil
}

// require turns a claim that was lost into an error.
func (w *Work) require(ours bool, err error) error {
	if err == nil && !ours {
		err = task.ErrClaimed
	}
	return err
}

// Commit stores what was read of a stage, up to a record, in one database transaction: what the function writes, and the progress. It
// writes nothing if the connection was disconnected meanwhile.
func (w *Work) Commit(ctx context.Context, stage, cursor string, items int, write func(ctx context.Context, tx *db.Tx) error) error {
	err := w.service.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := w.require(advance(ctx, tx, w.claim, stage, cursor)); err != nil {
			return err
		}
		return write(ctx, tx)
	})
	if err == nil {
		w.Stage, w.Cursor = stage, cursor
		w.claim.Progressed(items)
	}
	return err
}

// Waiting returns events that are not handled yet, the oldest first.
func (w *Work) Waiting(ctx context.Context, limit int) (out []Event, err error) {
	err = w.service.db.Read(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = selectWaiting(ctx, tx, w.ID, limit)
		return err
	})
	return out, err
}

// Handle stores what events have led to, and that they are handled, in one database transaction. Without events it stores a part of what
// the next ones lead to.
func (w *Work) Handle(ctx context.Context, eventIDs []string, write func(ctx context.Context, tx *db.Tx) error) error {
	err := w.service.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := w.require(advance(ctx, tx, w.claim, w.Stage, w.Cursor)); err != nil {
			return err
		}
		if len(eventIDs) > 0 {
			if err := markHandled(ctx, tx, w.ID, eventIDs); err != nil {
				return err
			}
		}
		return write(ctx, tx)
	})
	if err == nil {
		w.claim.Progressed(len(eventIDs))
	}
	return err
}

// finish records that all data was read. If events have arrived meanwhile, the task stays pending.
func (w *Work) finish(ctx context.Context) error {
	err := w.end(ctx, Active, "", func(ctx context.Context, tx *db.Tx, c Connection) (bool, error) {
		if w.Stage != "" {
			if err := w.endRun(ctx, tx); err != nil {
				return false, err
			}
		}
		return finish(ctx, tx, w.claim, w.Stage != "", dueAfter(tx.Now(), c), yieldFor)
	})
	w.ended = err == nil
	return err
}

// endRun ends the run, and says so to whoever follows the sources.
func (w *Work) endRun(ctx context.Context, tx *db.Tx) error {
	if err := endRun(ctx, tx, w.ID, RunCompleted, ""); err != nil {
		return err
	}
	r, err := selectRun(ctx, tx, w.runID)
	if err != nil {
		return err
	}
	facts := map[string]any{"id": r.ID, "connection_id": w.ID, "cause": r.Cause, "status": r.Status,
		"read": r.Counts.Read, "created": r.Counts.Created, "duplicates": r.Counts.Duplicates, "omitted": r.Counts.Omitted,
		"removed": r.Counts.Removed, "source_ids": w.Sources}
	audit.Record(ctx, tx, audit.Change{Action: EventSynced, ResourceType: "connection_run", ResourceID: r.ID, After: facts, Object: r})
	return nil
}

// dueAfter returns when the schedule looks for something new the next time, nil if it does not. Connections that were read together are not
// looked at together.
func dueAfter(now time.Time, c Connection) *time.Time {
	if c.SyncMinutes == 0 {
		return nil
	}
	every := time.Duration(c.SyncMinutes) * time.Minute
	spread := every / spreadPart
	at := now.Add(every - spread + time.Duration(fnvOf(c.ID)%uint64(2*spread)))
	return &at
}

// spreadPart is by which part of the interval the schedule differs among connections.
const spreadPart = 10

func fnvOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // it never fails
	return h.Sum64()
}

// end stores the state of the connection, if it has changed, and of the task. A connection that was disconnected stays so.
func (w *Work) end(ctx context.Context, status Status, message string,
	store func(context.Context, *db.Tx, Connection) (bool, error)) error {
	return w.service.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := w.service.find(ctx, tx, w.claim.ID, "{for_update}")
		if err != nil {
			return err
		}
		if before.Status == Disconnected {
			return stopSync(ctx, tx, before.ID, "the connection was disconnected")
		}
		if err := w.require(store(ctx, tx, before)); err != nil || before.Status == status && before.ErrorMessage == message {
			return err
		}
		after := before
		after.Status, after.ErrorMessage = status, message
		_, err = save(ctx, tx, eventOf(status), before, after)
		return err
	})
}

// fail records a failure. One that may pass is tried again after a pause.
func (w *Work) fail(ctx context.Context, because error) error {
	kind := fault.KindOf(because)
	status, message, wait := Failed, because.Error(), time.Duration(0)
	if kind == fault.Internal { // its text is for the log
		message = "the synchronization failed because of a fault of the service, see its log; it is tried again"
	}
	said := message
	switch {
	case kind == fault.Unauthorized:
		status = Unauthorized
	case kind == fault.Unavailable || kind == fault.RateLimited || kind == fault.Internal:
		wait = w.claim.Pause(because)
		if w.claim.Tries < failuresShown {
			status, message = w.Status, w.ErrorMessage
		}
	}
	err := w.end(ctx, status, message, func(ctx context.Context, tx *db.Tx, c Connection) (bool, error) {
		if wait > 0 {
			if err := delayRun(ctx, tx, w.claim.ID, cut(said, runErrorMax)); err != nil {
				return false, err
			}
			return postpone(ctx, tx, w.claim, tx.Now().Add(wait))
		}
		if err := endRun(ctx, tx, w.claim.ID, RunFailed, cut(message, runErrorMax)); err != nil {
			return false, err
		}
		due := dueAfter(tx.Now(), c)
		if status == Unauthorized {
			due = nil // until the credentials are replaced
		}
		return abandon(ctx, tx, w.claim, due)
	})
	w.ended = err == nil
	if err == nil && kind == fault.Internal {
		err = fmt.Errorf("read the connection %s: %w", w.claim.ID, because) // for the log
	}
	return err
}

// runErrorMax bounds the text of a failure that is stored with a run, in characters.
const runErrorMax = 500

// Organization returns the id of the organization of the connection.
func (w *Work) Organization() string { return w.claim.OrganizationID }
