package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

// Kind is the background task that reads the data of connections.
var Kind = task.Kind{Noun: "connection sync", Table: syncTable, Key: "connection_id"}

// Start is the stage of a synchronization that was requested and has not begun.
const Start = "start"

const (
	// overlap is by how much a synchronization reads again what an earlier one has read, because providers may show a record some time
	// after the time that it states.
	overlap = time.Hour
	// failuresShown is after how many tries without progress a failure is shown with the connection.
	failuresShown = 3
	// waitMax bounds the pause before the next try.
	waitMax = 5 * time.Minute
	// yieldFor is how long a task pauses that has more events to handle, so that tasks of other connections are claimed before.
	yieldFor = time.Second
)

// Reader reads the data of a connection from its provider. It commits what it has read with Work.Commit, and continues where an earlier
// one has stopped. It returns an error of kind Unauthorized if the provider refuses the credentials, one of kind Unavailable if the
// provider does not answer, and others that a person has to look at.
type Reader func(ctx context.Context, w *Work) error

// Work is the synchronization of a connection that is under way.
type Work struct {
	Connection
	Credentials
	Stage   string // the stage to continue with; empty if only events are to be handled
	Cursor  string // the last record that was read in the stage
	From    *time.Time
	Through time.Time

	service *Service
	claim   *task.Claim
	ended   bool
}

// NewRunner returns the runner that reads connections in the background.
func NewRunner(s *Service, log *slog.Logger) *task.Runner {
	return task.NewRunner(Kind, s.db, log, s.Run)
}

// Run reads the data of a connection. It returns task.ErrClaimed if another worker does so. Failures of the provider are stored with the
// connection, and are no error of Run.
func (s *Service) Run(ctx context.Context, organizationID, connectionID string) error {
	claim, err := Kind.Claim(ctx, s.db, organizationID, connectionID)
	if err != nil {
		return err
	}
	w := &Work{service: s, claim: claim}
	return claim.Work(actor.With(ctx, actor.Actor{OrganizationID: organizationID}), func(ctx context.Context) error {
		err := w.load(ctx)
		if err == nil {
			err = s.readers[w.Provider](ctx, w)
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

// load reads the connection, decrypts its credentials, and begins a synchronization that was requested.
func (w *Work) load(ctx context.Context) error {
	return w.service.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err := selectOne(ctx, tx, w.claim.ID, "")
		if err != nil {
			return err
		}
		w.Connection = c
		if w.service.readers[c.Provider] == nil {
			return fault.Conflictf("%s is not available on this node", c.Provider)
		}
		if w.Credentials, err = w.service.open(w.claim.OrganizationID, c); err != nil {
			return fault.Conflictf("%v", ErrSealed)
		}
		p, err := selectProgress(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		w.Stage, w.Cursor, w.From = db.OrEmpty(p.Stage), db.OrEmpty(p.Cursor), p.From
		if p.Through != nil {
			w.Through = *p.Through
		}
		if w.Stage != Start || p.Through != nil {
			return nil
		}
		w.Through = tx.Now()
		if p.SyncedThrough != nil {
			from := p.SyncedThrough.Add(-overlap)
			w.From = &from
		}
		return w.require(begin(ctx, tx, w.claim, w.From, w.Through))
	})
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
	err := w.end(ctx, Active, "", func(ctx context.Context, tx *db.Tx) (bool, error) {
		return finish(ctx, tx, w.claim, w.Stage != "", yieldFor)
	})
	w.ended = err == nil
	return err
}

// end stores the state of the connection, if it has changed, and of the task.
func (w *Work) end(ctx context.Context, status Status, message string, store func(context.Context, *db.Tx) (bool, error)) error {
	return w.service.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := w.require(store(ctx, tx)); err != nil {
			return err
		}
		before, err := selectOne(ctx, tx, w.claim.ID, "{for_update}")
		if err != nil || before.Status == status && before.ErrorMessage == message {
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
	switch {
	case kind == fault.Unauthorized:
		status = Unauthorized
	case kind == fault.Unavailable || kind == fault.RateLimited || kind == fault.Internal:
		wait = w.pause(because)
		if kind == fault.Internal {
			message = "the synchronization failed because of a fault of the service, see its log; it is tried again"
		}
		if w.claim.Tries < failuresShown {
			status, message = w.Status, w.ErrorMessage
		}
	}
	err := w.end(ctx, status, message, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if wait > 0 {
			return postpone(ctx, tx, w.claim, tx.Now().Add(wait))
		}
		return abandon(ctx, tx, w.claim)
	})
	w.ended = err == nil
	if err == nil && kind == fault.Internal {
		err = fmt.Errorf("read the connection %s: %w", w.claim.ID, because) // for the log
	}
	return err
}

// pause returns how long to wait after a failure: as long as the provider asks for, and longer after each try.
func (w *Work) pause(because error) time.Duration {
	wait := min(waitMax, time.Second<<min(w.claim.Tries-1, 10))
	var f *fault.Error
	if errors.As(because, &f) {
		wait = max(wait, f.RetryAfter)
	}
	return wait
}
