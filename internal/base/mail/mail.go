// Package mail sends text messages through an SMTP server.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/netip"
	"net/smtp"
	"net/url"
	"strings"
	"time"
)

// timeout bounds the conversation with the server.
const timeout = 30 * time.Second

// Message is a text for some people.
type Message struct {
	To      []string `json:"to"` // addresses without names
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
}

// Server is an SMTP server that messages are sent through.
type Server struct {
	address  string // host and port
	host     string
	from     string
	user     *url.Userinfo
	implicit bool // TLS from the start, and not by STARTTLS

	RootCAs *x509.CertPool // nil: those of the system
}

// Parse returns the server of an address such as smtps://user:password@mail.example.com:465, or smtp://mail.example.com:587, which must
// support STARTTLS unless it is this machine. Messages are sent from an address, such as bursar@example.com. Errors do not repeat the
// password.
func Parse(address, from string) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("must be an address such as smtps://user:password@mail.example.com:465 or smtp://mail.example.com:587")
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("the sender must be an email address such as bursar@example.com, but is %q", from)
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "smtps":
		port = "465"
	default:
		port = "587"
	}
	return &Server{address: net.JoinHostPort(u.Hostname(), port), host: u.Hostname(), from: sender.Address, user: u.User,
		implicit: u.Scheme == "smtps"}, nil
}

// Send sends a message to each of its recipients, at a time that it states.
func (s *Server) Send(ctx context.Context, m Message, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := s.connect(ctx)
	if err != nil {
		return fmt.Errorf("mail: connect to %s: %w", s.address, err)
	}
	defer client.Close()
	if err := s.converse(client, m, at); err != nil {
		return fmt.Errorf("mail: %s: %w", s.address, err)
	}
	_ = client.Quit() // The message was accepted, whatever the answer is.
	return nil
}

// connect opens a connection that is encrypted, unless the server is this machine.
func (s *Server) connect(ctx context.Context) (*smtp.Client, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	secure := &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12, RootCAs: s.RootCAs}
	if s.implicit {
		conn = tls.Client(conn, secure)
	}
	client, err := smtp.NewClient(conn, s.host)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if s.implicit {
		return client, nil
	}
	if ok, _ := client.Extension("STARTTLS"); ok {
		err = client.StartTLS(secure)
	} else if !s.local() {
		err = errors.New("the server does not support STARTTLS")
	}
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// local reports whether the server is this machine.
func (s *Server) local() bool {
	a, err := netip.ParseAddr(s.host)
	return s.host == "localhost" || err == nil && a.IsLoopback()
}

func (s *Server) converse(client *smtp.Client, m Message, at time.Time) error {
	if s.user != nil {
		password, _ := s.user.Password()
		if err := client.Auth(smtp.PlainAuth("", s.user.Username(), password, s.host)); err != nil {
			return err
		}
	}
	if err := client.Mail(s.from); err != nil {
		return err
	}
	for _, to := range m.To {
		if err := client.Rcpt(to); err != nil {
			return err
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(m.encode(s.from, at))); err != nil {
		return err
	}
	return w.Close()
}

// encode returns the message as it is sent. Recipients do not see each other.
func (m Message) encode(from string, at time.Time) string {
	to := "undisclosed-recipients:;"
	if len(m.To) == 1 {
		to = m.To[0]
	}
	var b strings.Builder
	for _, h := range [][2]string{{"From", from}, {"To", to}, {"Subject", mime.QEncoding.Encode("utf-8", m.Subject)},
		{"Date", at.Format(time.RFC1123Z)}, {"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"}, {"Auto-Submitted", "auto-generated"}} {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], strings.NewReplacer("\r", " ", "\n", " ").Replace(h[1]))
	}
	b.WriteString("\r\n")
	q := quotedprintable.NewWriter(&b)
	_, _ = q.Write([]byte(strings.ReplaceAll(m.Text, "\n", "\r\n"))) // a builder does not fail
	_ = q.Close()
	return b.String()
}

// WriteFile writes the message as a file that people can read and mail programs can open: its lines are not broken, so that a link can be
// copied.
func (m Message) WriteFile(w io.Writer, at time.Time) error {
	_, err := fmt.Fprintf(w, "To: %s\nSubject: %s\nDate: %s\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"+
		"Content-Transfer-Encoding: 8bit\n\n%s", strings.Join(m.To, ", "), mime.QEncoding.Encode("utf-8", m.Subject), at.Format(time.RFC1123Z),
		m.Text)
	return err
}
