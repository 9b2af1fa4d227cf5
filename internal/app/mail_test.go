package app

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func TestWithoutSecretsAnEndpointIsDisabledWithoutMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := New(d, nil)
		f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "Northwind", Email: "ada@example.com", Currency: "USD",
			Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		s := a.webhookSender(job.NewWorkers())
		err = d.Write(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			return s.Tell(ctx, tx, webhook.Endpoint{ID: "whe_1", Status: webhook.Disabled})
		})
		if err != nil {
			t.Error(err)
		}
	})
}
