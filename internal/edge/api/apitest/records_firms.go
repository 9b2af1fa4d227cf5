package apitest

import (
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// BecomeFirm makes the organization an accounting firm.
func (n *Tenant) BecomeFirm(t *testing.T) client.FirmSettings {
	t.Helper()
	f, err := n.Client.UpdateFirmSettings(t.Context(), client.UpdateFirmSettings{FirmName: new("Ledger & Partners")})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// NewFirmClient makes the organization an accounting firm, and adds a client with new books, whose partner is the owner.
func (n *Tenant) NewFirmClient(t *testing.T) client.FirmClient {
	t.Helper()
	n.BecomeFirm(t)
	c, err := n.Client.CreateFirmClient(t.Context(), client.CreateFirmClient{Name: "Client", Email: "cfo@client.example", BaseCurrency: "USD",
		Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Hire makes the organization an accounting firm's client, and returns the firm's record of it. The owner of the firm is its partner.
func (n *Tenant) Hire(t *testing.T, by *Tenant) client.FirmClient {
	t.Helper()
	by.BecomeFirm(t)
	c, err := by.Client.CreateFirmClient(t.Context(), client.CreateFirmClient{Name: "Client", Email: "cfo@client.example", Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID, UserID: n.Owner.UserID, Role: actor.Owner})
	_, err = n.service.App.Firms.Accept(ctx, firm.AcceptParams{FirmOrganizationID: by.Organization.ID, ClientID: c.ID})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
