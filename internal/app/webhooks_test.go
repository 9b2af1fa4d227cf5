package app_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/mail/mailtest"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func TestTheOwnersOfAnEndpointThatIsGoneGetMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		inbox := new(mailtest.Server).Listen(t)
		a := app.NewWith(d, nil, app.Config{Secrets: seal.Temporary(), AllowPrivate: true, Mail: inbox.As(t, "", "bursar@example.com")})
		f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "Northwind", Email: "ada@example.com", Currency: "USD",
			Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
		t.Cleanup(gone.Close)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.Work(ctx) }()
		who := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
		e, err := a.Webhooks.Create(who, webhook.CreateParams{URL: gone.URL, Types: []string{"tag.*"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Tags.Create(who, tag.Project, "x"); err != nil {
			t.Fatal(err)
		}
		arrives(t, inbox, "To: ada@example.com", "Northwind: a webhook endpoint was disabled", "410", e.ID)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// formerMail is a message as the version before has queued it.
type formerMail struct {
	To      []string `json:"to"`
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
}

func (formerMail) Kind() string { return "mail" }

func TestAMessageThatTheVersionBeforeHasQueuedIsSent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		inbox := new(mailtest.Server).Listen(t)
		a := app.NewWith(d, nil, app.Config{Secrets: seal.Temporary(), Mail: inbox.As(t, "", "bursar@example.com")})
		jobs, err := job.NewInserter(d)
		if err != nil {
			t.Fatal(err)
		}
		err = d.WriteAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
			return jobs.Insert(ctx, tx, formerMail{To: []string{"ada@example.com"}, Subject: "Queued before", Text: "The text"})
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.Work(ctx) }()
		arrives(t, inbox, "To: ada@example.com", "Queued before", "The text")
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// arrives expects that the next message that arrives contains some texts.
func arrives(t *testing.T, server *mailtest.Server, texts ...string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); len(server.Messages()) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no mail arrived")
		}
	}
	m := strings.ReplaceAll(server.Messages()[0], "=\r\n", "") // lines that were broken
	for _, want := range texts {
		if !strings.Contains(m, want) {
			t.Errorf("%s lacks %q", m, want)
		}
	}
}
