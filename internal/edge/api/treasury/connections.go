package treasury

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// connectionPath is the parameter of operations on one connection.
type connectionPath struct {
	ID string `path:"connection_id" minLength:"1" maxLength:"64" doc:"Identifier of the connection."`
}

// connectionVersion is the version of a connection that a caller has seen.
type connectionVersion struct {
	ETag string `header:"If-Match" maxLength:"64" doc:"The etag of the connection as you know it. If it has changed since, the answer is 409."`
}

// createsConnection holds the description of a connection and, once the provider was asked, its account.
type createsConnection struct {
	Body CreateConnection

	account connection.Account
}

// updatesConnection holds the changes of a connection and, once the provider was asked, its account.
type updatesConnection struct {
	connectionPath
	connectionVersion
	Body UpdateConnection

	account connection.Account
}

func (h handlers) connections() []wire.Route {
	create := wire.Post("/v1/connections", h.createConnection, "Connect an account at another system").Sensitive().
		Describe("The provider is asked whether it knows the credentials, which are stored encrypted and never returned. What the account " +
			"has is then read in the background: GET the connection until it is active. Without source_id, a source for its transactions is " +
			"created, or that of an earlier connection to the same account is used again.").Privileged().ByProvider().Creates()
	update := wire.Patch("/v1/connections/{connection_id}", h.updateConnection, "Update a connection").Sensitive().
		Describe("A new api_key must be of the same account and mode, otherwise the answer is 409. The provider is asked whether it knows the " +
			"key, and the account is then read again. A synchronization under way with the former key ends.").
		Privileged().ByProvider()
	return wire.Tag{Name: "Connections", Description: "Accounts at other systems, from which transactions and invoices are read."}.Routes(
		wire.Get("/v1/connections", h.listConnections, "List connections in the order in which they were created"),
		wire.First(create, h.inspectConnection, h.checkConnection),
		wire.Get("/v1/connections/{connection_id}", h.getConnection, "Get a connection"),
		wire.First(update, h.inspectUpdate, h.checkUpdate),
		wire.Delete("/v1/connections/{connection_id}", h.disconnect, "Disconnect a connection").
			Describe("Erases its credentials. What was read stays, and the connection remains as disconnected, which is final.").Privileged(),
		wire.Post("/v1/connections/{connection_id}/sync", h.syncConnection, "Read what has changed at the provider of a connection").
			Describe("Happens in the background. If it is under way already, nothing changes. Connections are read every 15 minutes anyway.").
			Privileged(),
	)
}

func (c CreateConnection) params() connection.CreateParams {
	return connection.CreateParams{Provider: c.Provider, Name: c.Name, LegalEntityIDs: c.LegalEntityIDs, SourceID: c.SourceID.Value,
		Credentials: connection.Credentials{APIKey: secret.New(c.APIKey), WebhookSecret: secret.New(c.WebhookSecret.Value)}}
}

// inspectConnection asks the provider for the account, before the database transaction that creates the connection.
func (h handlers) inspectConnection(ctx context.Context, in *createsConnection) (_ *wire.Data[Connection], _ func() error, err error) {
	in.account, err = h.app.Connections.Inspect(ctx, in.Body.params())
	return nil, nil, err
}

// checkConnection finds the faults of a connection without its provider.
func (h handlers) checkConnection(ctx context.Context, in *createsConnection) error {
	return h.app.Connections.Check(ctx, in.Body.params())
}

func (h handlers) createConnection(ctx context.Context, in *createsConnection) (wire.Data[Connection], error) {
	c, err := h.app.Connections.Create(ctx, in.Body.params(), in.account)
	return dataOfConnection(ctx, c), err
}

func (h handlers) listConnections(ctx context.Context, in *struct{ wire.Paging }) (wire.List[Connection], error) {
	found, err := h.app.Connections.List(ctx, in.Request())
	organizationID := actor.From(ctx).OrganizationID
	return wire.ListOf(found, func(c connection.Connection) Connection { return viewConnection(organizationID, c) }), err
}

func (h handlers) getConnection(ctx context.Context, in *struct{ connectionPath }) (wire.Data[Connection], error) {
	c, err := h.app.Connections.Get(ctx, in.ID)
	return dataOfConnection(ctx, c), err
}

func (u UpdateConnection) params() connection.UpdateParams {
	p := connection.UpdateParams{Name: u.Name}
	if u.APIKey != nil {
		p.APIKey = new(secret.New(*u.APIKey))
	}
	if text := u.WebhookSecret.OrZero(); text != nil {
		p.WebhookSecret = new(secret.New(*text))
	}
	return p
}

// inspectUpdate sends a new API key to the provider, before the database transaction that stores it.
func (h handlers) inspectUpdate(ctx context.Context, in *updatesConnection) (_ *wire.Data[Connection], _ func() error, err error) {
	in.account, err = h.app.Connections.CheckUpdate(ctx, in.ID, in.Body.params(), in.ETag, true)
	return nil, nil, err
}

// checkUpdate finds the faults of changes without the provider.
func (h handlers) checkUpdate(ctx context.Context, in *updatesConnection) error {
	_, err := h.app.Connections.CheckUpdate(ctx, in.ID, in.Body.params(), in.ETag, false)
	return err
}

func (h handlers) updateConnection(ctx context.Context, in *updatesConnection) (wire.Data[Connection], error) {
	c, err := h.app.Connections.Update(ctx, in.ID, in.Body.params(), in.account, in.ETag)
	return dataOfConnection(ctx, c), err
}

func (h handlers) disconnect(ctx context.Context, in *struct {
	connectionPath
	connectionVersion
}) (wire.Data[Connection], error) {
	c, err := h.app.Connections.Disconnect(ctx, in.ID, in.ETag)
	return dataOfConnection(ctx, c), err
}

func (h handlers) syncConnection(ctx context.Context, in *struct{ connectionPath }) (wire.Data[Connection], error) {
	c, err := h.app.Connections.RequestSync(ctx, in.ID)
	return dataOfConnection(ctx, c), err
}

func dataOfConnection(ctx context.Context, c connection.Connection) wire.Data[Connection] {
	return wire.DataOf(viewConnection(actor.From(ctx).OrganizationID, c))
}

func viewConnection(organizationID string, c connection.Connection) Connection {
	g := c.Guide()
	return Connection{
		ID:                c.ID,
		OrganizationID:    organizationID,
		Provider:          c.Provider,
		AuthMethod:        c.AuthMethod,
		Name:              c.Name,
		Status:            string(c.Shown()),
		ExternalAccountID: db.OrNull(c.ExternalAccountID),
		LegalEntityIDs:    []string{c.LegalEntityID},
		SourceIDs:         []string{c.SourceID},
		Capabilities:      c.Capabilities(),
		TakesWebhooks:     c.TakesWebhooks,
		ErrorMessage:      db.OrNull(c.ErrorMessage),
		LastSyncedAt:      wire.TimestampOrNull(c.Progress.FinishedAt),
		RetainedResources: c.Retained(),
		ETag:              c.ETag(),
		Guidance:          wire.Guidance{AllowedActions: g.Allowed, Warnings: g.Warnings, Version: g.Version},
		CreatedAt:         wire.Timestamp(c.CreatedAt),
		UpdatedAt:         wire.TimestampOrNull(c.UpdatedAt),
	}
}
