package demo

import (
	"context"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo/exchange"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Connection is the name of the connection to the exchange of the demo.
const Connection = "Demo exchange"

// ConnectionMinutes is how often it is looked at, the shortest that is possible.
const ConnectionMinutes = 5

// Connect connects the account at the exchange of the demo, which must be running. It is read once the service runs.
func Connect(ctx context.Context, a *app.App, f organization.Created) error {
	ctx = actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	p := connection.CreateParams{Provider: exchange.Provider, Name: Connection, LegalEntityIDs: []string{f.LegalEntity.ID},
		SyncMinutes: new(ConnectionMinutes), Fields: connection.Credentials{"api_key": secret.New(exchange.Key),
			"api_secret": secret.New(exchange.Secret)}}
	in, err := a.Connections.Inspect(ctx, p)
	if err == nil {
		_, err = a.Connections.Create(ctx, p, in)
	}
	return err
}
