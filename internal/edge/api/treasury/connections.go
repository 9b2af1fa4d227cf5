package treasury

import (
	"context"
	"slices"

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

// createsConnection holds the description of a connection and, once the provider was asked, what it has answered.
type createsConnection struct {
	Body CreateConnection

	inspected connection.Inspected
}

// updatesConnection holds the changes of a connection and, once the provider was asked, what it has answered.
type updatesConnection struct {
	connectionPath
	connectionVersion
	Body UpdateConnection

	inspected connection.Inspected
}

// reauthorizesConnection holds where the browser goes and, once the provider was asked, the page to open.
type reauthorizesConnection struct {
	connectionPath
	connectionVersion
	Body ReauthorizeConnection

	inspected connection.Inspected
}

func (h handlers) connections() []wire.Route {
	create := wire.Post("/v1/connections", h.createConnection, "Connect an account at another system").Sensitive().
		Describe("What a provider needs is listed at GET /v1/connections/providers. Credentials are checked with the provider, stored " +
			"encrypted and never returned. What the account has is then read in the background: GET the connection until it is active. Without " +
			"source_id, a source for its transactions is created, or that of an earlier connection to the same account is used again; if the " +
			"provider does not tell which account it is, and it may be that of another connection, the answer is 409. If the account is " +
			"connected on a page of the provider, the connection is pending_setup, and redirect_url is the page to open. Connecting a general " +
			"ledger again authorizes its connection again.").Privileged().ByProvider().Creates()
	update := wire.Patch("/v1/connections/{connection_id}", h.updateConnection, "Update a connection").Sensitive().
		Describe("New credentials must be of the same account and mode, otherwise the answer is 409. The provider is asked whether it knows " +
			"them, and the account is then read again. A synchronization under way with the former ones ends.").
		Privileged().ByProvider()
	reauthorize := wire.Post("/v1/connections/{connection_id}/reauthorize", h.reauthorize, "Connect the account of a connection once more").
		Describe("For connections that are set up on a page of the provider: redirect_url is the page to open. Until somebody has finished " +
			"there, the connection goes on with the credentials that it has.").Privileged().ByProvider()
	return wire.Tag{Name: "Connections", Description: "Accounts at other systems: exchanges, banks, cards, payment processors, blockchains " +
		"and general ledgers."}.Routes(
		wire.Get("/v1/connections", h.listConnections, "List connections in the order in which they were created"),
		wire.First(create, h.inspectConnection, h.checkConnection),
		wire.Get("/v1/connections/providers", h.listProviders, "List the systems that accounts can be connected at, and what each needs"),
		wire.Put("/v1/connections/providers/{provider}", h.setUpProvider, "Register the organization at a provider").Sensitive().
			Describe("For the provider that must be set up for the organization before accounts there can be connected: NetSuite. What is "+
				"sent is stored encrypted and never returned, and replaces what was sent before.").WholeOrganization().Privileged(),
		wire.Get("/v1/connections/{connection_id}", h.getConnection, "Get a connection"),
		wire.First(update, h.inspectUpdate, h.checkUpdate),
		wire.Delete("/v1/connections/{connection_id}", h.disconnect, "Disconnect a connection").
			Describe("Erases its credentials, and asks the provider to end the access: revocation_error says why it did not. What was read stays, "+
				"and the connection remains as disconnected, which is final.").Privileged().OwnTransactions(),
		wire.Post("/v1/connections/{connection_id}/sync", h.syncConnection, "Read what has changed at the provider of a connection").
			Describe("Happens in the background. If it is under way already, nothing changes. Connections are read by a schedule anyway.").
			Privileged(),
		wire.First(reauthorize, h.inspectReauthorize, h.checkReauthorize),
		wire.Get("/v1/connections/{connection_id}/runs", h.listConnectionRuns, "List the synchronizations of a connection, latest first").
			Describe("A look by the schedule that finds nothing new is not listed."),
	)
}

func (c CreateConnection) params() connection.CreateParams {
	p := connection.CreateParams{Provider: c.Provider, Name: c.Name, LegalEntityIDs: c.LegalEntityIDs, SourceID: c.SourceID.Value,
		NewSource: c.NewSource,
		Fields:    connection.Credentials{}, Classify: connection.Classify(c.Classify.Value), SyncMinutes: c.SyncMinutes,
		ReturnTo: c.RedirectURL.Value}
	for name, value := range c.ConnectionFields.values() {
		if value.Value != "" {
			p.Fields[name] = secret.New(value.Value)
		}
	}
	return p
}

// inspectConnection asks the provider for the account, before the database transaction that creates the connection.
func (h handlers) inspectConnection(ctx context.Context, in *createsConnection) (_ *wire.Data[Connection], _ func() error, err error) {
	in.inspected, err = h.app.Connections.Inspect(ctx, in.Body.params())
	return nil, nil, err
}

// checkConnection finds the faults of a connection without its provider.
func (h handlers) checkConnection(ctx context.Context, in *createsConnection) error {
	return h.app.Connections.Check(ctx, in.Body.params())
}

func (h handlers) createConnection(ctx context.Context, in *createsConnection) (wire.Data[Connection], error) {
	c, err := h.app.Connections.Create(ctx, in.Body.params(), in.inspected)
	return dataOfConnection(ctx, c), err
}

func (h handlers) listConnections(ctx context.Context, in *struct {
	wire.Paging
	Provider string `query:"provider" minLength:"1" maxLength:"64" doc:"Only connections to this system."`
	Status   string `query:"status" enum:"pending_setup,active,syncing,needs_reauthorization,error,disconnected" doc:"Only connections in this state."`
}) (wire.List[Connection], error) {
	found, err := h.app.Connections.List(ctx, connection.Filter{Provider: in.Provider, Status: connection.Status(in.Status)}, in.Request())
	organizationID := actor.From(ctx).OrganizationID
	return wire.ListOf(found, func(c connection.Connection) Connection { return viewConnection(organizationID, c) }), err
}

func (h handlers) getConnection(ctx context.Context, in *struct{ connectionPath }) (wire.Data[Connection], error) {
	c, err := h.app.Connections.Get(ctx, in.ID)
	return dataOfConnection(ctx, c), err
}

func (u UpdateConnection) params() connection.UpdateParams {
	p := connection.UpdateParams{Name: u.Name, SyncMinutes: u.SyncMinutes}
	if text := u.Classify.OrZero(); text != nil {
		p.Classify = new(connection.Classify(*text))
	}
	for name, value := range u.ConnectionFields.values() {
		if text := value.OrZero(); text != nil {
			if p.Fields == nil {
				p.Fields = connection.Credentials{}
			}
			p.Fields[name] = secret.New(*text)
		}
	}
	return p
}

// inspectUpdate sends new credentials to the provider, before the database transaction that stores them.
func (h handlers) inspectUpdate(ctx context.Context, in *updatesConnection) (_ *wire.Data[Connection], _ func() error, err error) {
	in.inspected, err = h.app.Connections.CheckUpdate(ctx, in.ID, in.Body.params(), in.ETag, true)
	return nil, nil, err
}

// checkUpdate finds the faults of changes without the provider.
func (h handlers) checkUpdate(ctx context.Context, in *updatesConnection) error {
	_, err := h.app.Connections.CheckUpdate(ctx, in.ID, in.Body.params(), in.ETag, false)
	return err
}

func (h handlers) updateConnection(ctx context.Context, in *updatesConnection) (wire.Data[Connection], error) {
	c, err := h.app.Connections.Update(ctx, in.ID, in.Body.params(), in.inspected, in.ETag)
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

// inspectReauthorize asks the provider for the page to open.
func (h handlers) inspectReauthorize(ctx context.Context, in *reauthorizesConnection) (_ *wire.Data[Connection], _ func() error,
	err error) {
	in.inspected, err = h.app.Connections.InspectReauthorize(ctx, in.ID, in.Body.RedirectURL.Value, in.ETag)
	return nil, nil, err
}

// checkReauthorize finds the faults of the request without the provider.
func (h handlers) checkReauthorize(ctx context.Context, in *reauthorizesConnection) error {
	_, err := h.app.Connections.CheckReauthorize(ctx, in.ID, in.Body.RedirectURL.Value, in.ETag)
	return err
}

func (h handlers) reauthorize(ctx context.Context, in *reauthorizesConnection) (wire.Data[Connection], error) {
	c, err := h.app.Connections.Reauthorize(ctx, in.ID, in.Body.RedirectURL.Value, in.ETag, in.inspected)
	return dataOfConnection(ctx, c), err
}

func (h handlers) listConnectionRuns(ctx context.Context, in *struct {
	connectionPath
	wire.Paging
}) (wire.List[ConnectionRun], error) {
	found, err := h.app.Connections.Runs(ctx, in.ID, in.Request())
	return wire.ListOf(found, viewConnectionRun), err
}

func viewConnectionRun(r connection.Run) ConnectionRun {
	return ConnectionRun{ID: r.ID, ConnectionID: r.ConnectionID, Cause: string(r.Cause), Status: string(r.Status), Read: r.Counts.Read,
		Created: r.Counts.Created, Duplicates: r.Counts.Duplicates, Omitted: r.Counts.Omitted, Removed: r.Counts.Removed,
		ErrorMessage: db.OrNull(r.Error), StartedAt: wire.Timestamp(r.StartedAt), FinishedAt: wire.TimestampOrNull(r.FinishedAt)}
}

func (h handlers) listProviders(ctx context.Context, _ *struct{}) (wire.List[Provider], error) {
	out := wire.List[Provider]{Data: []Provider{}}
	done, err := h.app.Connections.SetUpProviders(ctx)
	for _, p := range h.app.Connections.Available() {
		out.Data = append(out.Data, viewProvider(p, slices.Contains(done, p.Name)))
	}
	return out, err
}

// setUpProvider stores what the organization has registered at a provider.
func (h handlers) setUpProvider(ctx context.Context, in *struct {
	Provider string `path:"provider" minLength:"1" maxLength:"64" doc:"Name of the provider."`
	Body     SetUpProvider
}) (wire.Data[Provider], error) {
	fields := connection.Credentials{}
	for name, value := range in.Body.values() {
		if value.Value != "" {
			fields[name] = secret.New(value.Value)
		}
	}
	p, err := h.app.Connections.SetUp(ctx, in.Provider, fields)
	return wire.DataOf(viewProvider(p, true)), err
}

func viewProvider(p connection.Provider, setUp bool) Provider {
	v := Provider{Name: p.Name, Title: p.Title, Kind: string(p.Kind), Advice: p.Advice, Fields: []ProviderField{}, Hosted: p.Begin != nil,
		Capabilities: p.Capabilities, RequiredCurrency: db.OrNull(p.Currency), Available: p.Unavailable == "",
		Unavailable: db.OrNull(p.Unavailable), SetUp: true}
	for _, f := range p.Fields {
		choices := f.Choices
		if choices == nil {
			choices = []string{}
		}
		if f.Setup {
			v.SetUp = setUp
		}
		v.Fields = append(v.Fields, ProviderField{Setup: f.Setup, Name: f.Name, Title: f.Title, Help: db.OrNull(f.Help), Secret: f.Secret,
			Required: !f.Optional, Shown: f.Open, MaxLength: f.Max, Choices: choices})
	}
	return v
}

func dataOfConnection(ctx context.Context, c connection.Connection) wire.Data[Connection] {
	return wire.DataOf(viewConnection(actor.From(ctx).OrganizationID, c))
}

func viewConnection(organizationID string, c connection.Connection) Connection {
	g := c.Guide()
	v := Connection{
		ID:                c.ID,
		OrganizationID:    organizationID,
		Provider:          c.Provider,
		AuthMethod:        c.AuthMethod,
		Name:              c.Name,
		Status:            string(c.Shown()),
		ExternalAccountID: db.OrNull(c.ExternalAccountID),
		LegalEntityIDs:    []string{},
		SourceIDs:         []string{},
		Settings:          c.Settings,
		Capabilities:      c.Capabilities(),
		TakesWebhooks:     c.TakesWebhooks,
		Classify:          db.OrNull(string(c.Classify)),
		SyncMinutes:       c.SyncMinutes,
		ErrorMessage:      db.OrNull(c.ErrorMessage),
		LastSyncedAt:      wire.TimestampOrNull(c.Progress.FinishedAt),
		NextSyncAt:        wire.TimestampOrNull(c.Progress.DueAt),
		RevocationError:   db.OrNull(c.RevocationError),
		RetainedResources: c.Retained(),
		ETag:              c.ETag(),
		Guidance:          wire.Guidance{AllowedActions: g.Allowed, Warnings: g.Warnings, Version: g.Version},
		CreatedAt:         wire.Timestamp(c.CreatedAt),
		UpdatedAt:         wire.TimestampOrNull(c.UpdatedAt),
	}
	if c.LegalEntityID != "" {
		v.LegalEntityIDs = []string{c.LegalEntityID}
	}
	v.SourceIDs = append(v.SourceIDs, c.Sources...)
	if a := c.Attempt; a != nil {
		v.AuthorizationAttempt.Value = &AuthorizationAttempt{ID: a.ID, Status: string(a.Status), SetupURL: db.OrNull(a.SetupURL),
			ExpiresAt: wire.Timestamp(a.ExpiresAt), Error: db.OrNull(a.Error)}
		if a.Status == connection.AttemptPending {
			v.RedirectURL = db.OrNull(a.SetupURL)
		}
	}
	return v
}
