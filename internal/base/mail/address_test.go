package mail_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/mail/mailtest"
)

func TestAnAddressHasOneForm(t *testing.T) {
	t.Parallel()
	for normal, written := range map[string][]string{
		"ada@example.com":         {"ada@example.com", "Ada@Example.COM", "\uff41\uff44\uff41@example.com"},
		"ada+books@example.com":   {"ADA+books@example.com"},
		"müller@example.com":      {"MÜLLER@example.com", "mu\u0308ller@example.com", "Müller@EXAMPLE.com"},
		"ada@bücher.example":      {"ada@xn--bcher-kva.example", "ada@BÜCHER.example", "ada@bu\u0308cher.example", "ada@XN--BCHER-KVA.example"},
		"李@例え.テスト":                {"李@例え.テスト", "李@xn--r8jz45g.xn--zckzah"},
		"o'brien_2.x@example.com": {"o'brien_2.x@example.com"},
		"ada@localhost":           {"ada@localhost"},
		"kelvin@acme.example":     {"\u212aelvin@acme.example", "kelvin@a\u200bcme.example"},
	} {
		for _, text := range written {
			if got, err := mail.NormalAddress(text); got != normal || err != nil {
				t.Errorf("%q is %q, want %q: %v", text, got, normal, err)
			}
		}
	}
	for _, wrong := range []string{"a\u200b@example.com", "a\u202e@example.com", "ada@-x.com", "ada@xn--zz.example", "ada@[127.0.0.1]",
		"ada@exa mple.com", "ada@", "ada", "ada@a_b.example"} {
		if got, err := mail.NormalAddress(wrong); err == nil {
			t.Errorf("%q is accepted as %q", wrong, got)
		}
	}
}

// A server that knows nothing of SMTPUTF8 accepts mail for a domain with letters beyond ASCII.
func TestADomainIsSentInTheCodeOfTheDNS(t *testing.T) {
	t.Parallel()
	s := new(mailtest.Server).Listen(t)
	m := s.As(t, "", "Bücher <books@bücher.example>")
	if err := m.Send(t.Context(), mail.Message{To: []string{"ada@例え.テスト"}, Text: "x"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	commands := strings.Join(s.Commands(), "|")
	for _, want := range []string{"EHLO xn--bcher-kva.example",
		"MAIL FROM:<books@xn--bcher-kva.example>|RCPT TO:<ada@xn--r8jz45g.xn--zckzah>"} {
		if !strings.Contains(commands, want) {
			t.Errorf("%s lacks %s", commands, want)
		}
	}
	text := s.Messages()[0]
	head, _, _ := strings.Cut(text, "\r\n\r\n")
	for _, want := range []string{"<books@xn--bcher-kva.example>", "\r\nTo: ada@xn--r8jz45g.xn--zckzah\r\n", "@xn--bcher-kva.example>"} {
		if !strings.Contains(head, want) {
			t.Errorf("%s lacks %s", head, want)
		}
	}
	for _, r := range head {
		if r > 127 {
			t.Fatalf("%q is not ASCII", head)
		}
	}
}
