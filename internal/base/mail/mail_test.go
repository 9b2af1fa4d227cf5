package mail_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/mail"
)

// server is an SMTP server that holds one conversation at a time and notes it.
type server struct {
	net.Listener
	secure   *tls.Config
	implicit bool
	startTLS bool
	smtpUTF8 bool
	refuse   string // a command that is answered with an error
	with     string // the answer then; empty means 550, "hang" none, and "close" the end of the connection

	mu       sync.Mutex
	commands []string
	message  string
}

func listen(t *testing.T, s *server) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Listener = l
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if s.implicit {
				conn = tls.Server(conn, s.secure)
			}
			s.converse(conn)
		}
	}()
	return s
}

func (s *server) converse(conn net.Conn) {
	defer func() { conn.Close() }()
	r := bufio.NewReader(conn)
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 ready")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		s.mu.Lock()
		s.commands = append(s.commands, line)
		s.mu.Unlock()
		switch verb, _, _ := strings.Cut(line, " "); {
		case s.refuse != "" && strings.HasPrefix(line, s.refuse):
			switch s.with {
			case "":
				say("550 no")
			case "hang":
				_, _ = r.ReadString('\n') // until the client gives up
				return
			case "close":
				return
			default:
				say(s.with)
			}
		case verb == "EHLO":
			say("250-hello")
			if s.startTLS {
				say("250-STARTTLS")
			}
			if s.smtpUTF8 {
				say("250-SMTPUTF8")
			}
			say("250-8BITMIME")
			say("250 AUTH PLAIN")
		case verb == "STARTTLS":
			say("220 go")
			secured := tls.Server(conn, s.secure)
			conn, r = secured, bufio.NewReader(secured)
		case verb == "AUTH":
			say("235 ok")
		case verb == "DATA":
			say("354 go")
			s.read(r)
			say("250 ok")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *server) read(r *bufio.Reader) {
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil || line == ".\r\n" {
			break
		}
		b.WriteString(line)
	}
	s.mu.Lock()
	s.message = b.String()
	s.mu.Unlock()
}

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
	for scheme, s := range map[string]*server{
		"smtps://ada:pass@": {secure: secure, implicit: true},
		"smtp://ada:pass@":  {secure: secure, startTLS: true},
		"smtp://":           {},
	} {
		listen(t, s)
		m, err := mail.Parse(scheme+s.Addr().String(), "bursar@example.com")
		if err != nil {
			t.Fatal(err)
		}
		m.RootCAs = roots
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		message := mail.Message{To: []string{"a@example.com", "b@example.com"}, Subject: "Grüße\r\nBcc: evil@example.com",
			Text: "One line.\n.\nAnother: ü."}
		if err := m.Send(t.Context(), message, at); err != nil {
			t.Errorf("%s: %v", scheme, err)
			continue
		}
		s.mu.Lock()
		commands, text := strings.Join(s.commands, "|"), s.message
		s.mu.Unlock()
		for _, want := range []string{"MAIL FROM:<bursar@example.com>", "RCPT TO:<a@example.com>", "RCPT TO:<b@example.com>"} {
			if !strings.Contains(commands, want) {
				t.Errorf("%s: %s lacks %s", scheme, commands, want)
			}
		}
		if strings.Contains(scheme, "ada") != strings.Contains(commands, "AUTH PLAIN") {
			t.Errorf("%s: %s", scheme, commands)
		}
		parsed, err := netmail.ReadMessage(strings.NewReader(strings.ReplaceAll(text, "\r\n..", "\r\n.")))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
		if err != nil || strings.TrimSpace(string(body)) != "One line.\r\n.\r\nAnother: ü." || parsed.Header.Get("Bcc") != "" {
			t.Errorf("%s: %q %v %v", scheme, body, parsed.Header, err)
		}
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
		s := &server{}
		listen(t, s)
		m, err := mail.Parse("smtp://"+s.Addr().String(), "bursar@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Send(t.Context(), mail.Message{To: []string{"a@example.com"}, Subject: subject, Text: "x"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		text := s.message
		s.mu.Unlock()
		parsed, err := netmail.ReadMessage(strings.NewReader(text))
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
	for scheme, s := range map[string]*server{"smtps://ada:pass@": {secure: secure, implicit: true}, "smtp://ada:pass@": {secure: secure,
		startTLS: true}} {
		listen(t, s)
		m, err := mail.Parse(scheme+s.Addr().String(), "bursar@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Send(t.Context(), mail.Message{To: []string{"a@example.com"}}, time.Time{}); err == nil {
			t.Errorf("%s: a certificate was not checked", scheme)
		}
		s.mu.Lock()
		if commands := strings.Join(s.commands, "|"); strings.Contains(commands, "AUTH") || s.message != "" {
			t.Errorf("%s: %s", scheme, commands)
		}
		s.mu.Unlock()
	}
}

func TestARefusalOfTheServerIsAnError(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"MAIL", "RCPT TO:<b@", "DATA"} {
		s := listen(t, &server{refuse: command})
		m, err := mail.Parse("smtp://"+s.Addr().String(), "bursar@example.com")
		if err != nil {
			t.Fatal(err)
		}
		err = m.Send(context.Background(), mail.Message{To: []string{"a@example.com", "b@example.com"}}, time.Time{})
		if err == nil || !strings.Contains(err.Error(), "550") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestAMessageThatWasAcceptedIsNotSentAgainBecauseOfTheFarewell(t *testing.T) {
	t.Parallel()
	s := listen(t, &server{refuse: "QUIT"})
	m, err := mail.Parse("smtp://"+s.Addr().String(), "bursar@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Send(context.Background(), mail.Message{To: []string{"a@example.com"}}, time.Time{}); err != nil {
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
		s := listen(t, &server{smtpUTF8: c.supports})
		m, err := mail.Parse("smtp://"+s.Addr().String(), c.from)
		if err != nil {
			t.Fatal(err)
		}
		err = m.Send(t.Context(), mail.Message{To: []string{c.to}, Text: "x"}, time.Now())
		var refusal *mail.Refusal
		if errors.As(err, &refusal) != (c.want == "") || err != nil && refusal == nil {
			t.Errorf("%+v: %v", c, err)
		}
		s.mu.Lock()
		var got string
		for _, command := range s.commands {
			if strings.HasPrefix(command, "MAIL") {
				got = command
			}
		}
		s.mu.Unlock()
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
