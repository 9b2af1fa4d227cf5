package task

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/db"
)

// itemsDone counts what the tasks of this process completed, such as rows of a file.
var itemsDone = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bursar_task_items_total",
	Help: "Items that background tasks of this node completed."}, []string{"task"})

// Metrics returns the metrics of the tasks that this process runs.
func Metrics() prometheus.Collector { return itemsDone }

// Status is how many tasks of a kind are in a state, and for how long the oldest has existed.
type Status struct {
	Task, Status string
	Count        int64
	Oldest       time.Duration
}

// ReadStatus returns the tasks of a kind that are pending or running, over all organizations.
func (k Kind) ReadStatus(ctx context.Context, d *db.DB) ([]Status, error) {
	out := []Status{{Task: k.Noun, Status: "pending"}, {Task: k.Noun, Status: "running"}}
	err := d.ReadAcross(ctx, "metrics count the tasks of all organizations", func(ctx context.Context, tx *db.Tx) error {
		rows, err := selectStatus(ctx, tx, k)
		for _, r := range rows {
			for i := range out {
				if out[i].Status == r.Status && r.Oldest != nil {
					out[i].Count, out[i].Oldest = r.Count, max(0, tx.Now().Sub(*r.Oldest))
				}
			}
		}
		return err
	})
	return out, err
}

// Kind returns the kind of the runner's tasks.
func (r *Runner) Kind() Kind { return r.kind }
