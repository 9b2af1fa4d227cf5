package application

import (
	"context"
	"maps"
	"slices"
	"strings"
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
	return ifOurs(tx.Exec(ctx, "UPDATE cash_application_reports SET claim = claim"+ofReport, c.ID, c.Text))
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

// updateReported stores what the processor knows, or may know, of allocations.
func updateReported(ctx context.Context, tx *db.Tx, before, after Application) error {
	for n, l := range after.Allocations {
		if l.sameReport(before.Allocations[n]) {
			continue
		}
		if _, err := tx.Exec(ctx, "UPDATE cash_application_allocations SET attempted_at = ?, attempted_amount = ?, report_reference = ?, "+
			"reported_at = ? WHERE organization_id = @org AND cash_application_id = ? AND position = ?", l.AttemptedAt, l.attempted(),
			db.OrNull(l.Reference), l.ReportedAt, after.ID, int64(n)); err != nil {
			return err
		}
	}
	return nil
}

// selectClaimed reads what booked applications pay of a mirrored invoice, the oldest first.
func selectClaimed(ctx context.Context, tx *db.Tx, invoiceID string) ([]claimed, error) {
	ids, err := db.All[string](ctx, tx, "SELECT cash_application_id FROM cash_application_allocations WHERE organization_id = @org AND "+
		"invoice_id = ?", invoiceID)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rows, err := db.All[row](ctx, tx, selectRows+" AND cash_application_id {any} AND status IN ('applied', 'confirmed')", ids)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	lines, err := db.All[allocationRow](ctx, tx, "SELECT "+db.Columns[allocationRow]()+" FROM cash_application_allocations "+
		"WHERE organization_id = @org AND invoice_id = ?", invoiceID)
	booked, sums := make(map[string]Application, len(rows)), claims{}
	for _, r := range rows {
		booked[r.ID] = r.application()
	}
	for _, l := range lines {
		a, there := booked[l.ApplicationID]
		if !there {
			continue
		}
		line, err := l.allocation()
		if err != nil {
			return nil, err
		}
		sums.add(a, line)
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b claimed) int { return strings.Compare(a.applicationID, b.applicationID) }), err
}
