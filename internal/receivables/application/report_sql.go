package application

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

const reportTable = "cash_application_reports"

type reportRow struct {
	ApplicationID string    `db:"cash_application_id"`
	Status        string    `db:"status"`
	Tries         int64     `db:"tries"`
	CreatedAt     time.Time `db:"created_at"`
}

// insertReport has the payments of an application reported.
func insertReport(ctx context.Context, tx *db.Tx, applicationID string) error {
	return db.Insert(ctx, tx, reportTable, reportRow{ApplicationID: applicationID, Status: "pending", CreatedAt: tx.Now()})
}

const ofReport = " WHERE organization_id = @org AND cash_application_id = ? AND claim = ? AND status = 'running'"

// requireReport returns task.ErrClaimed if a claim was lost.
func requireReport(ctx context.Context, tx *db.Tx, c *task.Claim) error {
	return ifOurs(tx.Exec(ctx, "UPDATE cash_application_reports SET tries = 0"+ofReport, c.ID, c.Text))
}

// endReport stores that a report is over.
func endReport(ctx context.Context, tx *db.Tx, c *task.Claim) error {
	return ifOurs(tx.Exec(ctx, "UPDATE cash_application_reports SET status = 'completed', claim = NULL, claimed_until = NULL"+ofReport, c.ID,
		c.Text))
}

// postponeReport releases a report until a time.
func postponeReport(ctx context.Context, tx *db.Tx, c *task.Claim, until time.Time) error {
	return ifOurs(tx.Exec(ctx, "UPDATE cash_application_reports SET status = 'pending', claim = NULL, claimed_until = ?"+ofReport, until, c.ID,
		c.Text))
}

func ifOurs(rows int64, err error) error {
	if err == nil && rows != 1 {
		err = task.ErrClaimed
	}
	return err
}

// updateReported stores which allocations the processor knows of.
func updateReported(ctx context.Context, tx *db.Tx, a Application) error {
	for n, l := range a.Allocations {
		if l.ReportedAt == nil {
			continue
		}
		if _, err := tx.Exec(ctx, "UPDATE cash_application_allocations SET reported_at = ? WHERE organization_id = @org AND "+
			"cash_application_id = ? AND position = ? AND reported_at IS NULL", *l.ReportedAt, a.ID, int64(n)); err != nil {
			return err
		}
	}
	return nil
}
