// Package mail sends text messages through an SMTP server.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/smtp"
	"net/textproto"
	"net/url"
	"strings"
	"time"
)

// Message is a text for some people.
type Message struct {
	To      []string `json:"to"` // addresses without names
	Subject string   `json:"subject"`
	Text    string   `json:"text"`

	ID        string    `json:"id,omitempty"`        // the same for each attempt to send it, so that mail programs recognize duplicates
	WrittenAt time.Time `json:"written_at,omitzero"` // zero: when it is sent
	ExpiresAt time.Time `json:"expires_at,omitzero"` // when the link in it stops working; zero: never, or there is none
}

// Server is an SMTP server that messages are sent through.
type Server struct {
	address  string // host and port
	host     string
	from     Sender
	user     *url.Userinfo
	implicit bool // TLS from the start, and not by STARTTLS

	RootCAs *x509.CertPool // nil: those of the system
	Timeout time.Duration  // of the conversation with the server; Parse sets it to that of all but tests
}

// From returns who messages are sent from.
func (s *Server) From() Sender { return s.from }

// timeout bounds the conversation with the server.
const timeout = 30 * time.Second

// Parse returns the server of an address such as smtps://user:password@mail.example.com:465, or smtp://mail.example.com:587, which must
// support STARTTLS unless it is this machine. Messages are sent from an address that ParseSender accepts. Errors do not repeat the
// password.
func Parse(address, from string) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("must be an address such as smtps://user:password@mail.example.com:465 or smtp://mail.example.com:587")
	}
	sender, err := ParseSender(from)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "smtps":
		port = "465"
	default:
		port = "587"
	}
	return &Server{address: net.JoinHostPort(u.Hostname(), port), host: u.Hostname(), from: sender, user: u.User,
		implicit: u.Scheme == "smtps", Timeout: timeout}, nil
}

// Refusal says that a server does not accept a message, or does not let us in, and will not before somebody corrects something. To send the
// message again would not help.
type Refusal struct{ reason error }

// Error returns what the server has answered, or why it was not asked.
func (r *Refusal) Error() string { return "the server refused: " + r.reason.Error() }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.reason }

// errAddresses says that a message has an address that only servers with SMTPUTF8 (RFC 6531) understand.
var errAddresses = &Refusal{errors.New("it does not support addresses with letters beyond ASCII")}

// permanentFrom is the first code of answers that stay the same if a command is repeated.
const permanentFrom = 500

// Send sends a message to each of its recipients, at a time that it states. The error is a Refusal if the server will never accept the
// message, or does not let us in. After any other, such as one of the connection or of a full mailbox, it may be sent again.
func (s *Server) Send(ctx context.Context, m Message, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	client, err := s.connect(ctx)
	if err != nil {
		return fmt.Errorf("mail: connect to %s: %w", s.address, err)
	}
	defer client.Close() // which Quit has done, unless it failed
	if err := s.authenticate(client); err != nil {
		return fmt.Errorf("mail: sign in to %s: %w", s.address, err)
	}
	if err := s.converse(client, m, at); err != nil {
		var answer *textproto.Error
		if errors.As(err, &answer) {
			_ = client.Quit()
			if answer.Code >= permanentFrom {
				err = &Refusal{answer}
			}
		}
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
	// Some servers refuse who says to be localhost.
	if err := client.Hello(s.from.domain()); err != nil {
		return nil, errors.Join(err, client.Close())
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

// converse passes the message on.
func (s *Server) converse(client *smtp.Client, m Message, at time.Time) error {
	if err := s.begin(client, m); err != nil {
		return err
	}
	for _, to := range m.To {
		if err := client.Rcpt(wire(to)); err != nil {
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

// begin names the sender. It asks for SMTPUTF8 only if an address needs it: a server that has it may have to pass the message on to one
// that does not, and would refuse.
func (s *Server) begin(client *smtp.Client, m Message) error {
	addresses := []string{s.from.address.Address}
	for _, to := range m.To {
		addresses = append(addresses, wire(to))
	}
	if !ascii(strings.Join(addresses, "")) {
		if ok, _ := client.Extension("SMTPUTF8"); !ok {
			return errAddresses
		}
		return client.Mail(s.from.address.Address)
	}
	id, err := client.Text.Cmd("MAIL FROM:<%s>", s.from.address.Address)
	if err != nil {
		return err
	}
	client.Text.StartResponse(id)
	defer client.Text.EndResponse(id)
	_, _, err = client.Text.ReadResponse(accepted)
	return err
}

// accepted is the answer to a command that took effect.
const accepted = 250
