package app

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/mail/mailtest"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// post returns an SMTP server that answers in turn what a list says to messages, and accepts the ones after it.
func post(t *testing.T, answers ...string) (*mailtest.Server, *mail.Server) {
	t.Helper()
	s := &mailtest.Server{Command: "RCPT", Answers: answers}
	m := s.Listen(t).As(t, "", "Bursar <bursar@example.com>")
	m.Timeout = time.Second
	return s, m
}

// logged collects what is logged.
type logged struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// filesIn returns what is in the files of a folder.
func filesIn(t *testing.T, folder string) (out []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(content))
	}
	return out
}

const linkToken = "bul_0123456789abcdef"

func TestAMessageThatCannotBeSentIsKeptAsAFileWithTheReason(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, one := range []struct {
		what    string
		answer  string
		attempt int
		later   time.Duration // than the message was written
		keeps   string        // the reason in the file; empty means that the message is sent again
	}{
		{"refused for good", "550 http://x/" + linkToken + " is spam", 1, 0, "http://x/(link) is spam"},
		{"refused for now", "450 later", 1, 0, ""},
		{"refused for now too often", "450 later", mailAttemptsMax, 0, "after 12 attempts"},
		{"hangs", "hang", 3, 0, ""},
		{"hangs too often", "hang", mailAttemptsMax, 0, "timeout"},
		{"closes", "close", mailAttemptsMax - 1, 0, ""},
		{"closes too often", "close", mailAttemptsMax, 0, "EOF"},
		{"too late", "250 ok", 2, time.Hour, "the link in it expired"},
		{"just in time", "450 later", 2, time.Hour - time.Second, ""},
	} {
		t.Run(one.what, func(t *testing.T) {
			t.Parallel()
			folder, log := t.TempDir(), &logged{}
			p, server := post(t, one.answer)
			now := clock.NewManual(began.Add(one.later))
			c := dbtest.SQLite(t)
			c.Clock = now
			a := NewWith(dbtest.Open(t, c), slog.New(slog.NewTextHandler(log, nil)), Config{Mail: server, MailFolder: folder})
			m := mail.Message{To: []string{"lin@example.com"}, Subject: "Set a new password", Text: "Open https://x/" + linkToken + "\n",
				ID: "eml_1", WrittenAt: began, ExpiresAt: began.Add(time.Hour)}
			err := a.sendMail(t.Context(), m, one.attempt)
			files := filesIn(t, folder)
			if one.keeps == "" {
				if err == nil || len(files) != 0 || strings.Contains(err.Error(), linkToken) {
					t.Errorf("%v %v", err, files)
				}
				return
			}
			if err != nil || len(files) != 1 || len(p.Messages()) != 0 {
				t.Fatalf("%v %v %v", err, files, p.Messages())
			}
			head, body, _ := strings.Cut(files[0], "\n\n")
			for _, want := range []string{"X-Not-Sent: ", "From: \"Bursar\" <bursar@example.com>", "Message-ID: <eml_1@example.com>", one.keeps,
				"To: lin@example.com"} {
				if !strings.Contains(head, want) {
					t.Errorf("%s lacks %s", head, want)
				}
			}
			said := log.String()
			if body != m.Text || strings.Count(said, "\n") != 1 || strings.Contains(said+head, linkToken) ||
				!strings.Contains(said, "to=lin@example.com") {
				t.Errorf("%q was kept, and the log says: %s", body, said)
			}
		})
	}
}

func TestAMessageIsKeptAtOnceIfTheServerDoesNotLetTheServiceIn(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		server *mailtest.Server
		keeps  string // the reason in the file; empty means that the message is sent again
	}{
		{&mailtest.Server{User: "ada", Password: "pass"}, "5.7.8 wrong name or password"},
		{&mailtest.Server{Mechanisms: []string{"XOAUTH2"}}, "it announces only XOAUTH2"},
		{&mailtest.Server{Command: "AUTH", Answers: []string{"454 4.7.0 later"}}, ""},
	} {
		folder, log := t.TempDir(), &logged{}
		server := one.server.Listen(t).As(t, "ada:typo@", "Bursar <bursar@example.com>")
		a := NewWith(dbtest.Open(t, dbtest.SQLite(t)), slog.New(slog.NewTextHandler(log, nil)), Config{Mail: server, MailFolder: folder})
		m := mail.Message{To: []string{"lin@example.com"}, Subject: "Set a new password", Text: "Open https://x/" + linkToken + "\n", ID: "eml_1"}
		err := a.sendMail(t.Context(), m, 1)
		files, said := filesIn(t, folder), log.String()
		if one.keeps == "" {
			if err == nil || len(files) != 0 || said != "" {
				t.Errorf("%v %v %s", err, files, said)
			}
			continue
		}
		if err != nil || len(files) != 1 || !strings.HasPrefix(files[0], "X-Not-Sent: ") ||
			!strings.Contains(files[0], one.keeps) {
			t.Errorf("%v %q", err, files)
		}
		if !strings.Contains(said, "to=lin@example.com") || !strings.Contains(said, one.keeps) ||
			strings.Contains(said, linkToken) || strings.Contains(said, "typo") {
			t.Error(said)
		}
	}
}

func TestAMessageThatIsRefusedForNowIsSentAgainWithTheSameID(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		folder := t.TempDir()
		p, server := post(t, "450 later")
		a := NewWith(d, nil, Config{Secrets: seal.Temporary(), Mail: server, MailFolder: folder})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.Work(ctx) }()
		if err := d.WriteAcross(ctx, "a test sends mail", func(ctx context.Context, tx *db.Tx) error {
			return a.queueMail(ctx, tx, mail.Message{To: []string{"lin@example.com"}, Subject: "Hello", Text: "x\n"})
		}); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); len(p.Messages()) == 0 && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := p.Messages(); len(got) != 1 || !strings.Contains(got[0], "Message-ID: <eml_") || len(filesIn(t, folder)) != 0 {
			t.Errorf("%q %v", got, filesIn(t, folder))
		}
	})
}

func TestAPersonIsToldOfAnAppWhoseTokenWasUsedTwice(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p, server := post(t)
		a := NewWith(d, nil, Config{Secrets: seal.Temporary(), Mail: server, PublicURL: "https://books.acme.example"})
		f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "Northwind", Email: "ada@example.com", Currency: "USD",
			Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		for _, why := range []oauth.EndReason{oauth.Revoked, oauth.Disconnected, oauth.Replaced, oauth.Expired, oauth.TokenReplayed} {
			if err := d.Write(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				return a.OAuth.Ended(ctx, tx, oauth.Authorization{UserID: f.Owner.UserID, EndReason: why,
					Client: oauth.Client{Name: "App " + string(why)}})
			}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.Work(ctx) }()
		for deadline := time.Now().Add(30 * time.Second); len(p.Messages()) == 0 && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		got := p.Messages()
		if len(got) != 1 {
			t.Fatalf("%d messages: %v", len(got), got)
		}
		for _, want := range []string{"To: ada@example.com", "Subject: An app was disconnected", "App token_replayed", "Northwind",
			"https://books.acme.example/account"} {
			if !strings.Contains(strings.ReplaceAll(got[0], "=\r\n", ""), want) {
				t.Errorf("%s lacks %s", got[0], want)
			}
		}
	})
}
