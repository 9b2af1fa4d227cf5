package mail_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/http/httptest"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/mail/mailtest"
)

// certificate returns a certificate for 127.0.0.1, and who vouches for it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	h := httptest.NewTLSServer(nil)
	h.Close()
	pool := x509.NewCertPool()
	pool.AddCert(h.Certificate())
	return &tls.Config{Certificates: h.TLS.Certificates}, pool
}

func TestAMessageArrivesWhateverTheEncryption(t *testing.T) {
	t.Parallel()
	secure, roots := certificate(t)
	for user, servers := range map[string][]*mailtest.Server{
		"ada:pass@": {{TLS: secure, Implicit: true}, {TLS: secure}},
		"":          {{}},
	} {
		for _, s := range servers {
			m := s.Listen(t).As(t, user, "bursar@example.com")
			m.RootCAs = roots
			arrives(t, s, m, user != "")
		}
	}
}

func arrives(t *testing.T, s *mailtest.Server, m *mail.Server, signsIn bool) {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	message := mail.Message{To: []string{"a@example.com", "b@example.com"}, Subject: "Grüße\r\nBcc: evil@example.com",
		Text: "One line.\n.\nAnother: ü."}
	if err := m.Send(t.Context(), message, at); err != nil {
		t.Fatal(err)
	}
	commands := strings.Join(s.Commands(), "|")
	for _, want := range []string{"MAIL FROM:<bursar@example.com>", "RCPT TO:<a@example.com>", "RCPT TO:<b@example.com>"} {
		if !strings.Contains(commands, want) {
			t.Errorf("%s lacks %s", commands, want)
		}
	}
	if strings.Contains(commands, "AUTH PLAIN") != signsIn {
		t.Error(commands)
	}
	parsed, err := netmail.ReadMessage(strings.NewReader(s.Messages()[0]))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	if err != nil || strings.TrimSpace(string(body)) != "One line.\r\n.\r\nAnother: ü." || parsed.Header.Get("Bcc") != "" {
		t.Errorf("%q %v %v", body, parsed.Header, err)
	}
}

func TestASubjectReadsAsItWasWritten(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		"Acme":                            "Acme",
		"Grüße":                           "Grüße",
		"=?utf-8?q?=E2=80=AEpaypal?= Inc": "= ?utf-8?q?=E2=80=AEpaypal?= Inc", // not U+202E
		"Grüße =?utf-8?q?=E2=80=AE?=":     "Grüße = ?utf-8?q?=E2=80=AE?=",
	} {
		s := new(mailtest.Server).Listen(t)
		m := s.As(t, "", "bursar@example.com")
		if err := m.Send(t.Context(), mail.Message{To: []string{"a@example.com"}, Subject: subject, Text: "x"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		parsed, err := netmail.ReadMessage(strings.NewReader(s.Messages()[0]))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); got != want || err != nil {
			t.Errorf("%q reads %q, %v", subject, got, err)
		}
	}
}

func TestNothingIsSentToAServerThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	secure, _ := certificate(t)
	for _, s := range []*mailtest.Server{{TLS: secure, Implicit: true}, {TLS: secure}} {
		m := s.Listen(t).As(t, "ada:pass@", "bursar@example.com")
		if err := m.Send(t.Context(), mail.Message{To: []string{"a@example.com"}}, time.Time{}); err == nil {
			t.Errorf("a certificate was not checked: %v", s.Commands())
		}
		if commands := strings.Join(s.Commands(), "|"); strings.Contains(commands, "AUTH") || len(s.Messages()) > 0 {
			t.Error(commands)
		}
	}
}

func TestARefusalOfTheServerIsAnError(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"MAIL", "RCPT TO:<b@", "DATA"} {
		s := &mailtest.Server{Command: command, Answers: []string{"550 no"}}
		m := s.Listen(t).As(t, "", "bursar@example.com")
		err := m.Send(t.Context(), mail.Message{To: []string{"a@example.com", "b@example.com"}}, time.Time{})
		if err == nil || !strings.Contains(err.Error(), "550") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestAMessageThatWasAcceptedIsNotSentAgainBecauseOfTheFarewell(t *testing.T) {
	t.Parallel()
	s := &mailtest.Server{Command: "QUIT", Answers: []string{"550 no"}}
	m := s.Listen(t).As(t, "", "bursar@example.com")
	if err := m.Send(t.Context(), mail.Message{To: []string{"a@example.com"}}, time.Time{}); err != nil {
		t.Error(err)
	}
}

func TestAddressesOfServersAreChecked(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "mail.example.com", "http://mail.example.com", "smtp://", "smtp://mail.example.com/x"} {
		if _, err := mail.Parse(address, "bursar@example.com"); err == nil {
			t.Errorf("%q was accepted", address)
		}
	}
	_, err := mail.Parse("smtp://u:geheim@mail.example.com:x", "bursar@example.com")
	if err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
	if _, err := mail.Parse("smtp://mail.example.com", "nobody"); err == nil {
		t.Error("a sender without an address was accepted")
	}
}

func TestSMTPUTF8IsAskedForOnlyWhereAnAddressNeedsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		supports bool
		want     string // the command that names the sender
	}{
		{"bursar@example.com", "ada@example.com", true, "MAIL FROM:<bursar@example.com>"},
		{"bursar@example.com", "ada@example.com", false, "MAIL FROM:<bursar@example.com>"},
		{"Bücher <bursar@example.com>", "ada@example.com", true, "MAIL FROM:<bursar@example.com>"},
		{"bursar@example.com", "zoë@example.com", true, "MAIL FROM:<bursar@example.com> BODY=8BITMIME SMTPUTF8"},
		{"bücher@example.com", "ada@example.com", true, "MAIL FROM:<bücher@example.com> BODY=8BITMIME SMTPUTF8"},
		{"bursar@example.com", "zoë@example.com", false, ""},
	} {
		s := &mailtest.Server{UTF8: c.supports}
		err := s.Listen(t).As(t, "", c.from).Send(t.Context(), mail.Message{To: []string{c.to}, Text: "x"}, time.Now())
		var refusal *mail.Refusal
		if errors.As(err, &refusal) != (c.want == "") || err != nil && refusal == nil {
			t.Errorf("%+v: %v", c, err)
		}
		var got string
		for _, command := range s.Commands() {
			if strings.HasPrefix(command, "MAIL") {
				got = command
			}
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
