package app_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// mailbox is an SMTP server that passes on the messages it receives.
func mailbox(t *testing.T) (*mail.Server, <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	messages := make(chan string, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			converse(conn, messages)
		}
	}()
	server, err := mail.Parse("smtp://"+l.Addr().String(), "bursar@example.com")
	if err != nil {
		t.Fatal(err)
	}
	return server, messages
}

func converse(conn net.Conn, messages chan<- string) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	fmt.Fprint(conn, "220 ready\r\n")
	var text strings.Builder
	for data := false; lines.Scan(); {
		line := lines.Text()
		text.WriteString(line + "\n")
		switch {
		case data && line == ".":
			data = false
			messages <- text.String()
			fmt.Fprint(conn, "250 ok\r\n")
		case data:
		case line == "DATA":
			data = true
			fmt.Fprint(conn, "354 go\r\n")
		case line == "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

func TestTheOwnersOfAnEndpointThatIsGoneGetMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		server, messages := mailbox(t)
		a := app.NewWith(d, nil, app.Config{Secrets: seal.Temporary(), AllowPrivate: true, Mail: server})
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
		arrives(t, messages, "RCPT TO:<ada@example.com>", "Northwind: a webhook endpoint was disabled", "410", e.ID)
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
		server, messages := mailbox(t)
		a := app.NewWith(d, nil, app.Config{Secrets: seal.Temporary(), Mail: server})
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
		arrives(t, messages, "RCPT TO:<ada@example.com>", "Queued before", "The text")
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// arrives expects that the next message that arrives contains some texts.
func arrives(t *testing.T, messages <-chan string, texts ...string) {
	t.Helper()
	select {
	case m := <-messages:
		m = strings.ReplaceAll(m, "=\n", "") // lines that were broken
		for _, want := range texts {
			if !strings.Contains(m, want) {
				t.Errorf("%s lacks %q", m, want)
			}
		}
	case <-time.After(30 * time.Second):
		t.Error("no mail arrived")
	}
}
