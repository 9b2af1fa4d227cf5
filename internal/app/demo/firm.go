package demo

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/automation/template"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// FirmName is the name of the demo firm.
const FirmName = "Ledger & Partners"

// AddFirm creates an accounting firm that works for an organization, and for two more clients with new books, and that offers templates.
func AddFirm(ctx context.Context, a *app.App, client organization.Created, progress func(format string, args ...any)) (organization.Created,
	error) {
	progress("Creating an accounting firm with three clients ...")
	f, err := a.Org.Create(ctx, organization.CreateParams{Name: FirmName, Email: "partner@example.com", Currency: "USD",
		Timezone: "America/New_York"})
	if err != nil {
		return f, err
	}
	at := asOwner(ctx, f)
	if _, err := a.Firms.UpdateSettings(at, firm.UpdateSettingsParams{FirmName: new(FirmName),
		WebAddress: new("https://ledger.example")}); err != nil {
		return f, err
	}
	asked, err := a.Firms.CreateClient(at, firm.CreateClientParams{Name: client.Organization.Name, Email: client.Owner.Email, Existing: true})
	if err == nil {
		_, err = a.Firms.Accept(asOwner(ctx, client), firm.AcceptParams{FirmOrganizationID: f.Organization.ID, ClientID: asked.ID})
	}
	if err != nil {
		return f, fmt.Errorf("demo firm: %w", err)
	}
	for _, name := range []string{"Northwind Labs", "Southwind Capital"} {
		if _, err := a.Firms.CreateClient(at, firm.CreateClientParams{Name: name, Email: "finance@example.org", BaseCurrency: "USD",
			Timezone: "America/New_York"}); err != nil {
			return f, fmt.Errorf("demo firm: %w", err)
		}
	}
	for _, p := range firmTemplates {
		if _, err := a.Templates.Create(at, p); err != nil {
			return f, fmt.Errorf("demo firm: %w", err)
		}
	}
	return f, nil
}

// asOwner returns a context in which the owner of an organization acts.
func asOwner(ctx context.Context, f organization.Created) context.Context {
	return actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes})
}

// firmTemplates are what the firm offers to its clients.
var firmTemplates = []template.CreateParams{
	{Name: "Chart for validators", Description: "Accounts of companies that run nodes", Kind: template.Chart, Content: template.Content{
		Accounts: []template.Account{
			{Code: "5025", Name: "Node providers", Type: account.Expense, ParentCode: "5000"},
			{Code: "5027", Name: "Slashing losses", Type: account.Expense, ParentCode: "5000"},
		},
		Tags: []template.Tag{{Kind: tag.Department, Name: "Validators"}},
	}},
	{Name: "Rules for node providers", Description: "Needs the chart for validators", Kind: template.Rules, Content: template.Content{
		Rules: []template.Rule{
			{Type: memory.Classification, MemoContains: new("nodes as a service"), Direction: new("WITHDRAWAL"), LedgerAccountCode: new("5025"),
				Tag: &template.Tag{Kind: tag.Department, Name: "Validators"}},
			{Type: memory.Classification, ProviderCategory: new("slashing"), LedgerAccountCode: new("5027")},
		},
	}},
}
