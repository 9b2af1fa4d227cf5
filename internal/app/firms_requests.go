package app

import (
	"context"
	"errors"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
)

// connectFirmRequests creates the service of requests of firms. Requests to a client end with the client.
func (a *App) connectFirmRequests() {
	a.FirmRequests = firmrequest.NewService(a.DB, a.Identity, firmrequest.Uses{Firms: a.Firms, Team: a.Team, Connections: a.Connections,
		Imports: a.Imports, Sources: a.Sources})
	a.FirmRequests.Deliver = a.deliverMail
	a.FirmRequests.QueueEnd = func(ctx context.Context, tx *db.Tx, e firmrequest.EndSetups) error { return a.queue(ctx, tx, e) }
	a.Firms.ClientEnded = append(a.Firms.ClientEnded, a.FirmRequests.ClientEnded)
	a.Firms.ClientActive = a.FirmRequests.ClientActive
}

// handleFirmRequests registers the jobs of requests of firms.
func (a *App) handleFirmRequests(workers *job.Workers) {
	job.Handle(workers, a.FirmRequests.EndSetups)
	job.Handle(workers, func(ctx context.Context, _ firmrequest.Sweep) error { return a.FirmRequests.Sweep(ctx) })
	job.Every(workers, connectEvery, firmrequest.Sweep{})
}

// deliverMail sends a message at once, and reports whether the server has accepted it. A message that was not sent is written to the folder
// for mail.
func (a *App) deliverMail(ctx context.Context, m mail.Message) bool {
	reason := ""
	if a.config.Mail != nil {
		now := a.DB.Clock().Now()
		err := a.config.Mail.Send(ctx, m, now)
		if err == nil {
			return true
		}
		if reason = withoutLinks(err.Error(), m.Text); errors.Is(err, context.Canceled) {
			reason = "the request that it was about was given up"
		}
	}
	if err := a.keepMail(m, reason); err != nil {
		a.log.Error("a message could not be written to a file", "error", err)
	}
	return false
}
