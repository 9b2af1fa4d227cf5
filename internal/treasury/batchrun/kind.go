package batchrun

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/task"
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
