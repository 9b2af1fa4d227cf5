package apitest

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// AsOwner returns a context in which the owner acts.
func (n *Tenant) AsOwner(ctx context.Context) context.Context {
	return actor.With(ctx, actor.Actor{OrganizationID: n.Organization.ID, UserID: n.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes})
}

// BecomeFirm makes the organization an accounting firm, unless it is one.
func (n *Tenant) BecomeFirm(t *testing.T) {
	t.Helper()
	name := "Books of " + n.Organization.Name
	if _, err := n.service.App.Firms.UpdateSettings(n.AsOwner(t.Context()), firm.UpdateSettingsParams{FirmName: &name}); err != nil {
		t.Fatal(err)
	}
}

// Grant lets a firm work for the organization. The owner of the firm is the partner. It returns the firm's record of the client.
func (n *Tenant) Grant(t *testing.T, to *Tenant) firm.Client {
	t.Helper()
	firms := n.service.App.Firms
	c, err := firms.CreateClient(to.AsOwner(t.Context()), firm.CreateClientParams{Name: n.Organization.Name, Email: "owner@client.example",
		Existing: true})
	if err == nil {
		_, err = firms.Accept(n.AsOwner(t.Context()), firm.AcceptParams{FirmOrganizationID: to.Organization.ID, ClientID: c.ID})
	}
	if err == nil {
		c, err = firms.GetClient(to.AsOwner(t.Context()), c.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// EndFirm ends the access of the firm that works for the organization.
func (n *Tenant) EndFirm(t *testing.T, clientID string) {
	t.Helper()
	if err := n.service.App.Firms.EndAccess(n.AsOwner(t.Context()), clientID); err != nil {
		t.Fatal(err)
	}
}

// NewTemplate creates a chart of the firm that the organization is.
func (n *Tenant) NewTemplate(t *testing.T) client.FirmTemplate {
	t.Helper()
	n.BecomeFirm(t)
	made, err := n.Client.CreateFirmTemplate(t.Context(), client.CreateFirmTemplate{Name: "Chart " + client.NewIdempotencyKey(), Kind: "chart",
		Accounts: []client.FirmTemplateAccount{{Code: client.NewIdempotencyKey()[:8], Name: "Node providers", Type: "Expense"}}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
