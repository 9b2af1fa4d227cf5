package mail_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/mail/mailtest"
)

func TestTheServiceSignsInWithAMechanismThatTheServerAnnounces(t *testing.T) {
	t.Parallel()
	secure, roots := certificate(t)
	for _, one := range []struct{ announced, uses string }{
		{"PLAIN", "AUTH PLAIN"},
		{"LOGIN", "AUTH LOGIN"},
		{"LOGIN XOAUTH2", "AUTH LOGIN"},
		{"login xoauth2", "AUTH LOGIN"},
		{"CRAM-MD5", "AUTH CRAM-MD5"},
		{"CRAM-MD5 LOGIN", "AUTH LOGIN"},
		{"GSSAPI CRAM-MD5 LOGIN PLAIN", "AUTH PLAIN"},
	} {
		for _, s := range []*mailtest.Server{{TLS: secure, Implicit: true}, {TLS: secure}, {}} {
			s.Mechanisms, s.User, s.Password = strings.Fields(one.announced), "ada", "pass"
			m := s.Listen(t).As(t, "ada:pass@", "bursar@example.com")
			m.RootCAs = roots
			if err := m.Send(t.Context(), mail.Message{To: []string{"a@example.com"}, Text: "x"}, time.Now()); err != nil {
				t.Errorf("%+v: %v", one, err)
			}
			if commands := strings.Join(s.Commands(), "|"); !strings.Contains(commands, one.uses) || len(s.Messages()) != 1 {
				t.Errorf("%+v: %s", one, commands)
			}
			wrong := s.As(t, "ada:wrong@", "bursar@example.com")
			wrong.RootCAs = roots
			err := wrong.Send(t.Context(), mail.Message{To: []string{"a@example.com"}, Text: "x"}, time.Now())
			var refusal *mail.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "535") || len(s.Messages()) != 1 {
				t.Errorf("a wrong password, %+v: %v", one, err)
			}
		}
	}
}

func TestNoPasswordIsSentToAServerThatAnnouncesNoMechanismThatWeKnow(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		announced []string
		says      string
	}{
		{[]string{"XOAUTH2", "GSSAPI"}, "it announces only XOAUTH2 and GSSAPI to sign in with"},
		{[]string{}, "it announces no way to sign in"},
	} {
		s := &mailtest.Server{Mechanisms: one.announced}
		err := s.Listen(t).As(t, "ada:pass@", "bursar@example.com").Send(t.Context(), mail.Message{To: []string{"a@example.com"}}, time.Now())
		var refusal *mail.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), one.says) {
			t.Errorf("%v: %v", one.announced, err)
		}
		if commands := strings.Join(s.Commands(), "|"); strings.Contains(commands, "AUTH") || strings.Contains(commands, "MAIL") {
			t.Errorf("%v: %s", one.announced, commands)
		}
	}
}
