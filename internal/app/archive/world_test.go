package archive_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/archive"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/books/interchange"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/notation"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// each runs a test for each pair of engines: one to export from, and one to import into.
func each(t *testing.T, test func(t *testing.T, from, to *db.DB)) {
	t.Helper()
	engines := map[db.Engine]func(testing.TB) db.Config{db.SQLite: dbtest.SQLite, db.Postgres: dbtest.Postgres}
	for from, source := range engines {
		for to, target := range engines {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				t.Parallel()
				test(t, dbtest.Open(t, source(t)), dbtest.Open(t, target(t)))
			})
		}
	}
}

// exported returns the archive of an organization.
func exported(t *testing.T, a *app.App, organizationID string) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := archive.Write(t.Context(), a, organizationID, "test", &out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// imports imports an archive.
func imports(ctx context.Context, a *app.App, content []byte, p archive.ImportParams) (archive.Summary, error) {
	from, err := archive.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return archive.Summary{}, err
	}
	return archive.Import(ctx, a, from, p)
}

func imported(t *testing.T, a *app.App, content []byte) archive.Summary {
	t.Helper()
	s, err := imports(t.Context(), a, content, archive.ImportParams{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// as returns a context that acts for an organization.
func as(t *testing.T, organizationID string) context.Context {
	return actor.With(t.Context(), actor.Actor{OrganizationID: organizationID})
}

// journalOf returns the journal of an organization as text.
func journalOf(t *testing.T, a *app.App, organizationID string) string {
	t.Helper()
	var out bytes.Buffer
	w := notation.NewWriter(notation.Hledger, &out)
	if err := a.Exchange.Export(as(t, organizationID), interchange.ExportParams{}, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// world is a service with an organization that has something of all that an import changes, and books.
type world struct {
	*apitest.Service
	tenant *apitest.Tenant
	org    string
	kraken client.Connection
	hook   client.NewWebhookSecret
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newWorld fills an organization.
func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	w := &world{Service: apitest.StartSealed(t, d, seal.Temporary())}
	w.tenant = w.Found(t, "acme")
	w.org = w.tenant.Organization.ID
	n, ctx := w.tenant, t.Context()
	l := n.OpenLedger(t)
	l.Post(t, "2026-01-10", "Dr 1010 100; Cr 4010 100")
	w.kraken = n.ConnectKraken(t, client.CreateConnection{})
	w.hook = must[client.NewWebhookSecret](t)(n.Client.CreateWebhookEndpoint(ctx,
		client.CreateWebhookEndpoint{URL: "https://hooks.example.com/bursar"}))
	must[client.NewWebhookSecret](t)(n.Client.RotateWebhookSecret(ctx, w.hook.ID, client.RotateWebhookSecret{}))
	if _, err := n.Client.SetUpProvider(ctx, "netsuite", client.SetUpProvider{ClientID: "client", ClientSecret: "netsuite-1"}); err != nil {
		t.Fatal(err)
	}
	n.BeginBank(t)
	n.ConnectApp(t, actor.ScopeRead)
	must[client.OAuthClient](t)(n.Client.CreateOAuthClient(ctx, client.CreateOAuthClient{Name: "Books",
		RedirectURIs: []string{"https://books.example.com/back"}}))
	n.NewInvoice(t, client.CreateInvoice{})
	n.NewCreditNote(t, true)
	n.NewCashApplication(t)
	n.NewRule(t)
	must[client.Invitation](t)(n.Client.CreateInvitation(ctx, client.CreateInvitation{Email: "lin@example.com", Role: "accountant"}))
	n.NewTag(t)
	n.NewTransfer(t)
	n.NewImport(t)
	n.NewAsset(t, client.CreateAsset{})
	return w
}

// becomeClient makes the organization the client of a firm, and returns the firm and its record of the client.
func (w *world) becomeClient(t *testing.T) (*apitest.Tenant, firm.Client) {
	t.Helper()
	f := w.Found(t, "firm")
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	must[firm.Settings](t)(w.App.Firms.UpdateSettings(ctx, firm.UpdateSettingsParams{FirmName: new("Ledger & Co")}))
	c := must[firm.Client](t)(w.App.Firms.CreateClient(ctx, firm.CreateClientParams{Name: "acme", Email: "acme@example.com",
		Existing: true}))
	must[firm.Access](t)(w.App.Firms.Accept(actor.With(t.Context(), actor.Actor{OrganizationID: w.org, UserID: w.tenant.Owner.UserID,
		Role: actor.Owner}), firm.AcceptParams{FirmOrganizationID: f.Organization.ID, ClientID: c.ID}))
	return f, c
}
