package mail_test

import (
	"bytes"
	"errors"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/mail/mailtest"
)

// Whether a message may be sent again depends on what was refused: the message or the account of the service, or the connection.
func TestOnlyAPermanentAnswerAboutTheMessageOrTheAccountIsFinal(t *testing.T) {
	t.Parallel()
	secure, roots := certificate(t)
	for _, one := range []struct {
		what  string
		s     *mailtest.Server
		user  string
		final bool
		says  string
	}{
		{"an unknown recipient", &mailtest.Server{Command: "RCPT", Answers: []string{"550 no such user"}}, "", true, "550"},
		{"a sender that is not allowed", &mailtest.Server{Command: "MAIL", Answers: []string{"553 not you"}}, "", true, "553"},
		{"a message that is refused", &mailtest.Server{Command: "DATA", Answers: []string{"554 spam"}}, "", true, "554"},
		{"greylisting", &mailtest.Server{Command: "RCPT", Answers: []string{"450 later"}}, "", false, "450"},
		{"a full mailbox", &mailtest.Server{Command: "DATA", Answers: []string{"452 full"}}, "", false, "452"},
		{"a server that hangs", &mailtest.Server{Command: "MAIL", Answers: []string{"hang"}}, "", false, "timeout"},
		{"a server that closes the connection", &mailtest.Server{Command: "RCPT", Answers: []string{"close"}}, "", false, "EOF"},
		{"a server that refuses STARTTLS", &mailtest.Server{TLS: secure, Command: "STARTTLS", Answers: []string{"502 no"}}, "", false, "502"},
		{"a wrong password of the service", &mailtest.Server{TLS: secure, Command: "AUTH", Answers: []string{"535 no"}}, "ada:pass@", true,
			"535"},
		{"a mechanism that is refused", &mailtest.Server{TLS: secure, Command: "AUTH", Answers: []string{"504 no"}}, "ada:pass@", true, "504"},
		{"a mechanism that is too weak", &mailtest.Server{TLS: secure, Command: "AUTH", Answers: []string{"534 no"}}, "ada:pass@", true, "534"},
		{"a sign-in that fails for now", &mailtest.Server{TLS: secure, Command: "AUTH", Answers: []string{"454 4.7.0 later"}}, "ada:pass@",
			false, "454"},
		{"a server that closes the connection on sign-in", &mailtest.Server{TLS: secure, Command: "AUTH", Answers: []string{"close"}},
			"ada:pass@", false, "EOF"},
	} {
		t.Run(one.what, func(t *testing.T) {
			t.Parallel()
			m := one.s.Listen(t).As(t, one.user, "bursar@example.com")
			m.RootCAs, m.Timeout = roots, time.Second
			err := m.Send(t.Context(), mail.Message{To: []string{"a@example.com"}, Text: "secret"}, time.Now())
			var refusal *mail.Refusal
			if err == nil || errors.As(err, &refusal) != one.final || !strings.Contains(err.Error(), one.says) {
				t.Errorf("%v, want %q, final: %v", err, one.says, one.final)
			}
			if got := one.s.Messages(); len(got) > 0 || one.s.Command == "STARTTLS" &&
				strings.Contains(strings.Join(one.s.Commands(), "|"), "MAIL") {
				t.Errorf("%q was sent after %v", got, one.s.Commands())
			}
		})
	}
}

func TestAMessageHasTheSameIDAndDateWheneverItIsSent(t *testing.T) {
	t.Parallel()
	written := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	message := mail.Message{To: []string{"a@example.com"}, Subject: strings.Repeat("Größe ", 100), Text: "One.\n", ID: "eml_1",
		WrittenAt: written}
	s := new(mailtest.Server).Listen(t)
	m := s.As(t, "", "Bücher von Acme <books@acme.example>")
	for n := range 2 {
		if err := m.Send(t.Context(), message, written.Add(time.Duration(n)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if commands := strings.Join(s.Commands(), "|"); !strings.Contains(commands, "MAIL FROM:<books@acme.example>") {
		t.Error(commands)
	}
	sent := s.Messages()
	if sent[0] != sent[1] {
		t.Errorf("%s is not %s", sent[0], sent[1])
	}
	var file bytes.Buffer
	if err := message.WriteFile(&file, m.From(), written.Add(time.Hour), "550 Größe\r\nBcc: evil@example.com"); err != nil {
		t.Fatal(err)
	}
	for _, text := range append(sent[:1], file.String()) {
		checkHeaders(t, text, written)
	}
	if parsed, err := netmail.ReadMessage(&file); err != nil || !strings.Contains(parsed.Header.Get("X-Not-Sent"), "550") ||
		parsed.Header.Get("Bcc") != "" {
		t.Errorf("%v %v", parsed, err)
	}
}

func checkHeaders(t *testing.T, text string, written time.Time) {
	t.Helper()
	for line := range strings.Lines(text) {
		if len(line) > 998 {
			t.Errorf("a line has %d characters: servers refuse it", len(line))
		}
	}
	parsed, err := netmail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	from, err := parsed.Header.AddressList("From")
	if err != nil || len(from) != 1 || from[0].Name != "Bücher von Acme" || from[0].Address != "books@acme.example" {
		t.Errorf("from %v: %v", from, err)
	}
	if raw := parsed.Header.Get("From"); strings.Contains(raw, "ü") {
		t.Errorf("%q is not encoded", raw)
	}
	if at, err := parsed.Header.Date(); err != nil || !at.Equal(written) {
		t.Errorf("at %s: %v", at, err)
	}
	if got := parsed.Header.Get("Message-ID"); got != "<eml_1@acme.example>" {
		t.Errorf("the id is %s", got)
	}
}

func TestMessagesWithoutAnIDAreToldApartByTheirContent(t *testing.T) {
	t.Parallel()
	from, err := mail.ParseSender("bursar@example.com")
	if err != nil {
		t.Fatal(err)
	}
	id := func(text string) string {
		var b bytes.Buffer
		if err := (mail.Message{To: []string{"a@example.com"}, Text: text}).WriteFile(&b, from, time.Time{}, ""); err != nil {
			t.Fatal(err)
		}
		parsed, err := netmail.ReadMessage(&b)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Header.Get("Message-ID")
	}
	first, again, other := id("one"), id("one"), id("two")
	if first != again || first == other || !strings.HasSuffix(first, "@example.com>") {
		t.Errorf("%s %s %s", first, again, other)
	}
}
