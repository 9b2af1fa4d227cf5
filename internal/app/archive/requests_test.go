package archive_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
)

var requestLink = regexp.MustCompile(`https?://\S+/requests/(\S+)`)

// delivered has the service keep the links of the requests that it mails.
func delivered(a *app.App, link *secret.Text) {
	a.FirmRequests.Deliver = func(_ context.Context, m mail.Message) bool {
		*link = secret.New(requestLink.FindStringSubmatch(m.Text)[1])
		return true
	}
}

func TestPendingRequestsOfAFirmAreSentAgainWhereItIsImported(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, from, to *db.DB) {
		here, there := apitest.StartSealed(t, from, seal.Temporary()), apitest.StartSealed(t, to, seal.Temporary())
		f, link := here.Found(t, "firm"), secret.Text{}
		delivered(here.App, &link)
		c := f.NewFirmClient(t)
		cancelled := must[client.FirmRequest](t)(f.Client.CreateFirmRequest(t.Context(), client.CreateFirmRequest{ClientID: c.ID,
			Integrations: []client.AskIntegration{{Provider: "file"}}}))
		must[client.CancelledFirmRequest](t)(f.Client.CancelFirmRequest(t.Context(), cancelled.ID))
		asked := must[client.FirmRequest](t)(f.Client.CreateFirmRequest(t.Context(), client.CreateFirmRequest{ClientID: c.ID,
			Integrations: []client.AskIntegration{{Provider: "plaid"}, {Provider: "file"}}}))
		begin := func(a *app.App) {
			t.Helper()
			r, _, err := a.FirmRequests.Connect(t.Context(), firmrequest.ConnectParams{Visitor: firmrequest.Visitor{Link: link}})
			if err != nil || r.Integrations[0].ConnectionID == "" {
				t.Fatalf("%+v, %v", r.Integrations, err)
			}
		}
		begin(here.App)

		s := imported(t, there.App, exported(t, here.App, f.Organization.ID))
		if got := s.Adapted.Requests; len(got.Pending) != 1 || got.Pending[0].ID != asked.ID || got.Setups != 1 {
			t.Errorf("it has %+v", got)
		}
		imported(t, there.App, exported(t, here.App, *c.OrganizationID))
		former := link
		if _, err := there.App.FirmRequests.Find(t.Context(), former); err == nil {
			t.Error("the link of the other installation works")
		}
		delivered(there.App, &link)
		ctx := f.At(there).Context(t)
		sent := must[*firmrequest.Sent](t)(there.App.FirmRequests.PrepareResend(ctx, asked.ID))
		r := must[firmrequest.Request](t)(there.App.FirmRequests.Resend(ctx, asked.ID, sent))
		if r.Status != firmrequest.Pending || r.Integrations[0].ConnectionID != "" || link.Equal(former) {
			t.Errorf("it is %+v", r)
		}
		begin(there.App)
	})
}
