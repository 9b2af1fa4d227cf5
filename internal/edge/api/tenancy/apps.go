package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func (h handlers) listOAuthClients(ctx context.Context, in *struct{ wire.Paging }) (wire.List[OAuthClient], error) {
	found, err := h.app.OAuth.Clients(ctx, in.Request())
	return wire.ListOf(found, viewOAuthClient), err
}

type oauthClientPath struct {
	ID string `path:"oauth_client_id" minLength:"1" maxLength:"64" doc:"Identifier of the app."`
}

func (h handlers) getOAuthClient(ctx context.Context, in *struct{ oauthClientPath }) (wire.Data[OAuthClient], error) {
	c, err := h.app.OAuth.Client(ctx, in.ID)
	return wire.DataOf(viewOAuthClient(c)), err
}

func (h handlers) createOAuthClient(ctx context.Context, in *struct{ Body CreateOAuthClient }) (wire.Data[OAuthClient], error) {
	b := in.Body
	c, err := h.app.OAuth.RegisterForOrganization(ctx, oauth.RegisterParams{Name: b.Name, RedirectURIs: b.RedirectURIs,
		HomepageURL: b.HomepageURL})
	return wire.DataOf(viewOAuthClient(c)), err
}

func (h handlers) revokeOAuthClient(ctx context.Context, in *struct{ oauthClientPath }) (wire.Data[wire.Deleted], error) {
	err := h.app.OAuth.RevokeClient(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func viewOAuthClient(c oauth.Client) OAuthClient {
	return OAuthClient{
		ID:           c.ID,
		Name:         c.Name,
		RedirectURIs: append([]string{}, c.RedirectURIs...),
		HomepageURL:  db.OrNull(c.HomepageURL),
		CreatedBy:    db.OrNull(c.CreatedBy),
		CreatedAt:    wire.Timestamp(c.CreatedAt),
		RevokedAt:    wire.TimestampOrNull(c.RevokedAt),
	}
}

func (h handlers) listConnectedApps(ctx context.Context, in *struct{ wire.Paging }) (wire.List[ConnectedApp], error) {
	found, err := h.app.OAuth.Authorizations(ctx, in.Request())
	return wire.ListOf(found, viewConnectedApp), err
}

type connectedAppPath struct {
	ID string `path:"connected_app_id" minLength:"1" maxLength:"64" doc:"Identifier of the connected app."`
}

// findConnectedApp returns an error for an app that the caller may not know of. It is the part of disconnectApp that has no effect.
func (h handlers) findConnectedApp(ctx context.Context, in *struct{ connectedAppPath }) error {
	_, err := h.app.OAuth.Authorization(ctx, in.ID)
	return err
}

func (h handlers) disconnectApp(ctx context.Context, in *struct{ connectedAppPath }) (wire.Data[wire.Deleted], error) {
	err := h.app.OAuth.Disconnect(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func viewConnectedApp(a oauth.Authorization) ConnectedApp {
	out := ConnectedApp{
		ID:            a.ID,
		OAuthClientID: a.ClientID,
		Name:          a.Client.Name,
		HomepageURL:   db.OrNull(a.Client.HomepageURL),
		RegisteredBy:  string(a.Client.RegisteredBy),
		UserID:        a.UserID,
		UserEmail:     db.OrNull(a.UserEmail),
		UserName:      db.OrNull(a.UserName),
		Scopes:        actor.ScopeNames(a.Scopes),
		CreatedAt:     wire.Timestamp(a.CreatedAt),
		EndedAt:       wire.TimestampOrNull(a.EndedAt),
		EndReason:     db.OrNull(string(a.EndReason)),
	}
	if a.LastUse != nil {
		out.LastUsedAt, out.LastUsedFrom = wire.TimestampOrNull(&a.LastUse.At), db.OrNull(a.LastUse.From)
	}
	return out
}
