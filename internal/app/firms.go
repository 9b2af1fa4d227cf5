package app

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// connectFirms creates the service of firms. What somebody of a firm may do for its clients ends with the membership in the firm.
func (a *App) connectFirms() {
	a.Firms = firm.NewService(a.DB, a.Org)
	a.Firms.QueueFollow = func(ctx context.Context, tx *db.Tx, f firm.Follow) error { return a.queue(ctx, tx, f) }
	a.Firms.QueueBooks = func(ctx context.Context, tx *db.Tx, b firm.MakeBooks) error { return a.queue(ctx, tx, b) }
	a.Access.RequireActing = firm.RequireActing
	acting := func(ctx context.Context, tx *db.Tx) error {
		_, err := firm.RequireActing(ctx, tx)
		return err
	}
	a.Classification.RequireActing, a.CashRuns.RequireActing = acting, acting
	a.Access.MemberChanged = append(a.Access.MemberChanged, a.leaveClients)
	a.connectFirmRequests()
	forget := a.Access.ForgetMember
	a.Access.ForgetMember = func(userID string) {
		forget(userID)
		a.Firms.ForgetMember(userID)
	}
}

// leaveClients ends the work of somebody for the clients of a firm that they have left, or see a part of only.
func (a *App) leaveClients(ctx context.Context, tx *db.Tx, m access.Member) error {
	if m.Role != "" && len(m.LegalEntityIDs) == 0 {
		return nil
	}
	if isFirm, err := organization.IsFirm(ctx, tx); err != nil || !isFirm {
		return err
	}
	return a.queue(ctx, tx, firm.MemberLeft{FirmOrganizationID: tx.Organization(), UserID: m.UserID})
}

// handleFirms registers the jobs of firms.
func (a *App) handleFirms(workers *job.Workers) {
	job.Handle(workers, a.Firms.Follow)
	job.Handle(workers, a.Firms.MakeBooks)
	job.Handle(workers, a.Firms.MemberLeft)
	a.handleFirmRequests(workers)
}
