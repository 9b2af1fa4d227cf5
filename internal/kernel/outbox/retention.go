package outbox

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// RetentionDefault, RetentionMin and RetentionMax are for how many days organizations keep events. What is to be delivered is tried for
// three days, so that events are deleted before only if their endpoint is paused for long.
const (
	RetentionDefault = 90
	RetentionMin     = 7
	RetentionMax     = 3650
)

// Retention returns for how many days the organization keeps events.
func Retention(ctx context.Context, tx *db.Tx) (int, error) { return selectRetention(ctx, tx) }

// SetRetention sets for how many days the organization keeps events. It is a building block: the caller has checked the number and records
// the change.
func SetRetention(ctx context.Context, tx *db.Tx, days int) error {
	return updateRetention(ctx, tx, days)
}

// Sweep is the job that deletes events which are older than their organization keeps them.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "event_sweep" }

const (
	sweepOrganizations = 1000 // read at a time
	sweepEvents        = 1000 // deleted in one database transaction
)

// DeleteExpired deletes the events of all organizations that are older than they keep them, except those that were not handed to the job
// queue yet.
func DeleteExpired(ctx context.Context, d *db.DB) error {
	for after := ""; ; {
		var rows []retentionRow
		err := d.ReadAcross(ctx, "old events of all organizations are deleted", func(ctx context.Context, tx *db.Tx) (err error) {
			rows, err = selectRetentions(ctx, tx, after, sweepOrganizations)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			for more := r.Oldest != nil && r.Oldest.Before(r.limit(d.Clock().Now())); more; {
				if more, err = deleteSome(ctx, d, r); err != nil {
					return err
				}
			}
		}
		after = rows[len(rows)-1].OrganizationID
	}
}

// limit returns the time before which events are expired.
func (r retentionRow) limit(now time.Time) time.Time {
	return now.Add(-time.Duration(r.Days) * 24 * time.Hour)
}

// deleteSome deletes expired events of an organization and reports whether there may be more.
func deleteSome(ctx context.Context, d *db.DB, r retentionRow) (more bool, err error) {
	err = d.Write(ctx, r.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		oldest, err := selectOldest(ctx, tx, r, sweepEvents)
		if err != nil {
			return err
		}
		limit, last := r.limit(tx.Now()), int64(0)
		for _, e := range oldest {
			if !e.CreatedAt.Before(limit) {
				break
			}
			last = e.Sequence
		}
		if more = last > 0 && last == oldest[len(oldest)-1].Sequence; last == 0 {
			return nil
		}
		return deleteThrough(ctx, tx, last)
	})
	return more, err
}
