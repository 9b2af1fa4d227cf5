package app

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/firmrequest"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func TestARequestSaysWhetherTheMailServerHasAcceptedItsMessage(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		what   string
		answer string // of the mail server; empty if there is none
		sent   bool
		keeps  string // the reason in the file
	}{
		{what: "accepted", answer: "250 ok", sent: true},
		{what: "refused for good", answer: "550 no such person", keeps: "no such person"},
		{what: "refused for now", answer: "450 later", keeps: "later"}, // the sender is told at once, and can send it again
		{what: "hangs", answer: "hang", keeps: "timeout"},
		{what: "no server"},
	} {
		t.Run(one.what, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				folder, log := t.TempDir(), &logged{}
				c := Config{Secrets: seal.Temporary(), MailFolder: folder, PublicURL: "https://books.example"}
				accepted := func() []string { return nil }
				if one.answer != "" {
					p, server := post(t, one.answer)
					c.Mail, accepted = server, p.Messages
				}
				a := NewWith(d, slog.New(slog.NewTextHandler(log, nil)), c)
				began := clock.Stamp(d.Clock().Now())
				r, again := askByMail(t, a)
				for _, r := range []firmrequest.Request{r, again} {
					if r.Status != firmrequest.Pending || (r.EmailSentAt != nil) != r.EmailSent || r.EmailSent && r.EmailSentAt.Before(began) {
						t.Errorf("%+v", r)
					}
				}
				if r.EmailSent != one.sent || !again.EmailSent && one.answer != "" {
					t.Errorf("%+v %+v", r, again) // the second message is accepted by every server
				}
				got, kept := accepted(), filesIn(t, folder)
				if one.answer == "" && len(kept) != 2 || one.answer != "" && len(got)+len(kept) != 2 || one.sent && len(kept) != 0 {
					t.Errorf("%d were sent, and %d are kept", len(got), len(kept))
				}
				for _, m := range kept {
					head, body, _ := strings.Cut(m, "\n\n")
					if !strings.Contains(head, one.keeps) || !strings.Contains(body, "https://books.example/requests/bul_") ||
						strings.Contains(head+log.String(), "bul_") {
						t.Errorf("%s\n%s", m, log)
					}
				}
			})
		})
	}
}

// askByMail asks a client for files, and sends the request again.
func askByMail(t *testing.T, a *App) (r, again firmrequest.Request) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "Ledger", Email: "pat@ledger.example", Currency: "USD",
		Timezone: "UTC"})
	must(err)
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	_, err = a.Firms.UpdateSettings(ctx, firm.UpdateSettingsParams{FirmName: new("Ledger")})
	must(err)
	c, err := a.Firms.CreateClient(ctx, firm.CreateClientParams{Name: "Acme", Email: "cfo@acme.example", Existing: true})
	must(err)
	p := firmrequest.CreateParams{ClientID: c.ID}
	sent, err := a.FirmRequests.Prepare(ctx, p)
	must(err)
	r, err = a.FirmRequests.Create(ctx, p, sent)
	must(err)
	sent, err = a.FirmRequests.PrepareResend(ctx, r.ID)
	must(err)
	again, err = a.FirmRequests.Resend(ctx, r.ID, sent)
	must(err)
	return r, again
}

func TestAMessageOfARequestThatWasGivenUpIsKept(t *testing.T) {
	t.Parallel()
	_, server := post(t)
	folder := t.TempDir()
	a := NewWith(dbtest.Open(t, dbtest.SQLite(t)), nil, Config{Mail: server, MailFolder: folder})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sent := a.deliverMail(ctx, mail.Message{To: []string{"cfo@acme.example"}, Subject: "x", Text: "Open https://x/" + linkToken + "\n"})
	kept := filesIn(t, folder)
	if sent || len(kept) != 1 || !strings.Contains(kept[0], "was given up") || !strings.Contains(kept[0], linkToken) {
		t.Errorf("%v %v", sent, kept)
	}
}
