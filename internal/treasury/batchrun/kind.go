package batchrun

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

const (
	// runsMax is how many runs of a kind an organization may have unfinished. Each waits for the one before it.
	runsMax = 20
	// runsRetry is when a run should be created again that is one too many.
	runsRetry = 10 * time.Second
)

// Kind describes a kind of runs. R is a run, which embeds Run, and W is its row, which embeds Row.
type Kind[R, W any] struct {
	Noun         string    // "classification run"
	ResultsNoun  string    // "classification results"
	Items        string    // what is processed: "transactions"
	ResourceType string    // in the audit log
	Event        string    // what the names of its events start with: "classification_run"
	Prefix       id.Prefix // of the ids of runs
	RunTable     string
	ResultTable  string
	Outcomes     []Outcome // all that results may have

	Common  func(*R) *Run          // the part that all kinds have
	Facts   func(R) map[string]any // what the audit log and events state besides that part
	ToRow   func(R) W
	FromRow func(W) (R, error)

	Complete func(context.Context, *db.Tx, []R) error // sets what is not in the rows of some runs; nil if everything is
}

// Task returns the kind of background task that executes runs.
func (k *Kind[R, W]) Task() task.Kind {
	return task.Kind{Noun: k.Noun, Table: k.RunTable, Key: "run_id"}
}

// record records a change of a run, which is also its event.
func (k *Kind[R, W]) record(ctx context.Context, tx *db.Tx, change string, before, after *R) {
	c := audit.Change{Action: k.Event + "." + change, ResourceType: k.ResourceType, ResourceID: k.Common(after).ID, After: k.facts(*after)}
	if before != nil {
		c.Before = k.facts(*before)
	}
	audit.Record(ctx, tx, c)
}

// facts returns the fields of a run for the audit log and events.
func (k *Kind[R, W]) facts(r R) map[string]any {
	all, c := k.Facts(r), k.Common(&r)
	all["id"], all["dry_run"], all["filter"], all["status"] = c.ID, c.Dry, c.Filter, c.Status
	all["total"], all["counts"], all["error"] = c.Total, c.Counts, db.OrNull(c.Error)
	return all
}

// New returns a run of an actor, to be created.
func (k *Kind[R, W]) New(who actor.Actor) (r R) {
	*k.Common(&r) = Run{Status: Pending, LegalEntityIDs: who.LegalEntityIDs, Counts: map[Outcome]int64{}, UserID: who.UserID,
		APIKeyID: who.APIKeyID, FirmID: who.FirmID, RequestID: who.RequestID}
	return r
}

// Create stores a new run, unless too many are unfinished.
func (k *Kind[R, W]) Create(ctx context.Context, tx *db.Tx, r R) (R, error) {
	unfinished, err := k.countUnfinished(ctx, tx)
	if err != nil {
		return r, err
	}
	if unfinished >= runsMax {
		return r, fault.RateLimitedf(runsRetry, "the organization has %d %ss that are not finished; wait until one is, or cancel one",
			unfinished, k.Noun)
	}
	c := k.Common(&r)
	c.ID, c.CreatedAt = tx.NewID(k.Prefix), tx.Now()
	k.record(ctx, tx, "created", nil, &r)
	return r, k.insert(ctx, tx, r)
}

// Find finds a run, unless it was created with a key for legal entities that the actor may not see.
func (k *Kind[R, W]) Find(ctx context.Context, tx *db.Tx, runID string) (R, error) {
	r, err := k.findUnchecked(ctx, tx, runID)
	if err == nil && !within(k.Common(&r).LegalEntityIDs, actor.From(ctx).LegalEntityIDs) {
		err = fault.Missing(k.Noun)
	}
	return r, err
}

// within reports whether a run for some legal entities is visible to a key for others; none means all.
func within(run, key []string) bool {
	if len(key) == 0 {
		return true
	}
	return len(run) > 0 && !slices.ContainsFunc(run, func(e string) bool { return !slices.Contains(key, e) })
}
