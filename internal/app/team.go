package app

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

// connectTeam creates the service of invitations, and lets it and that of keys send mail. What a person has allowed apps ends with the
// membership, and so do invitations. Those that were made with a key end when it is revoked. What an app has created ends with what the
// person has allowed: keys, invitations, webhook endpoints and further apps.
func (a *App) connectTeam() {
	a.Team = team.NewService(a.DB, a.Identity)
	if a.config.Secrets != nil { // without them no message can be queued
		a.Identity.Send, a.Identity.QueueReset = a.queueMail, a.queueReset
	}
	a.Identity.Queue = func(ctx context.Context, tx *db.Tx, h identity.Happened) error { return a.queue(ctx, tx, h) }
	a.OAuth.Queue = func(ctx context.Context, tx *db.Tx, j oauth.EndAuthorizations) error { return a.queue(ctx, tx, j) }
	a.Access.EndAuthorizations, a.Access.RequireAuthorization, a.Access.AuthorizationsHold = a.OAuth.EndOfUser, oauth.RequireActive, oauth.Hold
	a.Access.RequireSession = a.Identity.RequireSession
	a.Access.ForgetMember = func(userID string) {
		a.Identity.ForgetMember(userID)
		a.OAuth.ForgetMember(userID)
	}
	a.Access.MemberChanged, a.Access.EndMadeBy = append(a.Access.MemberChanged, team.EndOfMember), team.EndOfMaker
	a.OAuth.EndKeys, a.OAuth.ForgetKeys = a.Access.EndKeysOfApp, a.Access.ForgetKeys
	a.OAuth.EndCreated = []func(ctx context.Context, tx *db.Tx, by audit.Maker) error{team.EndOfMaker, webhook.EndOfApp}
	a.OAuth.RequireHeld, a.Team.RequireHeld = a.Access.RequireHeld, a.Access.RequireHeld
	if a.config.Secrets != nil { // without them no message can be queued
		a.Team.Send, a.Access.Send = a.queueMail, a.queueMail
		a.OAuth.Ended = a.tellOfStolenToken
	}
}

// tellOfStolenToken tells a person whose app was disconnected because its code or token was used twice.
func (a *App) tellOfStolenToken(ctx context.Context, tx *db.Tx, ended oauth.Authorization) error {
	if ended.EndReason != oauth.TokenReplayed && ended.EndReason != oauth.CodeReplayed {
		return nil
	}
	m, err := access.FindMember(ctx, tx, ended.UserID)
	if fault.KindOf(err) == fault.NotFound { // the person has left
		return nil
	}
	if err != nil {
		return err
	}
	o, err := orgstate.FindOrganization(ctx, tx)
	if err != nil {
		return err
	}
	return a.Identity.NotifyAppEnded(ctx, tx, m.Email, ended.Client.Name, o.Name)
}

// handlePeople registers the jobs of people and apps: what they have done is recorded, they get mail, and what has expired is deleted.
func (a *App) handlePeople(workers *job.Workers) {
	job.Handle(workers, a.OAuth.EndOfClient)
	job.Handle(workers, func(ctx context.Context, _ oauth.Sweep) error { return a.OAuth.Sweep(ctx) })
	job.Every(workers, sweepEvery, oauth.Sweep{})
	job.Handle(workers, a.Identity.MailReset)
	job.Handle(workers, a.Identity.Record)
	job.Handle(workers, func(ctx context.Context, _ identity.Sweep) error { return a.Identity.DeleteExpired(ctx) })
	job.Every(workers, sweepEvery, identity.Sweep{})
	job.Handle(workers, func(ctx context.Context, _ access.Reminder) error { return a.Access.Remind(ctx) })
	job.Every(workers, sweepEvery, access.Reminder{})
}
