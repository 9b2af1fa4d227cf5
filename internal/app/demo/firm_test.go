package demo_test

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/automation/template"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func TestTheDemoFirmWorksForThreeClientsWhichCanTakeOverItsTemplates(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := app.New(d, nil)
		company, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "Demo Company", Email: "demo@example.com", Currency: "USD",
			Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		f, err := demo.AddFirm(t.Context(), a, company, func(string, ...any) {})
		if err != nil {
			t.Fatal(err)
		}
		as := func(c organization.Created) context.Context {
			return actor.With(t.Context(), actor.Actor{OrganizationID: c.Organization.ID, UserID: c.Owner.UserID, Role: actor.Owner,
				Scopes: actor.Scopes})
		}
		clients, err := a.Firms.Clients(as(f), firm.ClientFilter{Status: firm.Active}, page.Request{Limit: 10})
		if err != nil || len(clients.Items) != 3 || clients.Items[0].OrganizationID != company.Organization.ID {
			t.Errorf("%+v %v", clients.Items, err)
		}
		offers, err := a.Templates.Offers(as(company), page.Request{Limit: 10})
		if err != nil || len(offers.Items) != 2 {
			t.Fatalf("%+v %v", offers.Items, err)
		}
		for _, one := range offers.Items {
			o, err := a.Templates.FindOffer(as(company), one.ID)
			if err != nil {
				t.Fatal(err)
			}
			if done, err := a.Templates.Apply(as(company), o, template.ApplyParams{}); err != nil || done.Count(template.Created) == 0 {
				t.Errorf("%s: %+v %v", one.Name, done, err)
			}
		}
	})
}
