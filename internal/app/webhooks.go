package app

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// webhookSender registers the jobs that send events to webhook endpoints, and messages about endpoints to the owners of their
// organizations. The queue of the sender is set before the jobs run.
func (a *App) webhookSender(workers *job.Workers) *webhook.Sender {
	s := &webhook.Sender{Service: a.Webhooks, Log: a.log}
	workers.AddQueue(webhook.Queue, webhook.WorkersMax, webhook.PollPause)
	job.Handle(workers, s.Deliver)
	job.Handle(workers, func(ctx context.Context, _ webhook.Sweep) error { return s.Sweep(ctx) })
	job.Every(workers, webhookEvery, webhook.Sweep{})
	job.Handle(workers, func(ctx context.Context, _ webhook.Cleanup) error { return s.Cleanup(ctx) })
	job.Every(workers, sweepEvery, webhook.Cleanup{})
	s.Tell = func(ctx context.Context, tx *db.Tx, e webhook.Endpoint) error {
		if a.config.Secrets == nil { // without them no message can be queued
			return nil
		}
		m, err := aboutWebhook(ctx, tx, e)
		if err != nil {
			return err
		}
		for _, to := range m.To { // one for each owner, because an address that is refused must not keep the others from it
			if err := a.queueMail(ctx, tx, mail.Message{To: []string{to}, Subject: m.Subject, Text: m.Text}); err != nil {
				return err
			}
		}
		return nil
	}
	return s
}

// aboutWebhook returns the message to the owners of an organization that an endpoint was paused or disabled.
func aboutWebhook(ctx context.Context, tx *db.Tx, e webhook.Endpoint) (mail.Message, error) {
	o, err := orgstate.FindOrganization(ctx, tx)
	if err != nil {
		return mail.Message{}, err
	}
	to, err := access.OwnerEmails(ctx, tx)
	next := "Events wait until it is enabled again, as long as they are kept."
	if e.Status == webhook.Disabled {
		next = "No events are sent to it until it is enabled again. Those in between can be requested with a redelivery."
	}
	return mail.Message{To: to, Subject: fmt.Sprintf("%s: a webhook endpoint was %s", o.Name, e.Status),
		Text: fmt.Sprintf("The webhook endpoint %s of %s was %s: %s.\n\nAddress: %s\n\n%s To enable it: POST /v1/webhook-endpoints/%s/enable\n",
			e.ID, o.Name, e.Status, e.StatusReason, e.URL, next, e.ID)}, err
}
